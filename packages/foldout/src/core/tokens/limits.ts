/** The maximum number of texts that a cached counter remembers. */
export const MAX_CACHED_TEXTS = 20_000

/** The maximum total length of these texts, in characters. */
export const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024

/** The maximum length of a text that is estimated as a whole, in characters. */
export const MAX_ESTIMATED_CHARACTERS = 200_000
