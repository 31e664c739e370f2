import { isPlainObject } from '../../core/json/json.ts'
import type { CallInput, CallPeer } from '../../catalog/tool.ts'
import { LIST_TIMEOUT_MS } from '../limits.ts'
import { ANY_RESULT, isModern, type McpClient, type McpRequestOptions } from './client.ts'
import { passMeta } from './meta.ts'
import { answerQuestions } from './questions.ts'
import { createFollower } from './signal.ts'
import { markWanted, WireError, type Wanted } from './wire.ts'

/**
 * Options of {@link requestFromMcp}.
 *
 * @example
 * ```ts
 * const options: RequestFromMcpOptions = { timeout: 60_000, input: { responses: {}, state: 'step-1' } }
 * ```
 */
export interface RequestFromMcpOptions extends McpRequestOptions {
  /** Answers to the questions of an earlier result, for modern servers. */
  readonly input?: CallInput | undefined
  /** The client behind the request. A modern server receives its capabilities. */
  readonly peer?: CallPeer | undefined
  readonly onProgress?: (progress: Readonly<Record<string, unknown>>) => void
}

/**
 * Sends a request to an MCP server and returns the result unchanged. Clients of the SDK, in contrast, check results
 * against the protocol's schemas, and reject or drop unknown parts.
 *
 * @example
 * ```ts
 * const { tools } = await requestFromMcp(client, 'tools/list')
 * Array.isArray(tools) // => true
 * ```
 */
export async function requestFromMcp(
  client: McpClient,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { input, peer, onProgress, ...options }: RequestFromMcpOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { _meta: meta, ...others } = params
  const passed = passMeta(client, isPlainObject(meta) ? meta : {}, peer)
  const own = createFollower(options.signal)
  const sendOnce = async (answers: CallInput | undefined): Promise<unknown> => {
    const wanted: Wanted = { onProgress }
    const fields = answers && isModern(client) ? { inputResponses: answers.responses, requestState: answers.state } : {}
    const marked = markWanted(client, { ...others, ...passed, ...fields }, wanted)
    try {
      const seen = await client.request({ method, params: marked.params }, ANY_RESULT, {
        timeout: LIST_TIMEOUT_MS,
        ...options,
        ...(peer || answers ? { allowInputRequired: true } : {}),
        ...(onProgress ? { onprogress: () => undefined, resetTimeoutOnProgress: true } : {}),
        signal: own.signal,
      })
      return wanted.result ?? seen
    } catch (error) {
      if (wanted.isCutOff)
        throw new WireError('CONNECTION_CLOSED', 'The connection to the server was lost during the request.')
      throw wanted.error ? withOwnCode(error, wanted.error) : error
    } finally {
      marked.release()
    }
  }
  try {
    const result = await answerQuestions(await sendOnce(input), peer, own.signal, sendOnce)
    return isPlainObject(result) ? result : {}
  } finally {
    own.release()
  }
}

/** The same error, with the server's own code and data. The SDK replaces those of some errors by others. */
function withOwnCode(error: unknown, { code, data }: Readonly<Record<string, unknown>>): unknown {
  if (!(error instanceof Error) || !Number.isSafeInteger(code)) return error
  return Object.assign(error, { code, ...(data === undefined ? {} : { data }) })
}
