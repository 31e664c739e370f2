/**
 * How many characters of a recorded run may wait for a slow inspector. Beyond that, the rest of the run is not
 * recorded.
 */
export const MAX_WAITING_RECORD_CHARACTERS = 64 * 1_024 * 1_024
