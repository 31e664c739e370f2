/** How many characters of a thrown value's message are kept, since it may end up in a prompt, a log or an answer. */
export const MAX_ERROR_MESSAGE = 10_000

/** How long a file search runs before it yields to other work, in milliseconds. */
export const TIME_SLICE_MS = 8
