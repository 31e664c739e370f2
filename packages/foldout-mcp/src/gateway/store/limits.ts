/** How long a decision that gateways share waits for a database that is away. Then the call is refused. */
export const DECISION_PATIENCE_MS = 5_000

/** How long a database may take to answer when a gateway starts. */
export const OPEN_PATIENCE_MS = 10_000

/** How long a connection to the database may take to open. */
export const CONNECT_TIMEOUT_MS = 5_000

/** How long a statement may take. */
export const STATEMENT_TIMEOUT_MS = 30_000

/** After the database was away, what can do without it does not ask again for so long. */
export const AWAY_PAUSE_MS = 1_000

/** How many connections of one gateway to the database are open at a time. Another one listens for announcements. */
export const MAX_CONNECTIONS = 10

/** How many sign-ins of one gateway are renewed at a time, each of which keeps a connection to the database. */
export const MAX_RENEWALS = 4

/** How often a gateway looks for what others have changed, in case that announcements do not reach it. */
export const POLL_MS = 2_000

/** A gateway that has not been heard of for so long is silent. */
export const SILENT_MS = 15_000

/** How often what has expired is removed. */
export const SWEEP_MS = 600_000

/** How long a gateway that has gone is still listed. */
export const GONE_MS = 86_400_000

/** How long one gateway asks a server for its tools while others wait for that. */
export const TURN_MS = 20_000

/** How often a gateway that waits looks whether it is its turn. */
export const TURN_PAUSE_MS = 500
