/** The pending timers of one program. */
export interface ProgramTimers {
  readonly size: number
  /** Starts a timer. Returns the reason if it cannot be started. */
  start(id: unknown, delay: unknown): string | undefined
  clear(id: unknown): void
  clearAll(): void
}

const MOST_TIMERS = 1_000
/** A timer may last a little longer than the program, so the time limit ends the program first. */
const MARGIN_MS = 1_000

export function createProgramTimers(timeMs: number, fire: (id: number) => void): ProgramTimers {
  const timers = new Map<number, NodeJS.Timeout>()
  return {
    get size() {
      return timers.size
    },
    start(id, delay) {
      if (typeof id !== 'number' || typeof delay !== 'number' || timers.has(id)) return 'There is no such timer.'
      if (timers.size >= MOST_TIMERS) return `At most ${MOST_TIMERS} timers can be pending.`
      // A timer with an excessive delay would fire at once.
      const milliseconds = Math.min(Math.max(0, delay), timeMs + MARGIN_MS)
      const end = (): void => {
        timers.delete(id)
        fire(id)
      }
      timers.set(id, setTimeout(end, milliseconds))
      return undefined
    },
    clear(id) {
      if (typeof id !== 'number') return
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    clearAll() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
