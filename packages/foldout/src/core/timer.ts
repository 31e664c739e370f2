/** The longest time that a timer takes. It fires at once for more, and for `Infinity`. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A time as a timer takes it: for one that is too long, the longest there is, which is 24 days. */
export function toTimerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS)
}

/** Waits for a time, however long. */
export async function sleep(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    await new Promise<void>((resolve) => setTimeout(resolve, toTimerMs(left)))
  }
}
