/** How many characters of a model's `reason` are kept. */
export const MAX_REASON = 256

/** How many characters of a key or a tool's name an answer quotes. */
export const MAX_NAME_SHOWN = 200
