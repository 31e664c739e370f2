/** The most texts whose token counts a cached counter remembers. */
export const MAX_CACHED_TEXTS = 20_000

/** The most characters that these texts have together. */
export const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024
