import { ignore } from 'foldout/promises'
import { randomUUID } from 'node:crypto'
import type { CallContext, CallInput, CallResult } from 'foldout/catalog'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { Ask } from './callers.ts'
import { HELD_MS, MAX_HELD } from './limits.ts'
import type { HeldPost } from './held-post.ts'

/** A server's question that a client has not answered yet. */
interface Question {
  readonly method: string
  readonly params: JsonObject
  /** Whether it has been sent to the client. */
  isSent: boolean
  resolve(answer: JsonObject): void
  reject(error: Error): void
}

/** Thrown if a call has ended before its client was asked. The question may belong to another call. */
export class CallEndedError extends Error {
  override readonly name = 'CallEndedError'
}

/** A call that keeps running while its client answers questions in separate requests. */
interface HeldCall {
  readonly key: string
  /** New for each round, so that an answer counts once. */
  state: string
  /** How many questions there have been. */
  asked: number
  readonly questions: Map<string, Question>
  /** The context of the request that is waiting now. */
  context: CallContext
  /** Wakes the request that is waiting now. */
  wake(): void
  result: Promise<CallResult>
  isDone: boolean
  /** Whether a request is waiting for the result now. */
  isWaiting: boolean
  timer: ReturnType<typeof setTimeout> | undefined
  /** Stops looking for answers that reach other gateways. */
  stopExpecting: (() => void) | undefined
  readonly abort: AbortController
}

/**
 * Calls by modern clients to legacy servers. A legacy server asks while the call runs; a modern client gets the question as a result, and
 * answers in another request. So the call keeps running in between, and is found again by an unguessable state.
 */
export class HeldCalls {
  readonly #held = new Map<string, HeldCall>()
  readonly #post: HeldPost | undefined

  /** Passes on answers that reach another gateway, if there are others. */
  constructor(post?: HeldPost) {
    this.#post = post
  }

  /** Whether a request answers questions of a call that is, or was, held here or by another gateway. */
  has(input: CallInput | undefined): boolean {
    const { state } = input ?? {}
    return state !== undefined && (this.#held.has(state) || (this.#post !== undefined && STATE.test(state)))
  }

  /** Starts a call. The result is the server's, or the questions it asks first. */
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
      // A client that is being asked still fetches the result, and its answer may be for another of its calls.
      if (held.isWaiting) this.#release(held)
      held.wake()
    }
    held.result.then(finish, finish)
    return this.#wait(held, context)
  }

  /** Continues a call with a client's answers. */
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
      // The question came after the client was asked, and belongs to the next round.
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
      return Promise.reject(new Error('Too many calls are waiting for answers.'))
    if (held.isDone) return Promise.reject(new CallEndedError('The call has ended.'))
    return new Promise((resolve, reject) => {
      const id = `question-${++held.asked}`
      const takeBack = (): void => {
        held.questions.delete(id)
        reject(new Error('The server withdrew its question.'))
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
    // The client may turn to another gateway immediately, which must find the call.
    const expected = this.#post?.expect(held.state, (answer) => this.resume(answer.key, answer.input, {}))
    held.stopExpecting = expected && (await ignore(expected, 'this gateway can still be answered'))
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
    for (const { isSent, reject } of questions.values())
      reject(isSent ? new Error('The client did not answer in time.') : new CallEndedError('The call has ended.'))
    questions.clear()
  }
}

const STATE = /^foldout-[0-9a-f]{8}-[0-9a-f-]{27}$/

function createState(): string {
  return `foldout-${randomUUID()}`
}

/** The owner of a call. The id of clients without a connection differs between gateways. */
export function toHeldKey(client: CallContext['client'], what: string): string {
  return JSON.stringify([client?.isShared ? '' : client?.id, client?.principal, what])
}

/** The result of an answer to a question that nobody here has asked. */
export const NOT_HELD =
  'The answer came too late, or to another gateway than the one that asked. It is not known whether the tool has run; call it again only if it may run twice.'
