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

/**
 * The longest arguments and queries that a recording of traffic keeps, in characters of JSON. Longer ones are left out.
 */
export const MAX_RECORDED_CHARACTERS = 65_536

/** The deepest arguments that a recording of traffic keeps. Deeper ones are left out. */
export const MAX_RECORDED_DEPTH = 64
