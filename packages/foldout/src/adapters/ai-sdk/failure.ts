import { isPlainObject } from '../../core/json/json.ts'
import { cutStream } from '../failure.ts'

/** What the AI SDK reports as an error, so that it can be read as a failed request: status, headers and names in their places. */
export function requestError(reported: unknown): unknown {
  if (!(reported instanceof Error)) return streamedError(reported)
  if (reported.name === 'AI_NoOutputGeneratedError') return cutStream(reported.message, { cause: reported })
  const { cause } = reported
  // The gateway keeps the headers, which say how long to wait, in the cause only.
  if ('statusCode' in reported && !('responseHeaders' in reported) && isPlainObject(cause)) {
    const { statusCode: status } = reported
    return Object.assign(new Error(reported.message, { cause }), { status, headers: cause['responseHeaders'] })
  }
  return reported
}

/** Providers pass errors that arrive inside of a stream on as they came: plain data. */
function streamedError(data: unknown): Error {
  const inner = isPlainObject(data) && isPlainObject(data['error']) ? data['error'] : data
  const message = isPlainObject(inner) && typeof inner['message'] === 'string' ? inner['message'] : undefined
  const text = message ?? (typeof data === 'string' ? data : JSON.stringify(data))
  return Object.assign(new Error(text), { status: undefined, error: data })
}
