/** A configuration file larger than this is not read, be it the gateway's own or a client's. */
export const MAX_CONFIG_BYTES = 33_554_432

/** How many files a configuration that is a program may import from its folder, if the folder has to be trusted. */
export const MAX_IMPORTED_FILES = 200

/** A larger audit log is renamed, and a new one begins. Option `audit.maxBytes`. */
export const MAX_AUDIT_BYTES = 67_108_864

/** How many renamed audit logs are kept. Option `audit.keep`. */
export const KEPT_AUDITS = 5

/** How many days the audit log in a store keeps. Option `audit.keepDays`. */
export const KEPT_AUDIT_DAYS = 90

/** How long a call may go without an answer or progress. Option `timeoutSeconds` of `mcpServers`. */
export const DEFAULT_CALL_TIMEOUT_MS = 600_000

/** How long a server may go without a call before it is stopped. Option `idleSeconds` of `mcpServers`. */
export const IDLE_MS = 600_000

/** How many calls a server runs at a time. Option `maxConcurrent` of `mcpServers`. */
export const MAX_CONCURRENT = 16

/**
 * How many processes of one server run for single clients or single folders. An idle process makes room for another. Option
 * `maxProcesses` of `mcpServers`.
 */
export const MAX_PROCESSES = 64
