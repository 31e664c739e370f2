/** How many servers are started at the same time. Starting a process mostly takes processor time. */
export const MOST_STARTING = 8

/** How long a server may take to start and to list its tools. Option `--timeout` of `foldout`. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** How long a search waits for servers that start for the first time, because they may have the tool. */
export const WAIT_FOR_TOOLS_MS = 20_000

/** How long it may take to install the package of a server that is run by `npx` or `uvx`, before it is started. */
export const INSTALL_MS = 600_000

/** How long a call may go without an answer or progress. Option `timeoutSeconds` of `mcpServers`. */
export const DEFAULT_CALL_TIMEOUT_MS = 600_000

/** How long a server may go without a call before it is stopped. Option `idleSeconds` of `mcpServers`. */
export const IDLE_MS = 600_000

/** How many calls a server runs at a time. Option `maxConcurrent` of `mcpServers`. */
export const MAX_CONCURRENT = 16

/** How many calls may wait for a busy server. Any more are refused. */
export const MAX_WAITING = 8_000

/** How many characters of a server's standard error are kept, to be shown if the server fails. */
export const KEPT_STDERR_CHARACTERS = 2_000

/** How many lines of them are shown. */
export const KEPT_STDERR_LINES = 20

/** How long a server may take to end before its processes are killed. */
export const CLOSE_TIMEOUT_MS = 5_000

/** How long a server may take to end after its input has ended. Then it gets SIGTERM. */
export const CLOSE_INPUT_MS = 1_000

/** How long a failed server is left alone at first. The time doubles with each failure. */
export const FIRST_PAUSE_MS = 1_000

/** How long a failed server is left alone at most. */
export const LONGEST_PAUSE_MS = 60_000

/** How many calls in a row may time out before the server is restarted. */
export const MOST_TIMEOUTS = 3

/** A message from a stdio server longer than this is refused. */
export const MAX_MESSAGE_BYTES = 268_435_456

/** The period over which output that is not a message is measured. */
export const GARBAGE_MS = 10_000

/** A server that prints more bytes than this in that period, besides its messages, is stopped. */
export const MAX_GARBAGE_BYTES = 67_108_864

/** The same limit, in lines. */
export const MAX_GARBAGE_LINES = 100_000

/** A cached list of tools older than this is compared with the server's own soon after the start. */
export const CACHE_FRESH_MS = 86_400_000

/** How many resources, templates and prompts are taken from a server, of each kind. */
export const MAX_LISTED = 10_000

/** Pages of one of these lists. */
export const MAX_PAGES = 1_000

/** How many calls may wait at a time for clients that answer in separate requests. */
export const MAX_HELD = 1_000

/** How often, at first, a gateway that holds such a call checks whether another gateway got the answer. */
export const HELD_POLL_MS = 100

/** How often it checks after a while. */
export const LONGEST_HELD_POLL_MS = 1_000

/** How long a gateway that got an answer waits for the one that holds the call to take it. After that, the holder counts as gone. */
export const TAKEN_MS = 10_000

/** How long such a call waits for the next answer before it is canceled. */
export const HELD_MS = 600_000

/** How many processes of one server run for single clients or folders. An idle one makes room for another. Option `maxProcesses` of `mcpServers`. */
export const MAX_PROCESSES = 64

/** How many tasks of one server are remembered. One more replaces the oldest. */
export const MAX_TASKS = 1_000

/** How many tasks a page of their list has. */
export const TASKS_PER_PAGE = 50

/** How long a task keeps an idle server from being stopped. */
export const TASK_MS = 3_600_000

/** A cache file larger than this is ignored. */
export const MAX_CACHE_BYTES = 134_217_728
