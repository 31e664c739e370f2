/** How long a regular expression from outside may be, in characters. */
export const MAX_PATTERN_LENGTH = 10_000

/** How deep its groups may be nested. */
export const MAX_PATTERN_DEPTH = 200

/** How many instructions it may compile to; `a{1000}` is a thousand of them. */
export const MAX_PATTERN_SIZE = 30_000

/** How many lookaheads and lookbehinds it may have. */
export const MAX_LOOKAROUNDS = 20

/** How many steps one match may take before it is given up, a step being some 10 to 50 nanoseconds. */
export const MAX_PATTERN_STEPS = 5_000_000
