/**
 * How long a regular expression from outside may be, in characters. A longer one is not run: `grep` reports the
 * problem, and a schema is used without the pattern.
 */
export const MAX_PATTERN_LENGTH = 10_000

/** How deep the groups of a regular expression may be nested. A deeper one is not run. */
export const MAX_PATTERN_DEPTH = 200

/** How many instructions a regular expression may compile to; `a{1000}` takes a thousand. A larger one is not run. */
export const MAX_PATTERN_SIZE = 30_000

/** How many lookaheads and lookbehinds a regular expression may have. One with more is not run. */
export const MAX_LOOKAROUNDS = 20

/** How many steps one match may take before it gives up; a step takes 10 to 50 nanoseconds. */
export const MAX_PATTERN_STEPS = 5_000_000
