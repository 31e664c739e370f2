/** Whether a value is a promise or another thenable. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  try {
    return typeof (value as { readonly then?: unknown }).then === 'function'
  } catch {
    // A proxy or a getter that throws cannot be awaited.
    return false
  }
}

/** Called with every rejection that is ignored, if a test has set it. The copies of a module in one process share it. */
const LISTENER = Symbol.for('foldout.ignored')

type Listener = (error: unknown, why: string) => void

/**
 * Ignores the rejection of a promise on purpose, and says why that is right. Resolves with the value, or with undefined
 * if the promise was rejected. Tests can see the ignored errors, because a mistake in the code may be among them.
 *
 * @example
 * ```ts
 * const cached = await ignore(fetch('https://example.com/rates'), 'the rates of yesterday are good enough')
 * const rates = (await cached?.text()) ?? 'yesterday'
 * ```
 */
export function ignore<Value>(promise: PromiseLike<Value>, why: string): Promise<Value | undefined> {
  return Promise.resolve(promise).catch((error: unknown) => {
    const listener = (globalThis as { readonly [LISTENER]?: Listener })[LISTENER]
    listener?.(error, why)
    return undefined
  })
}
