import { randomUUID } from 'node:crypto'
import type { CallContext, CallInput, CallResult } from 'foldout/catalog'
import { isObject, type JsonObject } from '../fields.ts'
import { HELD_MS, MAX_HELD } from './limits.ts'

/** Asks the client behind a call. */
export type Ask = (method: string, params: JsonObject, signal?: AbortSignal) => Promise<JsonObject>

/** From the least to the most severe. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** Whether a log is at least as severe as a client wants. */
export function isSevere(level: unknown, wanted: string): boolean {
  return LOG_LEVELS.indexOf(String(level)) >= LOG_LEVELS.indexOf(wanted)
}

/** A client that has calls running on a connection. */
export interface Caller {
  /** The same for all calls of one client. */
  readonly client: string
  /** There if the client can be asked. */
  readonly ask: Ask | undefined
  /** The least severe logs that the client wants. */
  readonly logLevel: string | undefined
  /** Tells the client something that belongs to its call. */
  notify(method: string, params: JsonObject): void
}

/**
 * The callers of one connection. What a legacy server asks does not say for which call, so it is asked of the one client that
 * has calls running; if there are several, nobody is asked, because the wrong one must not be.
 */
export class Callers {
  readonly #running = new Set<Caller>()
  readonly #pages = new Map<string, string>()

  add(caller: Caller): () => void {
    this.#running.add(caller)
    return () => this.#running.delete(caller)
  }

  /** @throws Error that says why nobody can be asked. */
  getOnly(): Caller {
    const clients = new Map([...this.#running].map((caller) => [caller.client, caller]))
    const [only, second] = clients.values()
    if (!only) throw new Error('No client has a call running here that could be asked.')
    if (second)
      throw new Error('Several clients have calls running here. Set isolate to true to give each its own process.')
    return only
  }

  /** Passes a log on to the clients that have calls running and want it. */
  log(params: JsonObject): void {
    const clients = new Map([...this.#running].map((caller) => [caller.client, caller]))
    for (const { logLevel, notify } of clients.values())
      if (logLevel !== undefined && isSevere(params['level'], logLevel)) notify('notifications/message', params)
  }

  /** Remembers which client was sent to a page. */
  rememberPage(id: string, client: string): void {
    const [oldest] = this.#pages.keys()
    if (this.#pages.size >= MAX_HELD && oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(id, client)
  }

  /** The client that was sent to a page. */
  findPage(id: unknown): string | undefined {
    return this.#pages.get(String(id))
  }

  get isEmpty(): boolean {
    return this.#running.size === 0
  }
}

/** A question of a server that a client has not answered yet. */
interface Question {
  readonly method: string
  readonly params: JsonObject
  /** Whether the client has got it. */
  isSent: boolean
  resolve(answer: JsonObject): void
  reject(error: Error): void
}

/** A call that goes on while its client is asked in one request after another. */
interface HeldCall {
  readonly key: string
  /** A new one for each round, so that an answer counts once. */
  state: string
  /** How many questions there have been. */
  asked: number
  readonly questions: Map<string, Question>
  /** The context of the request that waits now. */
  context: CallContext
  /** Wakes the request that waits now. */
  wake(): void
  result: Promise<CallResult>
  isDone: boolean
  timer: ReturnType<typeof setTimeout> | undefined
  readonly abort: AbortController
}

/**
 * Calls of modern clients on legacy servers. Such a server asks while the call runs; such a client is asked by a result, and
 * answers with another request. So the call goes on between the two, and is found again by an unguessable state.
 */
export class HeldCalls {
  readonly #held = new Map<string, HeldCall>()

  /** Whether a request answers questions of a call that is held. */
  has(input: CallInput | undefined): boolean {
    return input?.state !== undefined && this.#held.has(input.state)
  }

  /** Starts a call. Its result is the server's, or the questions that it asks first. */
  async start(
    key: string,
    context: CallContext,
    run: (context: CallContext, ask: Ask) => Promise<CallResult>,
  ): Promise<CallResult> {
    const abort = new AbortController()
    const held: HeldCall = {
      key,
      state: createState(),
      asked: 0,
      questions: new Map(),
      context,
      wake: () => undefined,
      result: Promise.resolve({ content: [] }),
      isDone: false,
      timer: undefined,
      abort,
    }
    const inner: CallContext = {
      ...context,
      signal: abort.signal,
      onProgress: (progress) => held.context.onProgress?.(progress),
    }
    held.result = run(inner, (method, params) => this.#ask(held, method, params))
    const finish = (): void => {
      held.isDone = true
      this.#release(held)
      held.wake()
    }
    held.result.then(finish, finish)
    return this.#wait(held, context)
  }

  /** Goes on with a call whose questions a client answers. */
  async resume(key: string, input: CallInput, context: CallContext): Promise<CallResult> {
    const held = input.state === undefined ? undefined : this.#held.get(input.state)
    // Only the client that was asked, for the tool that asked.
    if (!held || held.key !== key) throw new Error('This call no longer waits for an answer.')
    clearTimeout(held.timer)
    this.#held.delete(held.state)
    held.state = createState()
    this.#held.set(held.state, held)
    held.context = context
    for (const [id, question] of Array.from(held.questions)) {
      // It came after the client was asked, and goes with the next round.
      if (!question.isSent) continue
      const answer = Object.hasOwn(input.responses, id) ? input.responses[id] : undefined
      held.questions.delete(id)
      if (isObject(answer)) question.resolve(answer)
      else question.reject(new Error('The client did not answer.'))
    }
    return this.#wait(held, context)
  }

  #ask(held: HeldCall, method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#held.size >= MAX_HELD && !this.#held.has(held.state))
      return Promise.reject(new Error('Too many calls wait for answers.'))
    return new Promise((resolve, reject) => {
      held.questions.set(`question-${++held.asked}`, { method, params, isSent: false, resolve, reject })
      this.#held.set(held.state, held)
      held.wake()
    })
  }

  /** Waits for the result, or for questions. */
  async #wait(held: HeldCall, { signal }: CallContext): Promise<CallResult> {
    const stop = (): void => held.abort.abort(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      while (!held.isDone && held.questions.size === 0) await new Promise<void>((resolve) => (held.wake = resolve))
    } finally {
      signal?.removeEventListener('abort', stop)
    }
    if (held.isDone) return held.result
    held.timer = setTimeout(() => held.abort.abort(new Error('The client did not answer in time.')), HELD_MS)
    held.timer.unref()
    for (const question of held.questions.values()) question.isSent = true
    const requests = [...held.questions].map(([id, { method, params }]) => [id, { method, params }])
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(requests) as JsonObject,
      requestState: held.state,
      content: [],
    }
  }

  #release(held: HeldCall): void {
    clearTimeout(held.timer)
    this.#held.delete(held.state)
    for (const { reject } of held.questions.values()) reject(new Error('The call has ended.'))
  }
}

function createState(): string {
  return `foldout-${randomUUID()}`
}
