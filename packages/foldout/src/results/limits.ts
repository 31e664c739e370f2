/** How many tokens of a result a model reads at a time, unless it asks for fewer or more. */
export const READ_TOKENS = 4_000

/** How many tokens of its beginning a folded result shows. */
export const FIRST_TOKENS = 500

/** How long a search may take before it returns its matches so far and says where to continue. */
export const SEARCH_MS = 250

/** How long it may take in a thread of its own. */
export const OWN_THREAD_SEARCH_MS = 5_000

/** How many steps all matches of one search may take together. A step takes 10 to 50 nanoseconds. */
export const SEARCH_STEPS = 5_000_000

/** How many steps they may take in a thread of its own. */
export const OWN_THREAD_SEARCH_STEPS = 100_000_000

/** How many values a path may visit, outside a thread of its own. */
export const PATH_VISITS = 5_000_000

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

/** The largest result that stays whole, in bytes, for a client that checks it against the tool's schema. */
export const LARGEST_WHOLE_BYTES = 9_437_184
