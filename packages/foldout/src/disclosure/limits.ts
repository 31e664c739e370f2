/** How many characters of a model's `reason` are kept. */
export const MAX_REASON = 256

/** How many characters of a key or a tool's name an answer quotes. */
export const MAX_NAME_SHOWN = 200

/** How long a run waits for the rule that opens sections ahead, in milliseconds. */
export const MAX_AHEAD_MS = 10_000

/** How many sections a prompt has, from which on they are found by a query, and listed under a budget. */
export const MIN_SEARCHED_SECTIONS = 30

/** How many characters of a query an answer quotes. */
export const MAX_QUERY_SHOWN = 100
