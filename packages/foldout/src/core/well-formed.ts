// Half of a surrogate pair, such as an emoji that was cut in two, cannot be written as UTF-8: providers reject a request
// that contains one anywhere, and with it every later request of the conversation.

/** Whether a text that JSON.stringify wrote contains an escaped half of a surrogate pair. */
const HALF = /\\ud[89a-f]/i

/** Returns a JSON value in which each half of a surrogate pair is replaced by U+FFFD. Usually, that is the value itself. */
export function toWellFormed<Value>(value: Value): Value {
  if (typeof value === 'string') return value.toWellFormed() as Value
  const text: string | undefined = JSON.stringify(value)
  if (text !== undefined && HALF.test(text)) return replaceHalves(value) as Value
  return value
}

function replaceHalves(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(replaceHalves)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), replaceHalves(inner)]))
}
