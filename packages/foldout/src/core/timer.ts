/** The longest delay that a timer supports. With a longer one, or `Infinity`, it fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Clamps a delay to the longest one that a timer supports, 24 days. */
export function toTimerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS)
}

/** Waits for any length of time. */
export async function sleep(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    await new Promise<void>((resolve) => setTimeout(resolve, toTimerMs(left)))
  }
}
