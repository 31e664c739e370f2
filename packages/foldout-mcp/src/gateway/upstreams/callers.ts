import { randomUUID } from 'node:crypto'
import type { CallContext, CallInput, CallResult } from 'foldout/catalog'
import { isObject, type JsonObject } from '../fields.ts'
import type { HeldPost } from './held-post.ts'
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
  /** Whether a request waits for the result now. */
  isWaiting: boolean
  timer: ReturnType<typeof setTimeout> | undefined
  /** Stops looking for answers that reach other gateways. */
  stopExpecting: (() => void) | undefined
  readonly abort: AbortController
}

/**
 * Calls of modern clients on legacy servers. Such a server asks while the call runs; such a client is asked by a result, and
 * answers with another request. So the call goes on between the two, and is found again by an unguessable state.
 */
export class HeldCalls {
  readonly #held = new Map<string, HeldCall>()
  readonly #post: HeldPost | undefined

  /** Where answers are left that reach another gateway, if there may be others. */
  constructor(post?: HeldPost) {
    this.#post = post
  }

  /** Whether a request answers questions of a call that is, or was, held here or by another gateway. */
  has(input: CallInput | undefined): boolean {
    const { state } = input ?? {}
    return state !== undefined && (this.#held.has(state) || (this.#post !== undefined && STATE.test(state)))
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
      isWaiting: true,
      timer: undefined,
      stopExpecting: undefined,
      abort,
    }
    const inner: CallContext = {
      ...context,
      signal: abort.signal,
      onProgress: (progress) => held.context.onProgress?.(progress),
    }
    held.result = run(inner, (method, params, asking) => this.#ask(held, method, params, asking))
    const finish = (): void => {
      held.isDone = true
      // A client that is being asked comes for the result with its answer, which nobody needs any more.
      if (held.isWaiting) this.#release(held)
      this.#dropQuestions(held)
      held.wake()
    }
    held.result.then(finish, finish)
    return this.#wait(held, context)
  }

  /** Goes on with a call whose questions a client answers. */
  async resume(key: string, input: CallInput, context: CallContext): Promise<CallResult> {
    const held = input.state === undefined ? undefined : this.#held.get(input.state)
    const elsewhere = held ? undefined : await this.#post?.deliver(input.state ?? '', { key, input }, context.signal)
    if (elsewhere) return elsewhere
    // Only the client that was asked, for the tool that asked.
    if (!held || held.key !== key) throw new Error('This call no longer waits for an answer. Call it again.')
    clearTimeout(held.timer)
    held.stopExpecting?.()
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

  #ask(held: HeldCall, method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    if (this.#held.size >= MAX_HELD && !this.#held.has(held.state))
      return Promise.reject(new Error('Too many calls wait for answers.'))
    return new Promise((resolve, reject) => {
      const id = `question-${++held.asked}`
      const takeBack = (): void => {
        held.questions.delete(id)
        reject(new Error('The server no longer asks.'))
      }
      signal?.addEventListener('abort', takeBack, { once: true })
      held.questions.set(id, { method, params, isSent: false, resolve, reject })
      this.#held.set(held.state, held)
      held.wake()
    })
  }

  /** Waits for the result, or for questions. */
  async #wait(held: HeldCall, { signal }: CallContext): Promise<CallResult> {
    const stop = (): void => held.abort.abort(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    held.isWaiting = true
    try {
      while (!held.isDone && held.questions.size === 0) await new Promise<void>((resolve) => (held.wake = resolve))
    } finally {
      signal?.removeEventListener('abort', stop)
    }
    held.isWaiting = false
    if (held.isDone) {
      this.#release(held)
      return held.result
    }
    held.timer = setTimeout(() => {
      this.#release(held)
      held.abort.abort(new Error('The client did not answer in time.'))
    }, HELD_MS)
    held.timer.unref()
    for (const question of held.questions.values()) question.isSent = true
    // The client may come to another gateway at once, which has to find it.
    held.stopExpecting = await this.#post
      ?.expect(held.state, (answer) => this.resume(answer.key, answer.input, {}))
      .catch(() => undefined)
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
    held.stopExpecting?.()
    this.#held.delete(held.state)
    this.#dropQuestions(held)
  }

  #dropQuestions({ questions }: HeldCall): void {
    for (const { reject } of questions.values()) reject(new Error('The call has ended.'))
    questions.clear()
  }
}

const STATE = /^foldout-[0-9a-f]{8}-[0-9a-f-]{27}$/

function createState(): string {
  return `foldout-${randomUUID()}`
}
