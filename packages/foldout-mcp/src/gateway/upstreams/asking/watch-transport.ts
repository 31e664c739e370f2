import type { Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../fields.ts'
import type { Secrets } from '../../policy/secrets/secrets.ts'
import type { Abandoned } from './abandoned.ts'

type Listener = NonNullable<Transport['onmessage']>
type Message = Parameters<Listener>[0]

/** The notifications whose texts reach clients and logs. */
const TOLD: ReadonlySet<unknown> = new Set([
  'notifications/message',
  'notifications/progress',
  'notifications/tasks/status',
])

interface Watching {
  readonly secrets: Pick<Secrets, 'hideIn'>
  /** Told which requests are cancelled, and which are answered. */
  readonly abandoned: Abandoned
}

/**
 * Removes secrets from errors, failed results, logs and progress as they arrive. Later, long texts are cut, and half a secret would
 * not be recognized. Also notices answers to cancelled requests, which clients ignore.
 */
export function watchTransport<Given extends Transport>(transport: Given, { secrets, abandoned }: Watching): Given {
  let listener: Listener | undefined
  const { send } = transport
  const watched: Pick<Transport, 'send'> = {
    send(message, options) {
      if ('method' in message && message.method === 'notifications/cancelled')
        abandoned.cancel(message.params?.['requestId'])
      return send.call(transport, message, options)
    },
  }
  Object.assign(transport, watched)
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => listener,
    set(next: Listener | undefined) {
      listener =
        next &&
        ((message, extra) => {
          if (!abandoned.isEmpty && !('method' in message)) abandoned.settle(message.id)
          next.call(transport, hideInMessage(message, secrets), extra)
        })
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
