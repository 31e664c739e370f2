import type { CallResult } from './tool.ts'

/**
 * The tool that a model wanted to run, as it wrote it.
 *
 * @example
 * const missing: MissingTool = { name: 'send_mail', arguments: { to: 'ada@example.com' }, isPart: false }
 */
export interface MissingTool {
  readonly name: string
  readonly arguments: unknown
  /** Whether the result also says other things: a program may have called several tools. */
  readonly isPart: boolean
}

/** Not a field of the results, which are compared and passed on as they are. */
const found = new WeakMap<CallResult, MissingTool | undefined>()

export function markFoundNothing(result: CallResult, missing?: MissingTool): CallResult {
  found.set(result, missing)
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

/**
 * The tool that a call named and that does not exist, whichever meta tool it went through. Undefined for every other result.
 *
 * @example
 * ```ts
 * getMissingTool({ content: [{ type: 'text', text: 'Sent.' }] }) // => undefined
 * ```
 */
export function getMissingTool(result: CallResult): MissingTool | undefined {
  return found.get(result)
}
