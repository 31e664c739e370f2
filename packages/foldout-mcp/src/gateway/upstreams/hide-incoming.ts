import type { Transport } from '@modelcontextprotocol/client'
import { isObject } from '../fields.ts'
import type { Secrets } from '../policy/secrets.ts'

type Listener = NonNullable<Transport['onmessage']>
type Message = Parameters<Listener>[0]

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
export function hideIncoming<Given extends Transport>(transport: Given, secrets: Pick<Secrets, 'hideIn'>): Given {
  let listener: Listener | undefined
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => listener,
    set(next: Listener | undefined) {
      listener = next && ((message, extra) => next.call(transport, hideInMessage(message, secrets), extra))
    },
  })
}

/** Results of calls that succeeded are passed on unchanged. */
function hideInMessage(message: Message, { hideIn }: Pick<Secrets, 'hideIn'>): Message {
  if ('error' in message) return { ...message, error: hideIn(message.error) }
  if ('result' in message)
    return isObject(message.result) && message.result['isError'] === true
      ? { ...message, result: hideIn(message.result) }
      : message
  return 'params' in message && TOLD.has(message.method) ? { ...message, params: hideIn(message.params) } : message
}
