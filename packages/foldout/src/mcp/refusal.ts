/** The error that a server refused a call with. */
export interface Refusal {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * Where a result has the error that a server refused the call with. Models read the content beside it; clients that call the
 * tool by its own name get the error. It is never written, so no server can make it up.
 */
export const REFUSAL: unique symbol = Symbol('foldout/refusal')

/** The refusal that a result stands for. */
export function getRefusal(result: object): Refusal | undefined {
  return (result as { readonly [REFUSAL]?: Refusal })[REFUSAL]
}
