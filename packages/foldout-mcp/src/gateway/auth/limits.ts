/** A token is renewed this long before it expires, or after four fifths of its lifetime if that is later. */
export const RENEW_AHEAD_MS = 300_000

/** The shortest time between two renewals of a token that nobody uses, however short its life is. */
export const SHORTEST_LIFE_MS = 1_000

/** The pause after the first failed renewal. The pause doubles with each failure. */
export const FIRST_RENEWAL_PAUSE_MS = 5_000

/** The longest pause after a failed renewal. */
export const LONGEST_RENEWAL_PAUSE_MS = 600_000

/** How long an authorization server may take to answer one request. */
export const AUTH_REQUEST_TIMEOUT_MS = 15_000

/** A longer answer of an authorization server is rejected. */
export const MAX_AUTH_RESPONSE_BYTES = 1_048_576

/** How long `foldout login` waits for the browser. Option `--timeout`. */
export const LOGIN_TIMEOUT_MS = 300_000

/** How long to wait for another process that is renewing the same sign-in. */
export const LOCK_PATIENCE_MS = 25_000

/** How often a running gateway checks whether another process has changed a sign-in. */
export const RECHECK_MS = 500

/** How often a gateway checks whether somebody has signed in to a server that requires it. */
export const WATCH_MS = 2_000

/** A younger token is not renewed when a server rejects a request: the request may have carried the previous token. */
export const FRESH_TOKEN_MS = 5_000

/** A larger sign-in file is ignored. */
export const MAX_CREDENTIAL_BYTES = 1_048_576

/** How long the keychain may take to answer, including the time the user takes to unlock it. */
export const KEYCHAIN_TIMEOUT_MS = 60_000

/** The most characters in one entry of the Windows keychain, which has room for 2,560 bytes. */
export const MAX_WINDOWS_ENTRY = 1_200
