/** How many servers are started at the same time. Starting a process mostly takes processor time. */
export const MOST_STARTING = 8

/** How long a server may take to start and to list its tools. Option `--timeout` of `foldout`. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** How many characters of a server's standard error are kept, to be shown if the server fails. */
export const KEPT_STDERR_CHARACTERS = 2_000

/** How long a server may take to end before its processes are killed. */
export const CLOSE_TIMEOUT_MS = 5_000
