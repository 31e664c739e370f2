/** How long a path may be, in characters. A longer path is rejected. */
export const MAX_PATH_LENGTH = 1024

/** The largest file on the host that is read as a whole, in bytes. `read_file` returns some lines of a larger one. */
export const MAX_FILE_BYTES = 50_000_000

/** How many entries `list_files` shows; it says how many more there are. */
export const MAX_LISTED_ENTRIES = 1_000

/** How many lines `read_file` returns at once. It says how to continue. */
export const MAX_READ_LINES = 2_000

/** How many characters `read_file` returns at once. It says how to continue. */
export const MAX_READ_CHARACTERS = 100_000

/** The size from which `read_file` reads lines without loading the whole file, in bytes. */
export const STREAMED_FILE_BYTES = 1_000_000

/** How many paths `glob` shows; it says how many more there are. */
export const MAX_GLOB_PATHS = 1_000

/** How long a glob may be, in characters. A longer glob is rejected. */
export const MAX_GLOB_LENGTH = 1024

/** How many files `glob` and `grep` examine; they say that there are more. */
export const MAX_WALKED_FILES = 100_000

/** How many matching lines `grep` shows; it says that there are more. */
export const MAX_GREP_MATCHES = 200

/** How many characters of a matching line `grep` shows. The rest is cut. */
export const MAX_GREP_SHOWN = 500

/** The longest line that `grep` searches, in characters. Longer lines are left out and counted. */
export const MAX_GREP_LINE = 10_000

/** The largest file that `grep` searches, in bytes. Larger files are left out and counted. */
export const MAX_GREP_FILE_BYTES = 10_000_000

/** How many bytes `grep` searches in one call. Files beyond the limit are skipped and counted. */
export const MAX_GREP_BYTES = 200_000_000

/** How many steps `grep` takes for one line before it skips the line. */
export const MAX_GREP_LINE_STEPS = 200_000
