import { TIME_SLICE_MS } from './limits.ts'

/**
 * Divides long work into slices: call it often, and wait for what it returns. It pauses when the slice is over, so that the
 * process goes on serving others, and throws the signal's reason when the work was cancelled meanwhile.
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
  // Returns nothing where there is nothing to wait for: `await` alone costs more than most steps of work.
  return () => (performance.now() < end ? undefined : pause())
}
