/** Results with more tokens are folded. Option `foldResults` of the configuration. */
export const FOLD_TOKENS = 8_000

/** Tokens of a result that a model reads at a time, unless it asks for fewer or more. */
export const READ_TOKENS = 4_000

/** Tokens of the beginning that stands in a folded result. */
export const FIRST_TOKENS = 500

/** Bytes of a result for a client that checks it against the tool's schema. Such a result stays whole up to here. */
export const LARGEST_WHOLE_BYTES = 9_437_184

/** How long a folded result is kept after it was last read. */
export const KEPT_MS = 1_800_000

/** Folded results of one client that are kept. One more makes room for itself. */
export const KEPT_PER_CLIENT = 100

/** Folded results of all clients that are kept. */
export const MAX_KEPT = 1_000

/** Bytes of all folded results that are kept. */
export const MAX_KEPT_BYTES = 1_073_741_824

/** Bytes of a folded result that is kept in memory. A larger one is kept in a file that only the user can read. */
export const IN_MEMORY_BYTES = 65_536

/** Bytes of a folded result that gateways share. A larger one can be read at one of them only. */
export const MAX_SHARED_BYTES = 16_777_216

/** Folded results that gateways share. */
export const MAX_SHARED = 10_000

/** A gateway looks whether there are too many after so many results that it has shared. */
export const ROOM_AFTER = 100

/** A gateway looks whether there are too many after so many bytes that it has shared. */
export const ROOM_AFTER_BYTES = 67_108_864

/** Readings of folded results that run at a time. Each has a thread. */
export const MOST_READING = 2

/** How long a search may take, before it gives back what it has found and says where to go on. */
export const SEARCH_MS = 5_000

/** How long one reading may take, before it is ended. */
export const READING_MS = 15_000

/** Memory of the thread that reads, in megabytes. */
export const READING_MEMORY_MB = 1_024

/** How long a thread waits for the next reading, before it ends. */
export const THREAD_IDLE_MS = 30_000

/** Steps that all matches of one search may take together; a step takes 10 to 50 nanoseconds. */
export const SEARCH_STEPS = 100_000_000

/** Characters of a line, or of a value, that are searched at once. Longer ones are searched in pieces that overlap. */
export const SEARCHED_CHARACTERS = 2_000

/** Matches of a path that are counted. */
export const MAX_COUNTED = 100_000

/** How deep a path goes with `..`. */
export const MAX_PATH_DEPTH = 200

/** Lines in the shape of a result. */
export const OUTLINE_LINES = 40

/** Keys of one object in the shape of a result. */
export const OUTLINE_KEYS = 20

/** How many items of a list are looked at for its shape. */
export const OUTLINE_SAMPLES = 100
