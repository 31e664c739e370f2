/** How many tools a catalog takes. Those beyond it are left out, and `broken` says how many. */
export const MAX_TOOLS = 50_000

/** How many broken definitions a catalog lists one by one; the others are counted. */
export const MAX_BROKEN = 1_000

/** In characters. A tool with a longer name or source is broken. */
export const MAX_NAME_LENGTH = 256

/** In characters. What a tool's description has beyond it is cut off. */
export const MAX_DESCRIPTION_LENGTH = 20_000

/** In characters, for a title, a category, a tag and a short description. The rest is cut off. */
export const MAX_LINE_LENGTH = 500

/** How many tags of a tool are kept. */
export const MAX_TAGS = 50

/** In levels of JSON. A deeper schema is not used: the tool takes any arguments. */
export const MAX_SCHEMA_DEPTH = 100

/** In values of JSON. A larger schema is not used. */
export const MAX_SCHEMA_VALUES = 20_000

/** In characters of JSON. A longer schema is not used. */
export const MAX_SCHEMA_LENGTH = 500_000

/** How many outcomes of searches a catalog remembers. */
export const MAX_REMEMBERED_SEARCHES = 200
