/** How many servers are started at the same time. Starting a process mostly takes processor time. */
export const MOST_STARTING = 8

/** How long a server may take to start and to list its tools. Option `--timeout` of `foldout`. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** How long a call may go without an answer or progress. Option `timeoutSeconds` of `mcpServers`. */
export const DEFAULT_CALL_TIMEOUT_MS = 600_000

/** How long a server may go without a call before it is stopped. Option `idleSeconds` of `mcpServers`. */
export const IDLE_MS = 600_000

/** How many calls a server runs at a time. Option `maxConcurrent` of `mcpServers`. */
export const MAX_CONCURRENT = 16

/** How many calls may wait for a server that is busy. Further ones are refused. */
export const MAX_WAITING = 256

/** How many characters of a server's standard error are kept, to be shown if the server fails. */
export const KEPT_STDERR_CHARACTERS = 2_000

/** How long a server may take to end before its processes are killed. */
export const CLOSE_TIMEOUT_MS = 5_000

/** How long a server that failed is left alone at first. The time doubles with each failure. */
export const FIRST_PAUSE_MS = 1_000

/** How long a server that failed is left alone at most. */
export const LONGEST_PAUSE_MS = 60_000

/** How many calls in a row may time out before the server is restarted. */
export const MOST_TIMEOUTS = 3

/** A longer message from a server over stdio is refused. */
export const MAX_MESSAGE_BYTES = 268_435_456

/** A cached list of tools that is older is compared with the server's own soon after the start. */
export const CACHE_FRESH_MS = 86_400_000

/** How many resources, templates and prompts are taken from a server, of each kind. */
export const MAX_LISTED = 10_000

/** Pages of one of these lists. */
export const MAX_PAGES = 1_000

/** How many calls may wait at a time for the answers of clients that ask in several requests. */
export const MAX_HELD = 1_000

/** How long such a call waits for the next answer before it is canceled. */
export const HELD_MS = 600_000

/** A larger file of the cache is ignored. */
export const MAX_CACHE_BYTES = 134_217_728
