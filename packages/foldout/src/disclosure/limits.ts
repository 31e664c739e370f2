/** The maximum number of characters kept from a model's `reason`. */
export const MAX_REASON = 256

/** The maximum number of characters of a key or a tool's name that an answer quotes. */
export const MAX_NAME_SHOWN = 200
