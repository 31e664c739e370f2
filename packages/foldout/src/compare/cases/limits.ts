/** How many bytes a file of cases may have. */
export const MAX_CASES_BYTES = 256 * 1024 * 1024

/** How many characters one case may have as JSON. */
export const MAX_CASE_CHARACTERS = 1_000_000

/** How many cases a comparison may have. */
export const MAX_CASES = 100_000

/** How many characters the id of a case, and the name of an arm, may have. */
export const MAX_ID_CHARACTERS = 200

/** How many things a user may say in one case. */
export const MAX_TURNS = 1_000
