import { checkMs } from '../config/config.ts'
import type { GatewayServer } from './server.ts'
import { UpstreamError } from '../upstreams/failures/failures.ts'
import { WAIT_FOR_TOOLS_MS } from '../upstreams/limits.ts'

/** The servers that are started because nothing is known about them: nobody can call a tool that was never listed. */
export class FirstStarts {
  readonly #starts = new Map<GatewayServer, Promise<void>>()
  /** The servers whose tools are known, but may have changed. Clients get the known ones meanwhile. */
  readonly #outdated = new Set<Promise<unknown>>()
  /** When searches stop waiting for them. */
  #until = -Infinity
  readonly #isOver: (server: GatewayServer) => boolean

  /** `isOver` says whether the gateway no longer has a server. */
  constructor(isOver: (server: GatewayServer) => boolean) {
    this.#isOver = isOver
  }

  get isAny(): boolean {
    return this.#starts.size > 0
  }

  /** The names of the servers that are being started now. */
  list(): readonly string[] {
    return Array.from(this.#starts.keys(), ({ name }) => name)
  }

  add(server: GatewayServer, start: Promise<unknown>): void {
    if (!server.known.hasFailed) this.#until = performance.now() + WAIT_FOR_TOOLS_MS
    this.#starts.set(server, this.#follow(server, start))
  }

  addOutdated(start: Promise<unknown>): void {
    const settled = Promise.allSettled([start])
    this.#outdated.add(settled)
    void settled.then(() => this.#outdated.delete(settled))
  }

  async #follow(server: GatewayServer, start: Promise<unknown>): Promise<void> {
    await Promise.allSettled([start])
    this.#starts.delete(server)
    const { state } = server
    // A server that needs a sign-in answers quickly, and works after it.
    if (state.type === 'failed' && !state.needsSignIn) await server.known.noteFailure()
    this.#retry(server)
  }

  /**
   * Resolves when all have started or failed, or after a time. Servers that are added in the meantime do not count. With
   * a time, a client is waiting, and servers that are outdated or have failed before do not count either.
   */
  async wait(withinMs: number): Promise<void> {
    if (withinMs === Infinity) return void (await Promise.all([...this.#starts.values(), ...this.#outdated]))
    checkMs('withinMs', withinMs)
    const awaited = new Map([...this.#starts].filter(([server]) => !server.known.hasFailed))
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)))
    await Promise.race([Promise.all(awaited.values()), late])
    clearTimeout(timer)
    for (const server of awaited.keys()) if (this.#starts.has(server)) void server.known.noteFailure()
  }

  /** The same for a search. A server that hangs delays only the first ones. */
  async waitForSearch(): Promise<void> {
    const left = this.#until - performance.now()
    if (left > 0) await this.wait(left)
  }

  /** Starts a server again after a pause, until it has run once. Its state says why it failed. */
  #retry(server: GatewayServer): void {
    const { state, snapshot } = server
    if (state.type !== 'failed' || state.needsSignIn || snapshot || this.#isOver(server)) return
    const timer = setTimeout(
      () => {
        if (!this.#isOver(server)) server.start().catch(() => this.#retry(server))
      },
      Math.max(0, state.retryAt - Date.now()),
    )
    timer.unref()
  }
}

/**
 * Starts those of some servers without which nothing should start.
 *
 * @throws Error that names the first one that does not start.
 */
export async function startRequired(servers: readonly GatewayServer[]): Promise<void> {
  const required = servers.filter(({ config }) => config.isRequired)
  const starts = await Promise.allSettled(required.map((server) => server.start()))
  const failed = starts.findIndex(({ status }) => status === 'rejected')
  if (failed === -1) return
  const { reason: error } = starts[failed] as PromiseRejectedResult
  const why = (error instanceof UpstreamError ? error.reason : undefined) ?? (error as Error).message
  throw new Error(`The server '${required[failed]?.name}' is required and cannot be started. ${why}`)
}
