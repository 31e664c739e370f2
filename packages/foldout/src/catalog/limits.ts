/** How many tools a catalog accepts. Further tools are left out, and `broken` says how many. */
export const MAX_TOOLS = 50_000

/** How many broken definitions a catalog lists one by one. The others are counted. */
export const MAX_BROKEN = 1_000

/** Longest name or source of a tool, in characters. A tool with a longer one is broken. */
export const MAX_NAME_LENGTH = 256

/** Longest description of a tool, in characters. The rest is cut off. */
export const MAX_DESCRIPTION_LENGTH = 20_000

/** Longest title, category, tag or short description, in characters. The rest is cut off. */
export const MAX_LINE_LENGTH = 500

/** How many tags of a tool are kept. */
export const MAX_TAGS = 50

/** Deepest schema, in levels of JSON. A deeper one is not used: the tool accepts any arguments. */
export const MAX_SCHEMA_DEPTH = 100

/** Largest schema, in JSON values. A larger one is not used. */
export const MAX_SCHEMA_VALUES = 20_000

/** Longest schema, in characters of JSON. A longer one is not used. */
export const MAX_SCHEMA_LENGTH = 500_000

/** How many search results a catalog caches. */
export const MAX_REMEMBERED_SEARCHES = 200
