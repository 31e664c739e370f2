/** How long a command waits for another command that changes the same file. */
export const LOCK_TIMEOUT_MS = 10_000

/** A lock that is older than this belongs to a command that died. */
export const LOCK_STALE_MS = 60_000

/** How long a client's own command may take. */
export const OWN_COMMAND_TIMEOUT_MS = 60_000

/** How many servers with the same command line are compared with a new one, to find out whether only their variables differ. */
export const MOST_COMPARED_SERVERS = 1_000
