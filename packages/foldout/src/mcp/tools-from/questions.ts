import type { CallInput, CallPeer } from '../../catalog/tool.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { shorten } from '../../core/text.ts'

/** How many characters of a client's error are passed on. */
const MAX_SENTENCE = 300

/** The maximum number of rounds, because a server might ask forever. */
const MAX_ROUNDS = 10

/**
 * A modern server asks through its result. A modern client receives the questions unchanged and calls again; a legacy
 * one is asked here.
 */
export async function answerQuestions(
  first: unknown,
  ask: CallPeer['ask'],
  signal: AbortSignal,
  sendOnce: (input: CallInput) => Promise<unknown>,
): Promise<unknown> {
  let result = first
  if (!ask) return result
  for (let round = 0; isQuestion(result); round++) {
    if (round === MAX_ROUNDS) throw new Error(`The server asked more than ${MAX_ROUNDS} times.`)
    const { inputRequests, requestState } = result
    const answers: [string, unknown][] = []
    for (const [key, question] of Object.entries(isObject(inputRequests) ? inputRequests : {})) {
      answers.push([key, await askLegacy(ask, question, signal)])
    }
    // The server chooses the keys, and one of them may be `__proto__`.
    const responses: Readonly<Record<string, unknown>> = Object.fromEntries(answers)
    result = await sendOnce({ responses, state: typeof requestState === 'string' ? requestState : undefined })
  }
  return result
}

/** Asks a legacy client the question of a modern server. */
export async function askLegacy(
  ask: NonNullable<CallPeer['ask']>,
  question: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const { method, params } = isObject(question) ? question : {}
  try {
    return await ask(String(method), withPageId(method, isObject(params) ? params : {}), signal)
  } catch (error) {
    signal.throwIfAborted()
    // The client's error is not one of the server, so its code is not passed on.
    throw new Error(`The client did not answer '${shorten(String(method))}': ${toSentence(getErrorMessage(error))}`, {
      cause: error,
    })
  }
}

/** A legacy client requires the id of a page that its user is sent to. Modern servers do not send one. */
function withPageId(method: unknown, params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isPage = method === 'elicitation/create' && params['mode'] === 'url'
  if (!isPage || typeof params['elicitationId'] === 'string') return params
  return { ...params, elicitationId: crypto.randomUUID() }
}

/** The start of a message, without the list of details that validators add. */
function toSentence(message: string): string {
  const [line = ''] = message.split('\n', 1)
  const text = shorten(line, MAX_SENTENCE).replace(/[\s:[{]+$/, '')
  if (/[.!?…]$/.test(text)) return text
  return `${text}.`
}

type Question = Readonly<Record<string, unknown>> & { readonly resultType: 'input_required' }

export function isQuestion(result: unknown): result is Question {
  return isObject(result) && result['resultType'] === 'input_required'
}
