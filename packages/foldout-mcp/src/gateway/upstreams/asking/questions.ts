import type { JsonObject } from 'foldout-shared/values'
import type { Asks } from '../../model/snapshot.ts'
import type { Caller, Callers } from './callers.ts'
import { findFault, findMistake } from './ability.ts'
import { CallEndedError } from './held-calls.ts'
import type { OutsideQuestions } from './outside.ts'
import type { TranslatedQuestion } from './tasks.ts'
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
  /** Called before a question that names no task. From the first one on, each client gets a process of its own. */
  readonly onAsked: (what: Asks) => void
}

/** Asks the client whose process it is, or whose task the question names: during its call, if one is running. */
export async function answerServer(
  { callers, outside, roots, translate, onAsked }: Answering,
  method: string,
  given: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (method === 'roots/list') {
    onAsked('roots')
    return roots.answer({ callers, outside }, signal)
  }
  const { params, owner } = translate(given)
  if (owner === undefined) {
    onAsked('questions')
    if (!isForOne(callers)) throw new Error(SHARED)
  }
  if (callers.list(owner).length === 0) return outside.ask({ method, params, owner }, signal)
  const caller = callers.getOnly(owner)
  const fault = findFault(caller.capabilities, method, params)
  if (fault) throw fault
  // A legacy client answers a question that is wrong. For a modern one, it would be a wrong result of its call.
  const mistake = caller.era === 'modern' ? findMistake(method, params) : undefined
  if (mistake) throw mistake
  // The user may finish with a page long after the call has ended.
  if (typeof params['elicitationId'] === 'string') callers.rememberPage(params['elicitationId'], caller.client)
  return askCaller(callers, caller, { method, params, signal })
}

/**
 * Whether a question that names no task can be meant for one client alone. When a shared process asks for the first time, that is the
 * only client with a running call, unless the process has been used for several users.
 */
function isForOne(callers: Callers): boolean {
  const { audience } = callers
  if (!audience.isShared) return true
  const clients = new Set(callers.list().map(({ client }) => client))
  return clients.size === 1 && audience.users.size < 2
}

interface CallerQuestion {
  readonly method: string
  readonly params: JsonObject
  /** The server may withdraw its question. */
  readonly signal: AbortSignal
}

/** Asks a client during one of its calls. If that call ends before, asks during another one. */
async function askCaller(callers: Callers, caller: Caller, question: CallerQuestion): Promise<JsonObject> {
  const { method, params, signal } = question
  if (!caller.ask) throw new Error(`The client cannot be asked for ${method}.`)
  try {
    return await caller.ask(method, params, signal)
  } catch (error) {
    const other = callers.list().findLast((one) => one !== caller && one.client === caller.client)
    if (!(error instanceof CallEndedError) || !other) throw error
    return askCaller(callers, other, question)
  }
}

const SHARED =
  'Several clients have used this process of the server, and its question does not say which of them is meant. From now on, each client gets a process of its own, so call the tool again. Set isolate to true to have that from the start.'
