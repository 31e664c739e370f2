/** How many servers are started at the same time. Starting a process mostly takes processor time. */
export const MOST_STARTING = 8

/** How long a server may take to start and to list its tools. Option `--timeout` of `foldout`. */
export const DEFAULT_TIMEOUT_MS = 30_000

/**
 * How long after the start of servers whose tools are not known searches wait for them, because they may have the right
 * tool. Later, the answers name them.
 */
export const WAIT_FOR_TOOLS_MS = 7_000

/** How long a call waits for a server whose turns are all taken by calls of other users. */
export const BUSY_MS = 30_000

/** How many calls may wait for a busy server. Further calls are refused. */
export const MAX_WAITING = 8_000

/** How many calls in a row may time out before the server is restarted. */
export const MOST_TIMEOUTS = 3

/** A cached list of tools that is older than this is compared with the server's own list soon after the start. */
export const CACHE_FRESH_MS = 86_400_000

/** How many resources, templates and prompts are read from a server, for each kind. */
export const MAX_LISTED = 10_000

/** How many bytes of JSON all of these may have together. A list that would need more ends where it is. */
export const MAX_LISTED_BYTES = 33_554_432

/** How often clients are told at most that a server announced another list, if the list is the same as before. */
export const ANNOUNCE_MS = 1_000

/** How many pages of each of these lists are read. */
export const MAX_PAGES = 1_000

/** A larger cache file is ignored. */
export const MAX_CACHE_BYTES = 134_217_728

/** A larger note that a server did not start is ignored. */
export const MAX_MARK_BYTES = 1_024
