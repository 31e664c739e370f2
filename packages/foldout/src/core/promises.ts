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

/** Handles the rejection of a promise that nothing awaits, so it does not crash the process. */
export function swallow(promise: PromiseLike<unknown>): void {
  const ignore = (): void => undefined
  try {
    // Pass both handlers: a thenable that is not a promise may call either without checking.
    promise.then(ignore, ignore)
  } catch {
    // Nothing awaits it.
  }
}
