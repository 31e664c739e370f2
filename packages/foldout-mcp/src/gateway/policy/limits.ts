/** The shortest value of the configuration that is hidden wherever it occurs. Shorter values are ordinary words. */
export const MIN_SECRET_LENGTH = 8

/** How many secrets of sign-ins, and how many of clients, such as those in headers, are hidden at a time. Secrets of the configuration are always hidden. */
export const MAX_LATE_SECRETS = 10_000

/**
 * How many characters next to a cut are searched for secrets, so that no half of one is left. Of a longer secret, a part may be left.
 */
export const CUT_MARGIN = 8_192

/** A larger `envFile` is not read before its server starts, so its values are hidden only from then on. */
export const MAX_ENV_FILE_BYTES = 1_048_576

/** How long an approval can be given after it was requested, and used after it was given. */
export const APPROVAL_MS = 600_000

/** How many calls may wait for an approval at a time. Any more are refused. */
export const MAX_APPROVALS = 1_000

/** How many of these may be of one user, or of one client without a user. Any more are refused. */
export const MAX_APPROVALS_EACH = 100

/** The longest server state that is kept while the user of an approved call answers its questions. */
export const MAX_ROUND_CHARACTERS = 1_048_576

/** If a call's arguments have more characters, its long texts and lists are cut for the person who is asked to approve it. */
export const MAX_SHOWN_CHARACTERS = 4_000

/** A call whose arguments have more characters, even with all long texts and lists cut, is refused instead of shown in part. */
export const MAX_SHOWN_CUT_CHARACTERS = 16_000

/**
 * How many sets of clients that the rules distinguish can have their own catalog. Clients of further sets are refused.
 */
export const MAX_PROFILES = 64

/** A larger audit log is renamed, and a new one begins. Option `audit.maxBytes`. */
export const MAX_AUDIT_BYTES = 67_108_864

/** How many renamed audit logs are kept. Option `audit.keep`. */
export const KEPT_AUDITS = 5

/** How many characters of each text in a call's arguments the audit log keeps. */
export const MAX_AUDIT_TEXT = 1_000

/** How many characters of a client's name the audit log and recordings keep. */
export const MAX_AUDIT_NAME = 200

/** How many characters of a call's arguments the audit log keeps. Longer arguments are left out. */
export const MAX_AUDIT_ARGUMENTS = 65_536

/** How many characters of the audit log may wait for the disk. Any more lines are counted and dropped. */
export const MAX_AUDIT_WAITING = 16_777_216

/** A file of pinned definitions larger than this counts as damaged. */
export const MAX_PIN_BYTES = 134_217_728

/** The shortest token that the gateway accepts over HTTP. A shorter token could be guessed, and could not be hidden. */
export const MIN_TOKEN_LENGTH = 8

/** How many quota buckets one process keeps. The least recently used ones are forgotten. */
export const MAX_BUCKETS = 100_000

/** How many days the audit log in a store keeps. Option `audit.keepDays`. */
export const KEPT_AUDIT_DAYS = 90

/** How long the audit log waits before it tries again to write to an unreachable store. */
export const AUDIT_RETRY_MS = 1_000

/** How long a gateway keeps quota tokens that it took ahead of time before it returns them. */
export const AHEAD_MS = 1_000
