/** A token is renewed this long before it expires, or after four fifths of its life if that is later. */
export const RENEW_AHEAD_MS = 300_000

/** A token that nobody uses is not renewed sooner after it was given, however short its life is. */
export const SHORTEST_LIFE_MS = 1_000

/** How long to wait before a renewal that failed is tried again at first. The time doubles with each failure. */
export const FIRST_RENEWAL_PAUSE_MS = 5_000

/** How long to wait before a renewal that failed is tried again at most. */
export const LONGEST_RENEWAL_PAUSE_MS = 600_000

/** How long an authorization server may take to answer one request. */
export const AUTH_REQUEST_TIMEOUT_MS = 15_000

/** A longer answer of an authorization server is refused. */
export const MAX_AUTH_RESPONSE_BYTES = 1_048_576

/** How long `foldout login` waits for the browser. Option `--timeout`. */
export const LOGIN_TIMEOUT_MS = 300_000

/** How long to wait for another process that renews the same sign-in. */
export const LOCK_PATIENCE_MS = 25_000

/** How often a running gateway looks whether another process has changed a sign-in. */
export const RECHECK_MS = 500

/** How often a gateway looks whether somebody has signed in to a server that it cannot use without. */
export const WATCH_MS = 2_000

/** A token that is younger is not renewed because a server refused one: the request may have carried the token before it. */
export const FRESH_TOKEN_MS = 5_000

/** A larger file of a sign-in is ignored. */
export const MAX_CREDENTIAL_BYTES = 1_048_576

/** How long the keychain may take to answer, including the user who unlocks it. */
export const KEYCHAIN_TIMEOUT_MS = 60_000

/** Characters of one entry in the keychain of Windows, which has room for 2,560 bytes. */
export const MAX_WINDOWS_ENTRY = 1_200
