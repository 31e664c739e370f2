/** How many levels of sections a prompt may have. Trees are walked recursively, so a deeper one could exhaust the stack. */
export const MAX_SECTION_DEPTH = 100

/** The largest override file that is read, in bytes. */
export const MAX_OVERRIDE_FILE_BYTES = 16 * 1024 * 1024

/** The maximum number of JSON fragments in one answer that are tried as its output. */
export const MAX_OUTPUT_CANDIDATES = 1_000

/** The maximum number of problems of one kind that are collected from an answer. */
export const MAX_OUTPUT_PROBLEMS = 1_000

/** How many tokens the summaries of the folded sections of a prompt with many sections may have together. */
export const MAX_CONTENTS_TOKENS = 2_000

/** How many characters the list of folded siblings has by default: about 2 % of a window of 100,000 tokens. */
export const MAX_LIST_CHARACTERS = 8_000
