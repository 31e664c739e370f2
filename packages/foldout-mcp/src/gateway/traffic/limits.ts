/** The longest arguments and queries that a traffic recording keeps, in characters of JSON; longer ones are left out. */
export const MAX_RECORDED_CHARACTERS = 65_536

/** The deepest arguments that a traffic recording keeps; deeper ones are left out. */
export const MAX_RECORDED_DEPTH = 64

/** How many characters of a traffic recording may wait for the disk before recording stops. */
export const MAX_WAITING_CHARACTERS = 16 * 1_024 * 1_024
