/** How many characters of a traffic recording may wait for the disk before recording stops. */
export const MAX_WAITING_CHARACTERS = 16 * 1_024 * 1_024

/** How many characters of an answer are counted in tokens, when traffic is recorded or watched; those of a longer one are estimated from them. */
export const MAX_COUNTED_CHARACTERS = 200_000

/** How many characters of what a failed call says are kept for the inspector's page. */
export const MAX_MESSAGE_CHARACTERS = 1_000
