/** The maximum nesting depth of JSON in a model's answer. Validators are recursive, so deeper values could exhaust the stack. */
export const MAX_JSON_DEPTH = 100

/** The maximum nesting depth of a value in a session or a store, which the engine's own JSON and cloning can handle. */
export const MAX_NESTING = 1_000

/** How many brackets in a model's answer are examined to find JSON. The rest of a longer answer is not read. */
export const MAX_JSON_STARTS = 100_000
