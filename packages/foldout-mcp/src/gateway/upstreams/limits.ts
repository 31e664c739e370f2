/** How many servers are started at the same time. Starting a process is mostly work for the processor. */
export const MOST_STARTING = 8

/** How long a server may take to start and to list its tools. Option `--timeout` of `foldout`. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** How much of what a server writes to its standard error is kept, to be shown when it fails. */
export const KEPT_STDERR_CHARACTERS = 2_000

/** How long a server may take to end when it is asked to, before its processes are killed. */
export const CLOSE_TIMEOUT_MS = 5_000
