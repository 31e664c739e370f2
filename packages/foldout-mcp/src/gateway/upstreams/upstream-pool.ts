import { fileURLToPath } from 'node:url'
import type { CallClient } from 'foldout/catalog'
import type { ServerConfig } from '../config/config.ts'
import { dependsOnRoot } from '../config/fill-server.ts'
import { readForwarded, type Forwarded } from '../policy/forwarded.ts'
import type { Asks } from '../model/snapshot.ts'
import { toScope } from './asking/audience.ts'
import { UpstreamError } from './failures/failures.ts'
import type { Upstream } from './upstream.ts'
import type { UseContext } from './uses.ts'

/** The scope of a process or connection that all clients share. */
const SHARED = ''

/** Describes the process or connection that is needed. */
export interface WantedUpstream {
  /** The working folder of its clients, if the server depends on it. */
  readonly root: string | undefined
  /** The client headers to pass on. */
  readonly forwarded: Forwarded | undefined
  /** Call it when the process has stopped. */
  onStopped(): void
}

/**
 * The processes or connections of one server: one that all clients share, or one for each client, folder or user. From a legacy
 * server's first question on, each client gets one, because the question does not say which client it is for.
 */
export class UpstreamPool {
  readonly #config: ServerConfig
  readonly #isByRoot: boolean
  readonly #create: (wanted: WantedUpstream) => Upstream
  /** By scope. The least recently used one comes first. */
  readonly #upstreams = new Map<string, Upstream>()
  /** The scopes of the processes that each client has to itself. */
  readonly #scopes = new Map<string, Set<string>>()
  /** The working folder that each client reports. */
  readonly #roots = new Map<string, Promise<string | undefined>>()
  #asks: Asks | undefined

  constructor(config: ServerConfig, create: (wanted: WantedUpstream) => Upstream) {
    this.#config = config
    this.#isByRoot = dependsOnRoot(config)
    this.#create = create
  }

  /** What the server is known to ask its clients for. */
  get asks(): Asks | undefined {
    return this.#asks
  }

  /** Divides the clients from now on. Returns whether that is new. */
  divide(asks: Asks | undefined): boolean {
    if (asks === undefined || this.#asks === asks || this.#asks === 'questions') return false
    this.#asks = asks
    return true
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

  /** Finds the process that serves a caller, who may have to be asked for its folder. */
  async find(context: UseContext): Promise<Upstream> {
    return this.#findOwn(context, this.#isByRoot ? await this.#findRoot(context) : undefined)
  }

  #findOwn(context: UseContext, root: string | undefined): Upstream {
    const forwarded = readForwarded(this.#config, context)
    const shared = [forwarded?.key ?? SHARED, root ?? ''].filter((part) => part !== '').join(' ')
    const { client } = context
    const scope = toScope(client)
    if (!client || scope === SHARED || !this.#needsOwn(context)) return this.#get(shared, root, forwarded)
    const key = `${shared} ${scope}`
    this.#scopes.set(scope, (this.#scopes.get(scope) ?? new Set()).add(key))
    this.#adopt(shared, key, client)
    return this.#get(key, root, forwarded)
  }

  #needsOwn({ peer }: UseContext): boolean {
    if (this.#config.isIsolated || this.#asks === 'questions') return true
    return this.#asks === 'roots' && 'roots' in (peer?.capabilities ?? {})
  }

  /** Gives a client the shared process, which may know the client by now, unless others have used it. */
  #adopt(shared: string, key: string, client: CallClient): void {
    const upstream = this.#upstreams.get(shared)
    if (!upstream?.isFree(client) || this.#upstreams.has(key)) return
    this.#upstreams.delete(shared)
    this.#upstreams.set(key, upstream)
  }

  /** Stops the processes that a departed client had to itself. */
  async release(client: CallClient): Promise<void> {
    const scope = toScope(client)
    for (const upstream of this.#upstreams.values()) upstream.forget(client)
    // Others may be using the process of clients without a connection.
    if (scope === SHARED || client.isShared) return
    const keys = this.#scopes.get(scope) ?? []
    this.#scopes.delete(scope)
    this.#roots.delete(client.id)
    await Promise.all(Array.from(keys, (key) => this.#end(key)))
  }

  /** Starts what has failed again, or the shared process. */
  async retry(): Promise<void> {
    const failed = [...this.#upstreams.values()].filter(({ state }) => state.type === 'failed')
    await Promise.all((failed.length > 0 ? failed : [this.getShared()]).map((upstream) => upstream.retry()))
  }

  /** Asks a client for its folders again at its next call. */
  changeRoots(client: string): void {
    this.#roots.delete(client)
    for (const upstream of this.#upstreams.values()) upstream.changeRoots(client)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#upstreams.values(), (upstream) => upstream.close()))
  }

  async #end(scope: string): Promise<void> {
    const upstream = this.#upstreams.get(scope)
    this.#upstreams.delete(scope)
    await upstream?.close()
  }

  /** Stops the least recently used idle process if the maximum is reached. */
  #makeRoom(): void {
    const own = [...this.#upstreams].filter(([scope]) => scope !== SHARED)
    const { name, maxProcesses } = this.#config
    if (own.length < maxProcesses) return
    const [idle] = own.find(([, { isIdle }]) => isIdle) ?? []
    if (idle === undefined)
      throw new UpstreamError(
        `the server '${name}' already runs ${maxProcesses} processes for single clients, all busy. Try again later, or raise maxProcesses.`,
      )
    void this.#end(idle)
  }

  /** The client's first working folder, if it reports any. */
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
    const upstream = known ?? this.#create({ root, forwarded, onStopped: () => this.#drop(upstream) })
    this.#upstreams.set(scope, upstream)
    return upstream
  }

  /** Forgets a client's process, so that its next call starts another. */
  #drop(stopped: Upstream): void {
    for (const [scope, upstream] of this.#upstreams)
      if (scope !== SHARED && upstream === stopped) this.#upstreams.delete(scope)
  }
}

/** The folder of the first root that is a file URL. */
function readRoot({ roots }: Readonly<Record<string, unknown>>): string | undefined {
  for (const root of Array.isArray(roots) ? (roots as readonly unknown[]) : []) {
    const uri = typeof root === 'object' && root !== null && 'uri' in root ? root.uri : undefined
    const folder = typeof uri === 'string' && uri.startsWith('file:') ? toFolder(uri) : undefined
    if (folder !== undefined) return folder
  }
  return undefined
}

/** The folder of a URL; undefined if this system has no such folders: another host's, or a drive's on a system without drives. */
function toFolder(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}
