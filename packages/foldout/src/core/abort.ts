/**
 * Runs work and resolves with its result, or rejects with the signal's reason as soon as the signal aborts: work that
 * ignores its signal must not block the caller. The listener is removed when the work settles, so one long-lived signal
 * can serve any number of calls.
 *
 * @example
 * ```ts
 * const signal = AbortSignal.timeout(5_000)
 * const answer = await untilAborted(signal, async () => 'Paris')
 * ```
 */
export function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (!signal) return work()
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = (): void => reject(signal.reason as Error)
    const stopListening = (): void => signal.removeEventListener('abort', onAbort)
    signal.addEventListener('abort', onAbort, { once: true })
    let pending: Promise<T>
    try {
      pending = work()
    } catch (error) {
      // If the work throws synchronously, the listener must not stay on the signal.
      stopListening()
      throw error
    }
    pending.then(
      (value) => {
        stopListening()
        return resolve(value)
      },
      (error: Error) => {
        stopListening()
        return reject(error)
      },
    )
  })
}
