/**
 * How many sets of clients that the rules distinguish can have their own catalog. Clients of further sets are refused.
 */
export const MAX_PROFILES = 64

/** How many of them the client names of one user may cause, if clients have tokens. */
export const MAX_PROFILES_OF_USER = 16

/** How many there are for all users. */
export const MAX_ALL_PROFILES = 256

/** The shortest token that the gateway accepts over HTTP. A shorter token could be guessed, and could not be hidden. */
export const MIN_TOKEN_LENGTH = 8
