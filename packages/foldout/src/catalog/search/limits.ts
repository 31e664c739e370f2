/** How many characters of a query are read. The rest is ignored, and the outcome says so. */
export const MAX_QUERY_CHARACTERS = 2_000

/** For how many words of a query that match no tool other spellings are tried. */
export const MAX_RESPELLED_WORDS = 64

/** How many words of a query are compared by meaning with the words of single tools. */
export const MAX_LIKENED_WORDS = 64

/** How many characters of a tool's description are indexed, and how many of its parameters' names and descriptions. */
export const MAX_LONG_FIELD_CHARACTERS = 8_000

/** How many characters of a tool's name, source, tags and category are indexed, each. */
export const MAX_SHORT_FIELD_CHARACTERS = 1_000

/** How many words of one field of a tool are indexed. */
export const MAX_FIELD_WORDS = 1_024

/** How many schemas within a tool's input schema are read for names, descriptions and choices. */
export const MAX_SCHEMA_NODES = 2_000

/** How many words each cache of split and stemmed words holds. */
export const MAX_CACHED_WORDS = 50_000

/** How many characters each cache of split and stemmed words holds. */
export const MAX_CACHED_CHARACTERS = 2_000_000

/** Longer words are not cached, because a few of them could fill a cache. */
export const MAX_CACHED_WORD_LENGTH = 64

/** How long indexing may run before it yields to other work, in milliseconds. */
export const MAX_SLICE_MS = 3

/** How many characters are indexed before indexing yields to other work, however little time that took. */
export const MAX_SLICE_CHARACTERS = 50_000

/** How many texts an embedding function receives at once. */
export const MAX_EMBEDDED_AT_ONCE = 32

/**
 * How many characters of a tool's description an embedding function receives. More would take time and gain nothing.
 */
export const MAX_EMBEDDED_CHARACTERS = 200

/** How long an embedding function may take for the texts of some tools, in milliseconds. Searches do not wait for it. */
export const MAX_EMBEDDING_MS = 120_000

/**
 * How long an embedding function may take for a query, in milliseconds. After that, the search continues without it.
 */
export const MAX_QUERY_EMBEDDING_MS = 3_000

/** The longest pause after failures of an embedding function, in milliseconds. */
export const MAX_ENCODER_REST_MS = 60_000

/** How long reading vectors from a cache or writing them may take, in milliseconds. */
export const MAX_VECTOR_CACHE_MS = 10_000

/** How large a file of vectors may become, in bytes, before it starts over. */
export const MAX_VECTOR_FILE_BYTES = 64 * 2 ** 20
