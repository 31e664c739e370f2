/** Characters of a `reason` that are kept; the rest is cut. */
export const MAX_REASON = 256

/** Characters of a key or a tool's name that an answer repeats. */
export const MAX_NAME_SHOWN = 200
