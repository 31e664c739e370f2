/** As deep as JSON in a model's answer may be nested: validators descend into values recursively, and the stack must hold. */
export const MAX_JSON_DEPTH = 100

/** As deep as a value may be nested to be kept in a session or a store: the engine's own JSON and cloning hold it. */
export const MAX_NESTING = 1_000

/** As many brackets in a model's answer are looked at to find JSON; the rest of an answer with more of them is not read. */
export const MAX_JSON_STARTS = 100_000
