/** Characters of a model's `reason` that are kept. */
export const MAX_REASON = 256

/** Characters of a key or a tool's name that an answer quotes. */
export const MAX_NAME_SHOWN = 200
