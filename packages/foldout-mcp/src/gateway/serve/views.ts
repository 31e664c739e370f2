import type { ServedMcp } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import type { GatewayServer } from '../servers/server.ts'
import type { ConnectedClient } from '../upstreams/asking/outside.ts'
import { createExposure } from './expose.ts'
import type { View, ViewSettings } from './view.ts'

/** The views of a gateway, by preset. The empty name means all servers. Each is created when it is first needed. */
export class Views {
  readonly #create: (preset: string) => Promise<View>
  readonly #views = new Map<string, Promise<View>>()
  /** Those that exist already. */
  readonly #ready = new Map<string, View>()

  constructor(create: (preset: string) => Promise<View>) {
    this.#create = create
  }

  get(preset: string): Promise<View> {
    const known = this.#views.get(preset)
    if (known) return known
    const view = this.#create(preset)
    this.#views.set(preset, view)
    void this.#remember(preset, view)
    return view
  }

  async #remember(preset: string, view: Promise<View>): Promise<void> {
    try {
      const made = await view
      if (this.#views.get(preset) === view) this.#ready.set(preset, made)
    } catch {
      this.#views.delete(preset)
    }
  }

  /** Finds the server of a preset: immediately, if it exists. */
  find(preset: string): ServedMcp | Promise<ServedMcp> {
    return this.#ready.get(preset)?.served ?? this.get(preset).then(({ served }) => served)
  }

  show(server: GatewayServer): void {
    this.#forEach((view) => view.show(server))
  }

  hide(server: string): void {
    this.#forEach((view) => view.hide(server))
  }

  hear(...notification: Parameters<View['hear']>): void {
    this.#forEach((view) => view.hear(...notification))
  }

  listClients(server: GatewayServer): readonly ConnectedClient[] {
    return [...this.#ready.values()].flatMap((view) => view.listClients(server))
  }

  /** Rejects if the views cannot have new settings. */
  async check(getSettings: (preset: string) => ViewSettings | undefined): Promise<void> {
    const settings = [...this.#views.keys()].map(getSettings)
    await Promise.all(settings.map(async (one) => one && createExposure(one.expose)))
  }

  /** Applies new settings to the views. Closes those for which there are none anymore. */
  async update(getSettings: (preset: string) => ViewSettings | undefined): Promise<void> {
    for (const [preset, view] of this.#views) {
      const settings = getSettings(preset)
      if (settings)
        await ignore(
          view.then((made) => made.update(settings)),
          'who asked for the view knows the reason',
        )
      else await this.#close(preset, view)
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#views, ([preset, view]) => this.#close(preset, view)))
  }

  async #close(preset: string, view: Promise<View>): Promise<void> {
    this.#views.delete(preset)
    this.#ready.delete(preset)
    await ignore(
      view.then(({ served }) => served.close()),
      'a view that failed has nothing to close',
    )
  }

  #forEach(work: (view: View) => void): void {
    for (const view of this.#views.values()) void ignore(view.then(work), 'who asked for the view knows the reason')
  }
}
