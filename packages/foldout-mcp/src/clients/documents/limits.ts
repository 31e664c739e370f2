/** How many entries that cannot be edited together are tried one by one, to name the one that is in the way. */
export const MOST_TRIED_ENTRIES = 20

/** How many lines may differ between two versions of a file for their changes to be merged line by line. */
export const MOST_LINE_EDITS = 1_000

/**
 * How many lines inside strings of a TOML file may look like tables. A file with more is not edited, because each costs a
 * parse.
 */
export const MOST_DOUBTFUL_HEADERS = 50
