import type { CallResult } from './tool.ts'

/** Not a field of the results, which are compared and passed on as they are. */
const found = new WeakSet<CallResult>()

export function markFoundNothing(result: CallResult): CallResult {
  found.add(result)
  return result
}

/**
 * Whether a result says that there is no such tool: a search found none, or a call named none. An exposure that knows more, such as
 * which tools will come later, can add that. It is true for the result itself, and not for copies of it.
 *
 * @example
 * ```ts
 * hasFoundNothing({ content: [{ type: 'text', text: 'Sent.' }] }) // => false
 * ```
 */
export function hasFoundNothing(result: CallResult): boolean {
  return found.has(result)
}
