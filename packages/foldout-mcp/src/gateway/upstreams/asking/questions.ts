import { isObject, type JsonObject } from '../../fields.ts'
import type { Caller, Callers } from '../callers.ts'
import type { Roots } from './roots.ts'

const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/** Asks the client whose call is running. */
export async function answerServer(
  { callers, roots }: { readonly callers: Callers; readonly roots: Roots },
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (method === 'roots/list') return roots.answer(callers, signal)
  const { ask, client, capabilities } = callers.getOnly()
  if (!ask) throw new Error(`The client cannot be asked for ${method}.`)
  checkAbility(capabilities, method, params)
  // The user may finish with a page long after the call has ended.
  if (typeof params['elicitationId'] === 'string') callers.rememberPage(params['elicitationId'], client)
  // The server may withdraw its question.
  return ask(method, params, signal)
}

/**
 * A client must not be asked for what it has not declared, and some clients end the connection then. Legacy servers cannot know, because
 * they learn the gateway's capabilities.
 *
 * @throws Error that the server gets.
 */
function checkAbility(capabilities: Caller['capabilities'], method: string, params: JsonObject): void {
  const { sampling, elicitation } = capabilities
  if (method === 'sampling/createMessage') {
    if (!isObject(sampling)) throw createError(METHOD_NOT_FOUND, 'The client does not support sampling.')
    if (params['tools'] !== undefined && !isObject(sampling['tools']))
      throw createError(INVALID_PARAMS, 'The client does not support sampling with tools.')
  }
  if (method === 'elicitation/create') {
    if (!isObject(elicitation)) throw createError(METHOD_NOT_FOUND, 'The client does not support elicitation.')
    const mode = typeof params['mode'] === 'string' ? params['mode'] : 'form'
    // Without a mode, the capability means forms, which came first.
    const hasForm = isObject(elicitation['form']) || !isObject(elicitation['url'])
    const isAble = mode === 'form' ? hasForm : isObject(elicitation[mode])
    if (!isAble) throw createError(INVALID_PARAMS, `The client does not support elicitation in the mode '${mode}'.`)
  }
}

function createError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code })
}
