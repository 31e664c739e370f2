/** A token is renewed this long before it expires, or after four fifths of its lifetime if that is later. */
export const RENEW_AHEAD_MS = 300_000

/** An unused token is not renewed sooner than this after it was issued, however short its lifetime. */
export const SHORTEST_LIFE_MS = 1_000

/** The first wait before a failed renewal is retried. It doubles with each failure. */
export const FIRST_RENEWAL_PAUSE_MS = 5_000

/** The longest wait before a failed renewal is retried. */
export const LONGEST_RENEWAL_PAUSE_MS = 600_000

/** How long an authorization server may take to answer one request. */
export const AUTH_REQUEST_TIMEOUT_MS = 15_000

/** A response from an authorization server longer than this is refused. */
export const MAX_AUTH_RESPONSE_BYTES = 1_048_576

/** How long `foldout login` waits for the browser. Option `--timeout`. */
export const LOGIN_TIMEOUT_MS = 300_000

/** How long to wait for another process that is renewing the same sign-in. */
export const LOCK_PATIENCE_MS = 25_000

/** How often a running gateway checks whether another process has changed a sign-in. */
export const RECHECK_MS = 500

/** How often a gateway checks whether the user has signed in to a server that needs it. */
export const WATCH_MS = 2_000

/** A token younger than this is not renewed when a server refuses a request, which may have carried the previous token. */
export const FRESH_TOKEN_MS = 5_000

/** A sign-in file larger than this is ignored. */
export const MAX_CREDENTIAL_BYTES = 1_048_576

/** How long the keychain may take to answer, including the time the user takes to unlock it. */
export const KEYCHAIN_TIMEOUT_MS = 60_000

/** Characters per entry in the Windows keychain, which has room for 2,560 bytes. */
export const MAX_WINDOWS_ENTRY = 1_200
