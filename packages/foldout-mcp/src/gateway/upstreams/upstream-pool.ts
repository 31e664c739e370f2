import { fileURLToPath } from 'node:url'
import type { CallClient } from 'foldout/catalog'
import type { ServerConfig } from '../config/config.ts'
import { dependsOnRoot } from '../config/fill-server.ts'
import { readForwarded, type Forwarded } from '../policy/forwarded.ts'
import { UpstreamError } from './connection.ts'
import type { Upstream } from './upstream.ts'
import type { UseContext } from './uses.ts'

/** The scope of a process or connection that all clients share. */
const SHARED = ''

/** A process or connection that is needed. */
export interface WantedUpstream {
  /** The folder that its clients work in, if it depends on that. */
  readonly root: string | undefined
  /** What is passed on of its clients' headers. */
  readonly forwarded: Forwarded | undefined
  /** To be called when it has stopped. */
  onStopped(): void
}

/** The processes or connections of one server: one that all clients share, or one for each client, folder or user. */
export class UpstreamPool {
  readonly #config: ServerConfig
  readonly #isByRoot: boolean
  readonly #create: (wanted: WantedUpstream) => Upstream
  /** By scope. The least recently used one comes first. */
  readonly #upstreams = new Map<string, Upstream>()
  /** The scopes of the processes that each client has to itself. */
  readonly #scopes = new Map<string, Set<string>>()
  /** The folder that each client works in, as it says. */
  readonly #roots = new Map<string, Promise<string | undefined>>()

  constructor(config: ServerConfig, create: (wanted: WantedUpstream) => Upstream) {
    this.#config = config
    this.#isByRoot = dependsOnRoot(config)
    this.#create = create
  }

  /** The one that was used last. */
  get last(): Upstream | undefined {
    return [...this.#upstreams.values()].at(-1)
  }

  listRunning(): readonly Upstream[] {
    return [...this.#upstreams.values()].filter(({ state }) => state.type === 'running')
  }

  /** The one that all clients share. */
  getShared(): Upstream {
    return this.#get(SHARED, undefined)
  }

  /** Finds the one that serves a caller; at once, unless the caller has to be asked for its folder. */
  find(context: UseContext): Upstream | Promise<Upstream> {
    return this.#isByRoot ? this.#findByRoot(context) : this.#findOwn(context, undefined)
  }

  async #findByRoot(context: UseContext): Promise<Upstream> {
    return this.#findOwn(context, await this.#findRoot(context))
  }

  #findOwn(context: UseContext, root: string | undefined): Upstream {
    const forwarded = readForwarded(this.#config, context)
    if (!forwarded && root === undefined && !this.#config.isIsolated) return this.getShared()
    const scope = this.#config.isIsolated ? toScope(context.client) : SHARED
    const key = [forwarded?.key ?? '', scope, root ?? ''].filter((part) => part !== '').join(' ')
    if (scope !== SHARED) {
      const known = this.#scopes.get(scope) ?? new Set()
      this.#scopes.set(scope, known)
      known.add(key)
    }
    return this.#get(key, root, forwarded)
  }

  /** Ends those that a client had to itself, when it has gone. */
  async release(client: CallClient): Promise<void> {
    const scope = toScope(client)
    // A principal, and clients without a connection, may come again.
    if (scope === SHARED || client.isShared || client.principal !== undefined) return
    const keys = this.#scopes.get(scope) ?? []
    this.#scopes.delete(scope)
    this.#roots.delete(client.id)
    await Promise.all(Array.from(keys, (key) => this.#end(key)))
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#upstreams.values(), (upstream) => upstream.close()))
  }

  async #end(scope: string): Promise<void> {
    const upstream = this.#upstreams.get(scope)
    this.#upstreams.delete(scope)
    await upstream?.close()
  }

  /** Ends the least recently used process that is idle, if there are as many as there may be. */
  #makeRoom(): void {
    const own = [...this.#upstreams].filter(([scope]) => scope !== SHARED)
    const { name, maxProcesses } = this.#config
    if (own.length < maxProcesses) return
    const [idle] = own.find(([, { isIdle }]) => isIdle) ?? []
    if (idle === undefined)
      throw new UpstreamError(
        `the server '${name}' runs ${maxProcesses} processes for single clients, which are all busy. Try again later, or raise maxProcesses.`,
      )
    void this.#end(idle)
  }

  /** The first folder that the client works in, if it says so. */
  #findRoot({ client, peer }: UseContext): Promise<string | undefined> {
    if (!client || !peer?.ask || !('roots' in peer.capabilities)) return Promise.resolve(undefined)
    const known = this.#roots.get(client.id)
    if (known) return known
    const root = peer.ask('roots/list', {}).then(readRoot, () => undefined)
    this.#roots.set(client.id, root)
    return root
  }

  #get(scope: string, root: string | undefined, forwarded?: Forwarded): Upstream {
    const known = this.#upstreams.get(scope)
    if (known && this.#upstreams.size === 1) return known
    // Put back at the end, as the most recently used one.
    this.#upstreams.delete(scope)
    if (!known && scope !== SHARED) this.#makeRoom()
    const upstream = known ?? this.#create({ root, forwarded, onStopped: () => this.#drop(scope, upstream) })
    this.#upstreams.set(scope, upstream)
    return upstream
  }

  /** The next call of a client that had a process to itself, if there is one, starts another. */
  #drop(scope: string, stopped: Upstream): void {
    if (scope !== SHARED && this.#upstreams.get(scope) === stopped) this.#upstreams.delete(scope)
  }
}

/** Who has a process: a principal, or a connection. Clients that cannot be told apart share one. */
function toScope(client: CallClient | undefined): string {
  if (client?.principal !== undefined) return `principal ${client.principal}`
  return client?.id ?? SHARED
}

/** The folder of the first root that is one. */
function readRoot({ roots }: Readonly<Record<string, unknown>>): string | undefined {
  for (const root of Array.isArray(roots) ? (roots as readonly unknown[]) : []) {
    const uri = typeof root === 'object' && root !== null && 'uri' in root ? root.uri : undefined
    if (typeof uri === 'string' && uri.startsWith('file:///') && URL.canParse(uri)) return fileURLToPath(uri)
  }
  return undefined
}
