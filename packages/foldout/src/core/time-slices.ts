import { TIME_SLICE_MS } from './limits.ts'

/**
 * Divides long work into time slices. Call the returned function often and await it: when the slice is over, it pauses
 * to let the process do other work, and it throws the signal's reason if the work was cancelled.
 *
 * @example
 * const pause = createTimeSlices(signal)
 * for (const file of files) {
 *   search(file)
 *   await pause()
 * }
 */
export function createTimeSlices(signal: AbortSignal): () => Promise<void> | undefined {
  let end = performance.now() + TIME_SLICE_MS
  const pause = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 0))
    signal.throwIfAborted()
    end = performance.now() + TIME_SLICE_MS
  }
  // Returns `undefined` if the slice is not over: awaiting a promise costs more than most steps of work.
  return () => (performance.now() < end ? undefined : pause())
}
