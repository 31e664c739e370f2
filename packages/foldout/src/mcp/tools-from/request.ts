import { isObject } from 'foldout-shared/values'
import { checkNumbers } from '../../core/check-number.ts'
import type { CallInput, CallPeer } from '../../catalog/tool.ts'
import { ProtocolError } from '../protocol/errors.ts'
import type { McpClient } from '../client/client.ts'
import { passMeta } from './meta.ts'
import { answerQuestions } from './questions.ts'
import { toSession } from '../client/sdk-session.ts'
import type { McpRequestOptions, McpSession } from '../client/session.ts'

/**
 * Options of {@link requestFromMcp}.
 *
 * @example
 * ```ts
 * const options: RequestFromMcpOptions = { timeoutMs: 60_000, input: { responses: {}, state: 'step-1' } }
 * ```
 */
export interface RequestFromMcpOptions extends Pick<
  McpRequestOptions,
  'signal' | 'timeoutMs' | 'maxMs' | 'onProgress'
> {
  /** Answers to the questions of an earlier result, for modern servers. */
  readonly input?: CallInput | undefined
  /** The client behind the request. A modern server receives its capabilities. */
  readonly peer?: CallPeer | undefined
}

/**
 * Sends a request to an MCP server for a client, and returns the result unchanged: the server's questions are passed on to
 * the client, and `_meta` is freed from what concerns the client's own connection.
 *
 * @example
 * ```ts
 * const { tools } = await requestFromMcp(client, 'tools/list')
 * Array.isArray(tools) // => true
 * ```
 */
export async function requestFromMcp(
  client: McpClient | McpSession,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { input, peer, ...options }: RequestFromMcpOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  checkNumbers({ timeoutMs: options.timeoutMs, maxMs: options.maxMs }, { code: 'mcp-options' })
  const session = toSession(client)
  const { _meta: meta, ...others } = params
  const passed = passMeta(session, isObject(meta) ? meta : {}, peer)
  const keepsQuestions = peer !== undefined || input !== undefined
  const sendOnce = (answers: CallInput | undefined): Promise<unknown> => {
    const isAnswer = answers !== undefined && session.era === 'modern'
    const fields = isAnswer ? { inputResponses: answers.responses, requestState: answers.state } : {}
    return session.request(method, { ...others, ...passed, ...fields }, { ...options, keepsQuestions })
  }
  const { signal = new AbortController().signal } = options
  try {
    const ask = peer ? peer.ask : session.ask
    const result = await answerQuestions(await sendOnce(input), ask, signal, sendOnce)
    if (isObject(result)) return result
    return {}
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== 'CONNECTION_CLOSED') throw error
    throw new ProtocolError('CONNECTION_CLOSED', 'The connection to the server was lost during the request.')
  }
}
