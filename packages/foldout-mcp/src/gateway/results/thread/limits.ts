/** How many folded results are read at a time. Each read has its own thread. */
export const MOST_READING = 2

/** How much memory the reading thread may use, in megabytes. */
export const READING_MEMORY_MB = 1_024

/** How long one read may take before it is ended. */
export const READING_MS = 15_000

/** How long a thread waits for the next read before it ends. */
export const THREAD_IDLE_MS = 30_000
