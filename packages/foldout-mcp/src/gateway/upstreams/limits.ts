/** How many servers are started at the same time. Starting a process mostly takes processor time. */
export const MOST_STARTING = 8

/** How long a server may take to start and to list its tools. Option `--timeout` of `foldout`. */
export const DEFAULT_TIMEOUT_MS = 30_000

/**
 * How long after the start of servers whose tools are not known searches wait for them, because they may have the right
 * tool. Later, the answers name them.
 */
export const WAIT_FOR_TOOLS_MS = 7_000

/** How long installing the package of a server that runs with `npx` or `uvx` may take before the server is started. */
export const INSTALL_MS = 600_000

/** How long a call may go without an answer or progress. Option `timeoutSeconds` of `mcpServers`. */
export const DEFAULT_CALL_TIMEOUT_MS = 600_000

/** How long a server may go without a call before it is stopped. Option `idleSeconds` of `mcpServers`. */
export const IDLE_MS = 600_000

/** How many calls a server runs at a time. Option `maxConcurrent` of `mcpServers`. */
export const MAX_CONCURRENT = 16

/** How long a call waits for a server whose turns are all taken by calls of other users. */
export const BUSY_MS = 30_000

/** How many calls may wait for a busy server. Further calls are refused. */
export const MAX_WAITING = 8_000

/** How many characters of a server's standard error are kept, to be shown if the server fails. */
export const KEPT_STDERR_CHARACTERS = 2_000

/** How many lines of a server's standard error are shown if the server fails. */
export const KEPT_STDERR_LINES = 20

/** How long a server may take to end before its processes are killed. */
export const CLOSE_TIMEOUT_MS = 5_000

/** How long a server may take to end by itself after its input has ended. Then it gets SIGTERM. */
export const CLOSE_INPUT_MS = 1_000

/** How long a server whose input or output has closed may still send answers. Then it is ended. */
export const LAST_OUTPUT_MS = 1_000

/** How long a server over HTTP may take to end a session that is no longer needed. */
export const END_SESSION_MS = 2_000

/** How many attempts in a row to resume a stream of events may fail. */
export const MAX_RESUMES = 2

/** The pause after a server's first failure. The pause doubles with each failure. */
export const FIRST_PAUSE_MS = 1_000

/** The longest pause after failures of a server. */
export const LONGEST_PAUSE_MS = 60_000

/** How many calls in a row may time out before the server is restarted. */
export const MOST_TIMEOUTS = 3

/** A longer message from a server is rejected. Over HTTP, this is the size of an answer or event after decompression. */
export const MAX_MESSAGE_BYTES = 268_435_456

/** How many bytes of the body of an HTTP error are read. */
export const MAX_ERROR_BODY_BYTES = 1_048_576

/** How many messages a server over stdio may send in one list. A longer list is ignored. */
export const MAX_BATCH = 1_000

/** The period in which output of a server that is not a message is counted. */
export const GARBAGE_MS = 10_000

/** A server is ended if it prints more bytes than this, in that period, that are not messages. */
export const MAX_GARBAGE_BYTES = 67_108_864

/** A server is ended if it prints more lines than this, in that period, that are not messages. */
export const MAX_GARBAGE_LINES = 100_000

/** How many answers to its questions a server over HTTP is sent at a time. Further ones wait. */
export const MAX_ANSWERING = 16

/** The connection to a server is ended if it asks questions and leaves more answers than this unread. */
export const MAX_UNREAD_ANSWERS = 10_000

/** A cached list of tools that is older than this is compared with the server's own list soon after the start. */
export const CACHE_FRESH_MS = 86_400_000

/** How many resources, templates and prompts are read from a server, for each kind. */
export const MAX_LISTED = 10_000

/** How many bytes of JSON these may have together, for each kind. The rest of a longer list is left out. */
export const MAX_LISTED_BYTES = 67_108_864

/** How often clients are told at most that a server announced another list, if the list is the same as before. */
export const ANNOUNCE_MS = 1_000

/** How many pages of each of these lists are read. */
export const MAX_PAGES = 1_000

/** How many calls may wait at a time for the answers of modern clients, which answer with another request. */
export const MAX_HELD = 1_000

/** How many calls of one user may wait for answers at a time, if clients have tokens. */
export const MAX_HELD_EACH = 100

/** How often a gateway that holds such a call checks at first whether another gateway has received the answer. */
export const HELD_POLL_MS = 100

/** How often it checks after a while. */
export const LONGEST_HELD_POLL_MS = 1_000

/**
 * How long a gateway that received an answer waits for the gateway that holds the call to take it. After that, the other
 * gateway is presumed dead.
 */
export const TAKEN_MS = 10_000

/** How long such a call waits for the next answer before it is canceled. */
export const HELD_MS = 600_000

/** How many questions that a server asks outside of calls may wait for an answer. Further ones are refused. */
export const MAX_OUTSIDE = 16

/**
 * How long such a question waits for its answer. For as long, a server that has not answered a cancelled call may ask
 * something for it.
 */
export const ANSWER_MS = 600_000

/** How many cancelled calls of one connection are remembered one by one until the server answers them. */
export const MAX_ABANDONED = 10_000

/** How long such a question waits for a client, because a server may be started before its client. */
export const CLIENT_WAIT_MS = 10_000

/** How often it looks for the client. */
export const CLIENT_POLL_MS = 100

/**
 * How many processes of one server run for single clients or single folders. An idle process makes room for another. Option
 * `maxProcesses` of `mcpServers`.
 */
export const MAX_PROCESSES = 64

/** How long a call waits until its server has asked for the client's folders, after it was told that they have changed. */
export const ROOTS_ASKED_MS = 1_000

/** How long a call waits until its client has named these folders. */
export const ROOTS_ANSWERED_MS = 5_000

/** How long a server gets to apply the folders before it gets the call. */
export const ROOTS_TAKEN_MS = 50

/** How many tasks of one server the gateway remembers. One more removes the oldest. */
export const MAX_TASKS = 1_000

/** How many tasks one page of the task list has. */
export const TASKS_PER_PAGE = 50

/** How long a task keeps an idle server from being stopped. */
export const TASK_MS = 3_600_000

/** A larger cache file is ignored. */
export const MAX_CACHE_BYTES = 134_217_728

/** A larger note that a server did not start is ignored. */
export const MAX_MARK_BYTES = 1_024
