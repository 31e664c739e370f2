/** Results with more tokens are folded. Option `foldResults` of `foldout.config`. */
export const FOLD_TOKENS = 8_000

/** How many tokens of a result a model reads at a time, unless it asks for fewer or more. */
export const READ_TOKENS = 4_000

/** How many tokens of its beginning a folded result shows. */
export const FIRST_TOKENS = 500

/** The largest result that stays whole, in bytes, for a client that checks it against the tool's schema. */
export const LARGEST_WHOLE_BYTES = 9_437_184

/** How long a folded result is kept after it was last read. */
export const KEPT_MS = 1_800_000

/** How many folded results of one client are kept. One more removes the oldest. */
export const KEPT_PER_CLIENT = 100

/** How many folded results of all clients are kept. */
export const MAX_KEPT = 1_000

/** How many bytes all folded results may have together. */
export const MAX_KEPT_BYTES = 1_073_741_824

/**
 * The largest folded result that is kept in memory, in bytes. A larger one is kept in a file that only the user can read.
 */
export const IN_MEMORY_BYTES = 65_536

/** How long after its start a gateway removes the files that killed gateways have left. */
export const SWEEP_AFTER_MS = 5_000

/** The largest folded result that gateways share, in bytes. Only the gateway that has a larger one can read it. */
export const MAX_SHARED_BYTES = 16_777_216

/** How many folded results gateways share. */
export const MAX_SHARED = 10_000

/** After how many shared results a gateway checks whether there are too many. */
export const ROOM_AFTER = 100

/** After how many shared bytes a gateway checks whether there are too many. */
export const ROOM_AFTER_BYTES = 67_108_864

/** How many folded results are read at a time. Each read has its own thread. */
export const MOST_READING = 2

/** How long a search may take before it returns its matches so far and says where to continue. */
export const SEARCH_MS = 5_000

/** How long one read may take before it is ended. */
export const READING_MS = 15_000

/** How much memory the reading thread may use, in megabytes. */
export const READING_MEMORY_MB = 1_024

/** How long a thread waits for the next read before it ends. */
export const THREAD_IDLE_MS = 30_000

/** How many steps all matches of one search may take together. A step takes 10 to 50 nanoseconds. */
export const SEARCH_STEPS = 100_000_000

/** How many characters of a line or a value are searched at once. Longer ones are searched in overlapping pieces. */
export const SEARCHED_CHARACTERS = 2_000

/** How many matches of a path are counted. */
export const MAX_COUNTED = 100_000

/** How many levels `..` in a path descends. */
export const MAX_PATH_DEPTH = 200

/** How many lines the shape of a result has. */
export const OUTLINE_LINES = 40

/** How many keys of one object the shape of a result shows. */
export const OUTLINE_KEYS = 20

/** How many items of a list are examined for its shape. */
export const OUTLINE_SAMPLES = 100
