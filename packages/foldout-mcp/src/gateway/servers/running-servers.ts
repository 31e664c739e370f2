import { ignore } from 'foldout/promises'
import { isSameProcess, type GatewayConfig, type ServerConfig } from '../config/config.ts'
import { refuseNewFaults } from '../config/fill-server.ts'
import { FirstStarts, startRequired } from './first-starts.ts'
import type { GatewayServerOptions } from './server-options.ts'
import { GatewayServer } from './server.ts'

export interface RunningServersOptions extends Omit<GatewayServerOptions<GatewayServer>, 'pinMode'> {
  /** Whether to ask every server for its tools at the start, ignoring the cache. */
  readonly isFresh: boolean
}

/** What another configuration means for the servers. */
export interface ServerChange {
  /** The new settings of servers that go on with their processes. */
  readonly kept: readonly ServerConfig[]
  readonly added: readonly GatewayServer[]
}

/** The servers of a gateway, and how those of another configuration replace them. */
export class RunningServers {
  /** The starts of servers about which nothing is known. */
  readonly starts = new FirstStarts((server) => this.#isClosed || !this.includes(server))
  readonly #options: RunningServersOptions
  readonly #servers = new Map<string, GatewayServer>()
  /** Servers of a change that is not applied yet. */
  readonly #pending = new Set<GatewayServer>()
  #isClosed = false

  constructor(options: RunningServersOptions) {
    this.#options = options
  }

  get byName(): ReadonlyMap<string, GatewayServer> {
    return this.#servers
  }

  list(): readonly GatewayServer[] {
    return [...this.#servers.values()]
  }

  includes(server: GatewayServer): boolean {
    return this.#servers.get(server.name) === server
  }

  /** The entries by which a configuration would start this gateway itself. They are left out. */
  listLoops({ servers }: GatewayConfig): readonly ServerConfig[] {
    return servers.filter((server) => this.#options.loop.includes(server))
  }

  /**
   * Creates the servers that a configuration adds, and starts those without which nothing should start. If that fails, nothing has
   * changed.
   */
  async prepare(config: GatewayConfig, before: GatewayConfig | undefined): Promise<ServerChange> {
    if (before) await refuseNewFaults(before, config, this.#options.variables)
    const servers = config.servers.filter((server) => !this.#options.loop.includes(server))
    const kept = servers.filter((server) => {
      const running = this.#servers.get(server.name)
      const isSamePin = before?.pin === config.pin || server.pin !== undefined
      return running && isSamePin && isSameProcess(running.config, server)
    })
    const added = servers
      .filter((server) => !kept.includes(server))
      .map((server) => new GatewayServer(server, { ...this.#options, pinMode: config.pin }))
    for (const server of added) this.#pending.add(server)
    try {
      this.refuseClosed()
      await Promise.all(added.map((server) => server.known.restore()))
      await startRequired(added)
      this.refuseClosed()
      return { kept, added }
    } catch (error) {
      await Promise.allSettled(added.map((server) => server.close()))
      throw error
    } finally {
      for (const server of added) this.#pending.delete(server)
    }
  }

  /** Applies a change, and returns the servers that are no longer used. They still have to be closed. */
  apply({ kept, added }: ServerChange): readonly GatewayServer[] {
    const names = new Set(kept.map(({ name }) => name))
    const removed = this.list().filter(({ name }) => !names.has(name))
    for (const { name } of removed) this.#servers.delete(name)
    for (const server of kept) this.#servers.get(server.name)?.adopt(server)
    for (const server of added) this.#servers.set(server.name, server)
    return removed
  }

  /**
   * Starts a new server, if it has to run before somebody calls it.
   *
   * @param isChanged Whether it replaces one with other settings. The cache knows variables and headers by name only, but their new
   * values may change the tools.
   */
  begin(server: GatewayServer, isChanged: boolean): void {
    void server.keepSignedIn()
    const { isFresh } = this.#options
    if (server.config.isRequired || !(isFresh || isChanged || server.wantsStart)) return
    const isKnown = server.snapshot !== undefined && !isFresh
    const isShared = !isFresh && !isChanged && server.config.start === 'lazy'
    const start = isShared ? server.learn() : server.start()
    // Its state says why, if it does not start.
    if (!isKnown) this.starts.add(server, start)
    else if (server.known.isOutdated) this.starts.addOutdated(start)
    else void ignore(start, 'its state says why it does not start')
  }

  refuseClosed(): void {
    if (this.#isClosed) throw new Error('The gateway is closed.')
  }

  /** Ends all waiting for servers to start. */
  async interrupt(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(Array.from(this.#pending, (server) => server.close()))
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.list().map((server) => server.close()))
  }
}
