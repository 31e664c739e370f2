import type { CallInput, CallPeer } from '../../catalog/tool.ts'
import { isPlainObject } from '../../core/json/json.ts'

/** The maximum number of rounds, because a server might ask forever. */
const MAX_ROUNDS = 10

/**
 * A modern server asks through its result. A modern client receives the questions unchanged and calls again; a legacy
 * one is asked here.
 */
export async function answerQuestions(
  first: unknown,
  peer: CallPeer | undefined,
  signal: AbortSignal,
  sendOnce: (input: CallInput) => Promise<unknown>,
): Promise<unknown> {
  const ask = peer?.ask
  let result = first
  if (!ask) return result
  for (let round = 0; isQuestion(result); round++) {
    if (round === MAX_ROUNDS) throw new Error(`The server asked more than ${MAX_ROUNDS} times.`)
    const { inputRequests, requestState } = result
    const answers: [string, unknown][] = []
    for (const [key, question] of Object.entries(isPlainObject(inputRequests) ? inputRequests : {})) {
      const { method, params } = isPlainObject(question) ? question : {}
      answers.push([key, await ask(String(method), isPlainObject(params) ? params : {}, signal)])
    }
    // The server chooses the keys, and one of them may be `__proto__`.
    const responses: Readonly<Record<string, unknown>> = Object.fromEntries(answers)
    result = await sendOnce({ responses, state: typeof requestState === 'string' ? requestState : undefined })
  }
  return result
}

type Question = Readonly<Record<string, unknown>> & { readonly resultType: 'input_required' }

export function isQuestion(result: unknown): result is Question {
  return isPlainObject(result) && result['resultType'] === 'input_required'
}
