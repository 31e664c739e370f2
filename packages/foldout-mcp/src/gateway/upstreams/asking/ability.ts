import { createCodedError } from 'foldout-shared/error-codes'
import { isObject, type JsonObject } from 'foldout-shared/values'
import { describeMistake, read } from '../../../shared/shapes.ts'
import { QUESTION_SHAPES } from './question-shapes.ts'

const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/**
 * Says why a client cannot be asked. A client must not be asked for what it has not declared, and some clients end the connection
 * then. Legacy servers cannot know, because they learn the gateway's capabilities.
 */
export function findFault(capabilities: JsonObject, method: string, params: JsonObject): Error | undefined {
  const { sampling, elicitation, roots } = capabilities
  if (method === 'roots/list' && !isObject(roots)) return createCodedError(METHOD_NOT_FOUND, 'The client has no roots.')
  if (method === 'sampling/createMessage') {
    if (!isObject(sampling)) return createCodedError(METHOD_NOT_FOUND, 'The client does not support sampling.')
    if (params['tools'] !== undefined && !isObject(sampling['tools']))
      return createCodedError(INVALID_PARAMS, 'The client does not support sampling with tools.')
  }
  if (method === 'elicitation/create') {
    if (!isObject(elicitation)) return createCodedError(METHOD_NOT_FOUND, 'The client does not support elicitation.')
    const mode = typeof params['mode'] === 'string' ? params['mode'] : 'form'
    // Without a mode, the capability means forms, which came first.
    const hasForm = isObject(elicitation['form']) || !isObject(elicitation['url'])
    const isAble = mode === 'form' ? hasForm : isObject(elicitation[mode])
    if (!isAble)
      return createCodedError(INVALID_PARAMS, `The client does not support elicitation in the mode '${mode}'.`)
  }
  return undefined
}

/** Says what is wrong with a question that a modern client would get as a result. Such a client takes a wrong one for a broken result. */
export function findMistake(method: string, params: JsonObject): Error | undefined {
  const shape = QUESTION_SHAPES.get(method)
  if (!shape) return createCodedError(METHOD_NOT_FOUND, `The client cannot be asked for '${method}'.`)
  const { mistake } = read(shape, params)
  if (!mistake) return undefined
  const what = describeMistake(mistake, (field) => `"${field}"`)
  return createCodedError(INVALID_PARAMS, `The parameters of '${method}' are not as MCP defines them. ${what}`)
}
