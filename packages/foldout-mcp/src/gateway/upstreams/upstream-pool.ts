import { fileURLToPath } from 'node:url'
import type { CallClient } from 'foldout/catalog'
import type { ServerConfig } from '../config/config.ts'
import { dependsOnRoot } from '../config/fill-server.ts'
import { readForwarded, type Forwarded } from '../policy/forwarded.ts'
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
  /** Whether it is the one that a client uses, or would use. */
  isFor(client: string): boolean
  /** Call it when the process has stopped. */
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
  /** Whether different clients may get different processes. */
  readonly #isDivided: boolean
  /** The clients that use each scope, if they are divided. */
  readonly #users = new Map<string, Set<string>>()
  /** The working folder that each client reports. */
  readonly #roots = new Map<string, Promise<string | undefined>>()

  constructor(config: ServerConfig, create: (wanted: WantedUpstream) => Upstream) {
    this.#config = config
    this.#isByRoot = dependsOnRoot(config)
    const isByUser = config.kind !== 'stdio' && config.forwardHeaders.length > 0
    this.#isDivided = config.isIsolated || this.#isByRoot || isByUser
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

  /** Finds the process that serves a caller, who may have to be asked for its folder. */
  async find(context: UseContext): Promise<Upstream> {
    return this.#findOwn(context, this.#isByRoot ? await this.#findRoot(context) : undefined)
  }

  #findOwn(context: UseContext, root: string | undefined): Upstream {
    const forwarded = readForwarded(this.#config, context)
    if (!forwarded && root === undefined && !this.#config.isIsolated) {
      if (this.#isDivided) this.#note(SHARED, context.client)
      return this.getShared()
    }
    const scope = this.#config.isIsolated ? toScope(context.client) : SHARED
    const key = [forwarded?.key ?? '', scope, root ?? ''].filter((part) => part !== '').join(' ')
    if (scope !== SHARED) {
      const known = this.#scopes.get(scope) ?? new Set()
      this.#scopes.set(scope, known)
      known.add(key)
    }
    this.#note(key, context.client)
    return this.#get(key, root, forwarded)
  }

  /** Remembers who uses a process. Clients without a connection have one id together. */
  #note(key: string, client: CallClient | undefined): void {
    if (!client || client.isShared) return
    const users = this.#users.get(key) ?? new Set()
    this.#users.set(key, users.add(client.id))
  }

  /** Stops the processes that a departed client had to itself. */
  async release(client: CallClient): Promise<void> {
    const scope = toScope(client)
    for (const { roots } of this.#upstreams.values()) roots.forget(client.id)
    for (const users of this.#users.values()) users.delete(client.id)
    // Others may be using the process of clients without a connection.
    if (scope === SHARED || client.isShared) return
    const keys = this.#scopes.get(scope) ?? []
    this.#scopes.delete(scope)
    this.#roots.delete(client.id)
    await Promise.all(Array.from(keys, (key) => this.#end(key)))
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
    this.#users.delete(scope)
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
    const isFor = (client: string): boolean => !this.#isDivided || this.#users.get(scope)?.has(client) === true
    const upstream = known ?? this.#create({ root, forwarded, isFor, onStopped: () => this.#drop(scope, upstream) })
    this.#upstreams.set(scope, upstream)
    return upstream
  }

  /** Forgets a client's process, so that its next call starts another. */
  #drop(scope: string, stopped: Upstream): void {
    if (scope === SHARED || this.#upstreams.get(scope) !== stopped) return
    this.#upstreams.delete(scope)
    this.#users.delete(scope)
  }
}

/** The owner of a process: a connection, or the user of clients without one. Clients that cannot be distinguished share one. */
function toScope(client: CallClient | undefined): string {
  if (client?.isShared && client.principal !== undefined) return `principal ${client.principal}`
  return client?.id ?? SHARED
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
