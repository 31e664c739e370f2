import type { McpLoss } from 'foldout/mcp'
import { getErrorMessage } from '../../shared/errors.ts'
import { SignInError } from '../auth/tokens.ts'
import type { ServerConfig } from '../config/config.ts'
import { fillServer } from '../config/fill-server.ts'
import type { UpstreamState } from '../model/server-state.ts'
import { mergeHeaders } from '../policy/forwarded.ts'
import { findServerSecrets } from '../policy/secrets/find-secrets.ts'
import type { Callers } from './asking/callers.ts'
import type { OutsideQuestions } from './asking/outside.ts'
import type { Roots } from './asking/roots.ts'
import { openConnection, type Connection } from './connection.ts'
import { Backoff, createPauseError, Restorer, type Failure } from './failures/backoff.ts'
import { UpstreamError } from './failures/failures.ts'
import { MOST_TIMEOUTS } from './limits.ts'
import type { UpstreamOptions } from './upstream-options.ts'

export interface LifecycleParts {
  readonly callers: Callers
  readonly outside: OutsideQuestions
  readonly roots: Roots
  countCalls(): number
  /** Called when it runs. */
  onRunning(): void
  /** Called when it no longer runs. */
  onStopped(): void
}

/**
 * Whether a server runs. It is in one of these states:
 *
 * - stopped: until it is needed; then starting.
 * - starting: then running, or failed.
 * - running: then stopped if it is idle, or failed if it ends by itself or stops answering. If its connection is replaced, it counts as
 *   stopped, and what still runs on the old connection may be answered.
 * - failed: until the pause is over or it is retried; then as if stopped.
 *
 * A closed one never starts again.
 */
export class Lifecycle {
  readonly #server: ServerConfig
  readonly #options: UpstreamOptions
  readonly #parts: LifecycleParts
  readonly #ended = new AbortController()
  readonly #backoff = new Backoff()
  readonly #restorer: Restorer
  /** Set while the server starts or runs. */
  #connection: Promise<Connection> | undefined
  /** Set while the server runs. */
  #running: Connection | undefined
  readonly #replaced = new WeakSet<Connection>()
  #timeouts = 0

  constructor(server: ServerConfig, options: UpstreamOptions, parts: LifecycleParts) {
    this.#server = server
    this.#options = options
    this.#parts = parts
    this.#restorer = new Restorer(this.#backoff, {
      isWanted: () => options.hasSubscribers() && !this.#connection,
      open: () => this.connect(),
      signal: this.#ended.signal,
    })
  }

  get state(): UpstreamState {
    if (this.#running) return { type: 'running', calls: this.#parts.countCalls() }
    if (this.#connection) return { type: 'starting' }
    const { failure } = this.#backoff
    if (failure) return { type: 'failed', ...failure }
    return { type: 'stopped' }
  }

  /** The connection of the running server. */
  get current(): Connection | undefined {
    return this.#running
  }

  /**
   * Starts the server unless it runs.
   *
   * @throws UpstreamError if it does not start, or failed just now.
   */
  async connect(): Promise<Connection> {
    if (this.#connection) return this.#connection
    if (this.#ended.signal.aborted) throw new UpstreamError(`The server '${this.#server.name}' was removed.`)
    const { failure, isPausing } = this.#backoff
    if (failure && isPausing) throw createPauseError(this.#server.name, failure)
    const opening = this.#options.turn(() => this.#open())
    this.#connection = opening
    this.#options.onState(this.state)
    return opening
  }

  /** Starts the server now, even right after a failure. */
  async retry(): Promise<void> {
    this.#backoff.clear()
    await this.connect()
  }

  /** Stops the server until it is needed again. */
  async stop(): Promise<void> {
    this.#parts.onStopped()
    const connection = this.#connection
    this.#connection = undefined
    this.#running = undefined
    await connection?.then(
      (open) => open.close(),
      () => undefined,
    )
  }

  /** Stops the server permanently. */
  async close(): Promise<void> {
    this.#ended.abort(new UpstreamError(`The server '${this.#server.name}' was stopped.`))
    await this.stop()
  }

  /** Stops using a connection. Calls that are still running on it may be answered. */
  replace(connection: Connection): void {
    if (this.#running !== connection) return
    this.#running = undefined
    this.#connection = undefined
    this.#replaced.add(connection)
    connection.load.whenUnused(() => void connection.close())
  }

  #lose(connection: Connection, { reason, isDown }: McpLoss): void {
    if (this.#running !== connection) return
    this.replace(connection)
    // A server that has only forgotten the session works.
    if (isDown) this.#pause(reason, { firstMs: 0 })
    this.#restorer.start()
  }

  async #open(): Promise<Connection> {
    const { variables, secrets, timeoutMs, version, guard, signIns, onError, onSnapshot, getEra, onState } =
      this.#options
    try {
      const own = await fillServer(this.#server, variables).catch((error: Error) => {
        throw new UpstreamError(error.message)
      })
      const { headers = {} } = this.#options
      const filled = own.kind === 'stdio' ? own : { ...own, headers: mergeHeaders(own.headers, headers) }
      // Before the server can say any of them.
      secrets.add(findServerSecrets(filled), this.#options.secretOrigin)
      this.#parts.roots.reset()
      const connection = await openConnection(filled, {
        timeoutMs,
        callTimeoutMs: this.#server.timeoutMs,
        signal: this.#ended.signal,
        version,
        era: getEra(),
        guard,
        signIns,
        secrets,
        onError,
        onChange: ({ snapshot }) => onSnapshot(snapshot),
        onLost: (lost, loss) => this.#lose(lost, loss),
        ...this.#parts,
        onNotification: this.#options.onNotification,
        translate: this.#options.translate,
        onAsked: this.#options.onAsked,
      })
      await this.#options.prepare(connection).catch(onError)
      this.#running = connection
      this.#backoff.clear()
      void connection.closed.then(() => this.#leave(connection))
      onSnapshot(connection.snapshot)
      onState(this.state)
      this.#parts.onRunning()
      return connection
    } catch (error) {
      this.#connection = undefined
      // It was stopped on purpose, before it ran.
      if (this.#ended.signal.aborted) throw error
      const reason = getErrorMessage(error)
      const needsSignIn = error instanceof Error && error.cause instanceof SignInError
      const failure = this.#pause(reason, { needsSignIn })
      if (error instanceof UpstreamError) throw createPauseError(this.#server.name, failure)
      throw error
    }
  }

  /** Handles the end of the connection. A server that keeps ending by itself is left alone, like one that does not start. */
  #leave(connection: Connection): void {
    const isSucceeded = this.#running !== connection && this.#connection !== undefined
    if (isSucceeded || this.#replaced.has(connection)) return
    this.#running = undefined
    this.#timeouts = 0
    this.#parts.onStopped()
    const wasOurs = this.#connection !== undefined
    this.#connection = undefined
    if (wasOurs && !this.#ended.signal.aborted) {
      const complaint = connection.getComplaint()
      const ending = connection.getEnding() ?? 'It ended.'
      this.#pause(complaint === '' ? ending : `${ending}\n${complaint}`, { firstMs: 0 })
    } else this.#options.onState(this.state)
    this.#restorer.start()
  }

  #pause(reason: string, options: Parameters<Backoff['fail']>[1] = {}): Failure {
    const failure = this.#backoff.fail(this.#options.secrets.hide(reason), options)
    this.#options.onState(this.state)
    return failure
  }

  /** Notes whether a call was answered in time. A server that has stopped answering is restarted. */
  noteAnswer(isTimeout: boolean): void {
    if (!isTimeout && this.#running) this.#backoff.succeed()
    this.#timeouts = isTimeout ? this.#timeouts + 1 : 0
    if (this.#timeouts < MOST_TIMEOUTS) return
    this.#pause(`It did not answer ${MOST_TIMEOUTS} calls in a row.`)
    void this.stop()
  }
}
