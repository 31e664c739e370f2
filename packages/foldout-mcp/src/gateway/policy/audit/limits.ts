/** How many characters of each text in a call's arguments the audit log keeps. */
export const MAX_AUDIT_TEXT = 1_000

/** How many characters of a client's name the audit log and recordings keep. */
export const MAX_AUDIT_NAME = 200

/** How many characters of a call's arguments the audit log keeps. Longer arguments are left out. */
export const MAX_AUDIT_ARGUMENTS = 65_536

/** How many characters of the audit log may wait for the disk. Any more lines are counted and dropped. */
export const MAX_AUDIT_WAITING = 16_777_216

/** How long the audit log waits before it tries again to write to an unreachable store. */
export const AUDIT_RETRY_MS = 1_000

/** How often the audit log in a store drops lines that are too old. */
export const PRUNE_MS = 600_000
