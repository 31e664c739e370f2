/** How many quota buckets one process keeps. The least recently used ones are forgotten. */
export const MAX_BUCKETS = 100_000

/** How long a gateway keeps quota tokens that it took ahead of time before it returns them. */
export const AHEAD_MS = 1_000
