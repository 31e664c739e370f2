/** The key of a result for a call that did not reach its server. It is never serialized, so no server can forge it. */
export const UNSENT: unique symbol = Symbol('foldout/unsent')

/**
 * Whether a call of a tool from `toolsFromMcp` failed because there was no connection to its server. The tool has not
 * run, so it can be called again on another connection.
 *
 * @example
 * ```ts
 * isUnsent({ content: [{ type: 'text', text: 'The city is unknown.' }], isError: true }) // => false
 * ```
 */
export function isUnsent(result: object): boolean {
  return (result as { readonly [UNSENT]?: true })[UNSENT] === true
}
