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
