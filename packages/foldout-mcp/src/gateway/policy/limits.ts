/** The shortest configured value that is hidden wherever it occurs; shorter ones are ordinary words. */
export const MIN_SECRET_LENGTH = 8

/** How many secrets learned while the gateway runs, such as those in clients' headers, are hidden at a time. */
export const MAX_LATE_SECRETS = 10_000

/** How long an approval can be given after it was requested, and used after it was given. */
export const APPROVAL_MS = 600_000

/** How many calls may wait for an approval at a time. Any more are refused. */
export const MAX_APPROVALS = 1_000

/** The longest server state that is kept while the user answers the questions of an approved call. */
export const MAX_ROUND_CHARACTERS = 1_048_576

/** How many characters of a call's arguments are shown to the person who approves it. */
export const MAX_SHOWN_CHARACTERS = 4_000

/** How many sets of clients that rules distinguish get their own catalog. Clients in any more sets are refused. */
export const MAX_PROFILES = 64

/** An audit log larger than this is rotated. Option `audit.maxBytes`. */
export const MAX_AUDIT_BYTES = 67_108_864

/** How many rotated audit logs are kept. Option `audit.keep`. */
export const KEPT_AUDITS = 5

/** How many characters the audit log keeps of one string in a call's arguments. */
export const MAX_AUDIT_TEXT = 1_000

/** How many characters the audit log keeps of a call's arguments. Longer ones are left out. */
export const MAX_AUDIT_ARGUMENTS = 65_536

/** How many characters of the audit log may wait for the disk. Any more lines are counted and dropped. */
export const MAX_AUDIT_WAITING = 16_777_216

/** A file of pinned definitions larger than this counts as damaged. */
export const MAX_PIN_BYTES = 134_217_728

/** The shortest token that the gateway accepts over HTTP. A shorter one could be guessed, and could not be redacted. */
export const MIN_TOKEN_LENGTH = 8

/** How many quota buckets one process keeps. The least recently used are dropped. */
export const MAX_BUCKETS = 100_000

/** How many days of the audit log a store keeps. Option `audit.keepDays`. */
export const KEPT_AUDIT_DAYS = 90

/** How long the audit log waits before it retries an unreachable store. */
export const AUDIT_RETRY_MS = 1_000

/** How long a gateway holds quota tokens taken in advance before it gives them back. */
export const AHEAD_MS = 1_000
