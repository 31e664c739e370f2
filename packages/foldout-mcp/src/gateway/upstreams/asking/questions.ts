import type { JsonObject } from '../../fields.ts'
import type { Callers } from '../callers.ts'
import type { TranslatedQuestion } from '../tasks.ts'
import { findFault } from './ability.ts'
import type { OutsideQuestions } from './outside.ts'
import type { Roots } from './roots.ts'

/** Those who can answer a server's questions. */
export interface Answering {
  /** The clients with running calls. */
  readonly callers: Callers
  /** The others. */
  readonly outside: OutsideQuestions
  /** What the server knows of its clients' folders. */
  readonly roots: Roots
  /** Rewrites the server's question for the client. */
  readonly translate: (params: JsonObject) => TranslatedQuestion
}

/** Asks the client whose call is running. If none is, asks the only client that is connected. */
export async function answerServer(
  { callers, outside, roots, translate }: Answering,
  method: string,
  given: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (method === 'roots/list') return roots.answer({ callers, outside }, signal)
  const { params, owner } = translate(given)
  if (callers.isWithout(owner)) return outside.ask({ method, params, owner }, signal)
  const { ask, client, capabilities } = callers.getOnly(owner)
  if (!ask) throw new Error(`The client cannot be asked for ${method}.`)
  const fault = findFault(capabilities, method, params)
  if (fault) throw fault
  // The user may finish with a page long after the call has ended.
  if (typeof params['elicitationId'] === 'string') callers.rememberPage(params['elicitationId'], client)
  // The server may withdraw its question.
  return ask(method, params, signal)
}
