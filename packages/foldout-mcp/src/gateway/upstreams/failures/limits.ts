/** How many characters of a server's standard error are kept, to be shown if the server fails. */
export const KEPT_STDERR_CHARACTERS = 2_000

/** How many lines of a server's standard error are shown if the server fails. */
export const KEPT_STDERR_LINES = 20

/** How many of the first lines of standard error that name an error are shown if the server fails, and how many of the latest. */
export const KEPT_ERROR_LINES = 2

/** How many characters of a line that names an error are shown. */
export const KEPT_ERROR_CHARACTERS = 400

/** How many characters of a line of standard error are searched for errors and secrets. */
export const SCANNED_LINE_CHARACTERS = 9_000

/** The pause after a server's first failure. The pause doubles with each failure. */
export const FIRST_PAUSE_MS = 1_000

/** The longest pause after failures of a server. */
export const LONGEST_PAUSE_MS = 60_000
