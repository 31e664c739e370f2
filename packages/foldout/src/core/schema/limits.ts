/** How many steps one check of a value against a JSON Schema may take, a step being one keyword or one character. A value that would take more is refused. */
export const MAX_CHECK_STEPS = 5_000_000

/** How deep the parts of a value, and of the schemas for it, may be nested to be checked. A deeper value is refused. */
export const MAX_CHECK_DEPTH = 1_000

/** How many issues with one value are kept; more would not help anyone who reads them. */
export const MAX_ISSUES = 1_000

/** How many names or values a message lists before it says how many more there are. */
export const MAX_LISTED = 20

/** How many characters of a value or a pattern a message shows. */
export const MAX_SHOWN = 100
