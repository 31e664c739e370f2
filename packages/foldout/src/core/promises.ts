/** Whether a value is a promise or another thenable. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

/** Handles the rejection of a promise that nothing awaits, so that it does not end the process. */
export function swallow(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => undefined)
}
