/**
 * The error with which a server rejected a call.
 *
 * @example
 * ```ts
 * const refusal: Refusal = { code: -32602, message: 'Unknown city.' }
 * ```
 */
export interface Refusal {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * The key of a result for the error with which a server rejected the call. Models read the content next to it; clients
 * that call the tool by its own name get the error. It is never serialized, so no server can forge it.
 */
export const REFUSAL: unique symbol = Symbol('foldout/refusal')

/**
 * Returns the error with which a server rejected a call, if a result of a tool from `toolsFromMcp` represents one. Only
 * calls that are made for a client of `serveMcp` have it.
 *
 * @example
 * ```ts
 * getRefusal({ content: [{ type: 'text', text: 'The city is unknown.' }], isError: true }) // => undefined
 * ```
 */
export function getRefusal(result: object): Refusal | undefined {
  return (result as { readonly [REFUSAL]?: Refusal })[REFUSAL]
}
