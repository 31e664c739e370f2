/** How long a command waits for another command that changes the same file. */
export const LOCK_TIMEOUT_MS = 10_000

/** A lock that is older than this belongs to a command that died. */
export const LOCK_STALE_MS = 60_000

/** How long a client's own command may take. */
export const OWN_COMMAND_TIMEOUT_MS = 60_000

/**
 * How many lines inside strings of a TOML file may look like tables. A file with more is not edited, because each costs a
 * parse.
 */
export const MOST_DOUBTFUL_HEADERS = 50

/** How many lines may differ between two versions of a file for their changes to be merged line by line. */
export const MOST_LINE_EDITS = 1_000

/** How many entries that cannot be edited together are tried one by one, to name the one that is in the way. */
export const MOST_TRIED_ENTRIES = 20

/** How many servers with the same command line are compared with a new one, to find out whether only their variables differ. */
export const MOST_COMPARED_SERVERS = 1_000
