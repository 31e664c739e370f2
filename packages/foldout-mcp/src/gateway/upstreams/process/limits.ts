/** How long installing the package of a server that runs with `npx` or `uvx` may take before the server is started. */
export const INSTALL_MS = 600_000

/** How long a server may take to end before its processes are killed. */
export const CLOSE_TIMEOUT_MS = 5_000

/** How long a server may take to end by itself after its input has ended. Then it gets SIGTERM. */
export const CLOSE_INPUT_MS = 1_000

/** How long a server whose input or output has closed may still send answers. Then it is ended. */
export const LAST_OUTPUT_MS = 1_000

/** A longer message from a server over stdio is rejected. */
export const MAX_MESSAGE_BYTES = 268_435_456

/** How many messages a server over stdio may send in one list. A longer list is ignored. */
export const MAX_BATCH = 1_000

/** The period in which output of a server that is not a message is counted. */
export const GARBAGE_MS = 10_000

/** A server is ended if it prints more bytes than this, in that period, that are not messages. */
export const MAX_GARBAGE_BYTES = 67_108_864

/** A server is ended if it prints more lines than this, in that period, that are not messages. */
export const MAX_GARBAGE_LINES = 100_000

/** The connection to a server is ended if it asks questions and leaves more answers than this unread. */
export const MAX_UNREAD_ANSWERS = 10_000
