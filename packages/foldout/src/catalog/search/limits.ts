/** How many characters of a query are read. What comes after them is ignored, and the outcome says so. */
export const MAX_QUERY_CHARACTERS = 2_000

/** How many different words of a query that no tool has are looked up in other spellings. */
export const MAX_RESPELLED_WORDS = 64

/** How many characters of a tool's description are indexed, and how many of its parameters' names and descriptions. */
export const MAX_LONG_FIELD_CHARACTERS = 8_000

/** How many characters of a tool's name, source, tags and category are indexed, each. */
export const MAX_SHORT_FIELD_CHARACTERS = 1_000

/** How many words of one field of a tool are indexed. */
export const MAX_FIELD_WORDS = 1_024

/** How many schemas within a tool's input schema are looked at for names, descriptions and choices. */
export const MAX_SCHEMA_NODES = 2_000

/** How many words the caches of split and stemmed words hold, each. */
export const MAX_CACHED_WORDS = 50_000

/** How many characters the caches of split and stemmed words hold, each. */
export const MAX_CACHED_CHARACTERS = 2_000_000

/** Words longer than this are split and stemmed each time, so that a few of them cannot fill a cache. */
export const MAX_CACHED_WORD_LENGTH = 64

/** How long indexing may keep the event loop before it lets others run, in milliseconds. */
export const MAX_SLICE_MS = 4

/** How many characters are indexed before others may run, however quick that was. */
export const MAX_SLICE_CHARACTERS = 50_000
