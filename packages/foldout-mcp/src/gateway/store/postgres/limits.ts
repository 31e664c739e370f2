/** How long a decision that gateways share waits for an unreachable database. Then the call is refused. */
export const DECISION_PATIENCE_MS = 5_000

/** How long a database may take to answer when a gateway starts. */
export const OPEN_PATIENCE_MS = 10_000

/** How long a connection to the database may take to open. */
export const CONNECT_TIMEOUT_MS = 5_000

/** How long a statement may take. */
export const STATEMENT_TIMEOUT_MS = 30_000

/** After the database was unreachable, work that can do without it does not ask again for this long. */
export const AWAY_PAUSE_MS = 1_000

/** How many connections to the database one gateway opens. One more connection listens for notifications. */
export const MAX_CONNECTIONS = 10

/** How many sign-ins one gateway renews at a time. Each holds a connection to the database. */
export const MAX_RENEWALS = 4

/** How often a gateway checks for changes by other gateways, in case notifications do not reach it. */
export const POLL_MS = 2_000

/** A gateway counts as silent if it has not been heard from for this long. */
export const SILENT_MS = 15_000

/** How often expired rows are removed. */
export const SWEEP_MS = 600_000

/** How long a gateway that has ended is still listed. */
export const GONE_MS = 86_400_000

/** How long one gateway may take to ask a server for its tools while the others wait. */
export const TURN_MS = 20_000

/** How often a waiting gateway checks whether it is its turn. */
export const TURN_PAUSE_MS = 500
