import type { McpTransport } from 'foldout/mcp'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { Secrets } from '../../policy/secrets/secrets.ts'

/** The notifications whose texts reach clients and logs. */
const TOLD: ReadonlySet<unknown> = new Set([
  'notifications/message',
  'notifications/progress',
  'notifications/tasks/status',
])

/**
 * Removes secrets from errors, failed results, logs and progress as they arrive. Later, long texts are cut, and half a secret would
 * not be recognized.
 */
export function hideInTransport(transport: McpTransport, secrets: Pick<Secrets, 'hideIn'>): McpTransport {
  return {
    get hasRequestStreams() {
      return transport.hasRequestStreams === true
    },
    start: (receiver) =>
      transport.start({
        receive(message) {
          receiver.receive(isObject(message) ? hideInMessage(message, secrets) : message)
        },
        close: () => receiver.close(),
      }),
    send: (message, options) => transport.send(message, options),
    close: () => transport.close(),
    listen: (headers) => transport.listen?.(headers),
  }
}

/** Results of calls that succeeded are passed on unchanged. */
function hideInMessage(message: JsonObject, { hideIn }: Pick<Secrets, 'hideIn'>): JsonObject {
  const { error, result, method, params } = message
  if (error !== undefined) return { ...message, error: hideIn(error) }
  if (isObject(result)) {
    if (result['isError'] === true) return { ...message, result: hideIn(result) }
    return message
  }
  if (params !== undefined && TOLD.has(method)) return { ...message, params: hideIn(params) }
  return message
}
