/** Whether a value is a promise, or anything else that can be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

/** Lets a promise that nobody waits for fail without ending the process. */
export function swallow(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => undefined)
}
