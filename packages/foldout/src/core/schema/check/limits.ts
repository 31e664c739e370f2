/** How many steps one check of a value against a JSON Schema may take; a step is one keyword or one character. A value that needs more is rejected. */
export const MAX_CHECK_STEPS = 5_000_000

/** How deeply a value and its schemas may be nested to be checked. A deeper value is rejected. */
export const MAX_CHECK_DEPTH = 1_000

/** How many issues of one value are kept; more would not help the reader. */
export const MAX_ISSUES = 1_000

/** How many names or values a message lists before it says how many more there are. */
export const MAX_LISTED = 20

/** How many characters of a value or a pattern a message shows. */
export const MAX_SHOWN = 100

/** How deeply fields may be nested whose descriptions are written to an override file. */
export const MAX_FIELD_DEPTH = 20
