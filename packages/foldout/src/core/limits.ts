/** How many characters of what was thrown a message repeats: it may end up in a prompt, a log or an answer. The rest is cut. */
export const MAX_ERROR_MESSAGE = 10_000

/** How long searches of files run before they let others run, in milliseconds. */
export const TIME_SLICE_MS = 8
