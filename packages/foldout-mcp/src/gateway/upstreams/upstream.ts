import { untilAborted } from 'foldout/promises'
import type { CallClient, CallContext, CallResult } from 'foldout/catalog'
import { getRefusal } from 'foldout/mcp'
import type { ServerConfig } from '../config/config.ts'
import type { JsonObject } from 'foldout-shared/values'
import type { Connection } from './connection.ts'
import { Lifecycle } from './lifecycle.ts'
import { UpstreamError } from './failures/failures.ts'
import { MAX_WAITING } from './limits.ts'
import { hasNotRun } from './http/transport.ts'
import type { Ask } from './asking/callers.ts'
import { HeldCalls, NOT_HELD, toHeldKey } from './asking/held-calls.ts'
import { OutsideQuestions } from './asking/outside.ts'
import { askOutside, Roots } from './asking/roots.ts'
import type { ToolCall } from './upstream-options.ts'
import type { UpstreamState } from '../model/server-state.ts'
import type { UpstreamOptions } from './upstream-options.ts'
import { IdleTimer, Uses, type UseContext } from './uses.ts'
import { createErrorResult } from '../../shared/errors.ts'

/**
 * One server, or one of several processes of it: started when it is needed, stopped when it is idle, left alone for a while after
 * a failure. It never runs more than its share of calls, so that it slows down only its own callers.
 */
export class Upstream {
  /** What the server knows of its clients' folders. */
  readonly roots = new Roots()
  readonly #server: ServerConfig
  readonly #options: UpstreamOptions
  readonly #uses: Uses
  readonly #idle: IdleTimer
  readonly #held: HeldCalls
  readonly #outside: OutsideQuestions
  readonly #lifecycle: Lifecycle

  constructor(server: ServerConfig, options: UpstreamOptions) {
    this.#server = server
    this.#options = options
    this.#uses = new Uses(server.maxConcurrent, () => this.#watchIdle())
    this.#idle = new IdleTimer(server.idleMs, {
      isIdle: () => this.#lifecycle.current !== undefined && this.isIdle && !options.isWatched(),
      onIdle: () => void this.#lifecycle.stop(),
    })
    this.#held = new HeldCalls(options.post)
    this.#outside = new OutsideQuestions({
      callers: this.#uses.callers,
      listClients: options.listClients,
      onEnd: () => this.#watchIdle(),
    })
    this.#lifecycle = new Lifecycle(server, options, {
      callers: this.#uses.callers,
      outside: this.#outside,
      roots: this.roots,
      countCalls: () => this.#uses.runCount,
      onRunning: () => this.#watchIdle(),
      onStopped: () => this.#idle.clear(),
    })
  }

  get state(): UpstreamState {
    return this.#lifecycle.state
  }

  /** Whether it is unused. */
  get isIdle(): boolean {
    return this.#uses.isIdle && !this.#outside.isWaiting
  }

  /**
   * Runs a tool.
   *
   * @throws UpstreamError if the server cannot be started or is overloaded.
   */
  call(call: ToolCall, context: CallContext): Promise<CallResult> {
    const { peer } = context
    const getEra = this.#options.getEra
    if (peer?.input !== undefined && this.#held.has(peer.input))
      return this.#held.resume(toHeldKey(context.client, call.tool), peer.input, context)
    // It may have run already, at a gateway that has ended or one behind the same address.
    if (peer?.input?.state !== undefined && getEra() === 'legacy') return Promise.resolve(createErrorResult(NOT_HELD))
    if (peer?.era === 'modern' && getEra() !== 'modern')
      return this.#held.start(toHeldKey(context.client, call.tool), context, (inner, ask) =>
        this.#run(call, inner, ask),
      )
    return this.#run(call, context, peer?.ask)
  }

  /**
   * Sends a request that is not a call. If a legacy server asks a modern client in the meantime, the result is its questions.
   *
   * @throws UpstreamError if the server cannot be started or is overloaded.
   */
  async request(
    method: string,
    context: CallContext,
    send: (connection: Connection, context: CallContext) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { peer, client } = context
    const use = (inner: CallContext, ask: Ask | undefined): Promise<Readonly<Record<string, unknown>>> =>
      this.use(
        async (connection) => {
          if (this.roots.isNews(inner)) await this.roots.offer(connection, inner)
          return send(connection, inner).catch((error: unknown) => {
            this.#uses.callers.rememberPages(error, client)
            throw error
          })
        },
        { ...inner, ask },
      )
    const run = async (inner: CallContext, ask: Ask | undefined): Promise<CallResult> => ({
      content: [],
      sent: await use(inner, ask),
    })
    const key = toHeldKey(client, method)
    const isHeld = peer?.input !== undefined && this.#held.has(peer.input)
    if (!isHeld && (peer?.era !== 'modern' || this.#options.getEra() === 'modern')) return use(context, peer?.ask)
    const result = await (isHeld && peer?.input
      ? this.#held.resume(key, peer.input, context)
      : this.#held.start(key, context, run))
    const { content: _, sent, ...question } = result
    return (sent as Readonly<Record<string, unknown>> | undefined) ?? question
  }

  #run(call: ToolCall, context: CallContext, ask: Ask | undefined): Promise<CallResult> {
    const { signal, client, peer } = context
    const running = this.#lifecycle.current
    const isHttp = this.#server.kind !== 'stdio'
    // A server over HTTP may have forgotten the connection.
    if (!running || isHttp || !this.#uses.isFreeFor(client))
      return this.use((connection) => this.#callTool(connection, call, context), { ...context, ask })
    // From here on, everything that waits notices an abort by itself.
    signal?.throwIfAborted()
    return this.#callTool(running, call, context, this.#uses.beginNow({ client, peer, ask }))
  }

  /** Runs work on a connection. If it cannot have reached the server, it runs once more on a new connection. */
  async #runOn<Result>(connection: Connection, work: (connection: Connection) => Promise<Result>): Promise<Result> {
    connection.load.begin()
    try {
      const result = await work(connection)
      if (!hasNotRun(result)) return result
    } catch (error) {
      if (!hasNotRun(error)) throw error
    } finally {
      connection.load.end()
    }
    this.#lifecycle.replace(connection)
    return work(await this.connect())
  }

  /** @param end Called when the call has ended. */
  async #callTool(
    connection: Connection,
    { tool, args, check }: ToolCall,
    context: CallContext,
    end?: () => void,
  ): Promise<CallResult> {
    try {
      const { name, timeoutMs } = this.#server
      // Before a client uses the server, the server has to know the folders that this client allows.
      if (this.roots.isNews(context)) await this.roots.offer(connection, context)
      // Nothing is awaited between the check and the call.
      const running = connection.tools.get(tool)
      const call = running?.call
      if (!call) return createErrorResult(`The server '${name}' no longer has the tool '${tool}'.`)
      const why = check(running)
      if (why !== undefined) return createErrorResult(`Tool '${tool}' was not run: ${why}`)
      const start = performance.now()
      const result = await call(args, context)
      if (result.isError === true) this.#uses.callers.rememberPages(getRefusal(result), context.client)
      const isTimeout = result.isError === true && performance.now() - start >= timeoutMs
      this.#lifecycle.noteAnswer(isTimeout)
      return result
    } finally {
      end?.()
    }
  }

  /** Whether no other client has used it. */
  isFree(client: CallClient): boolean {
    return this.#uses.callers.audience.isFree(client)
  }

  /** Forgets a client that has left. */
  forget(client: CallClient): void {
    this.roots.forget(client.id)
    this.#uses.callers.audience.leave(client)
  }

  /**
   * Passes a log on: to the clients with running calls, and otherwise to all, as `tell` does. What it logs for one user is not for
   * others, so if it has been used for several, nobody gets its logs.
   */
  passLog(params: JsonObject, told: string | undefined, tell: (client?: string) => void): void {
    const { callers } = this.#uses
    const { users } = callers.audience
    if (users.size > 1) return
    if (!callers.isEmpty) callers.log(params, told)
    else if (users.size === 0) tell()
    else for (const { id } of callers.audience.list()) tell(id)
  }

  /** Tells the server about a client's changed folders: now if it uses them, and otherwise before the client's next call. */
  changeRoots(id: string): void {
    const isUsed = this.roots.change(id)
    const connected = isUsed ? this.#options.listClients().find(({ client }) => client.id === id) : undefined
    const running = this.#lifecycle.current
    if (!connected?.channel.isOpen || !running) return
    void this.roots.offer(running, { client: { id }, peer: { ask: askOutside(this.#outside, connected) } })
  }

  /** The client that the server has sent to a page. */
  findPage(id: unknown): string | undefined {
    return this.#uses.callers.findPage(id)
  }

  /**
   * Runs work on the server, and starts the server if necessary.
   *
   * @throws UpstreamError if it cannot be started or is overloaded.
   */
  async use<Result>(work: (connection: Connection) => Promise<Result>, context: UseContext = {}): Promise<Result> {
    const { signal } = context
    signal?.throwIfAborted()
    if (this.#uses.waitCount >= MAX_WAITING)
      throw new UpstreamError(`The server '${this.#server.name}' is busy: ${MAX_WAITING} calls wait for it.`)
    const run = async (): Promise<Result> => {
      signal?.throwIfAborted()
      const connection = await this.connect()
      signal?.throwIfAborted()
      return this.#runOn(connection, work)
    }
    const turn = this.#uses.run(run, context)
    return untilAborted(signal, () => turn)
  }

  /**
   * Starts the server unless it runs.
   *
   * @throws UpstreamError if it does not start, or failed just now.
   */
  connect(): Promise<Connection> {
    return this.#lifecycle.connect()
  }

  /** Starts the server now, even right after a failure. */
  retry(): Promise<void> {
    return this.#lifecycle.retry()
  }

  /** Stops the server permanently. */
  close(): Promise<void> {
    return this.#lifecycle.close()
  }

  #watchIdle(): void {
    if (this.#lifecycle.current && this.isIdle) this.#idle.touch()
  }
}
