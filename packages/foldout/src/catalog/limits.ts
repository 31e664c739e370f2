/** How many tools a catalog accepts. Further tools are left out, and `broken` says how many. */
export const MAX_TOOLS = 50_000

/** How many broken definitions a catalog lists one by one. The others are counted. */
export const MAX_BROKEN = 1_000

/** The maximum length of a tool's name or source, in characters. A tool with a longer one is broken. */
export const MAX_NAME_LENGTH = 256

/** The maximum length of a tool's description, in characters. The rest is cut off. */
export const MAX_DESCRIPTION_LENGTH = 20_000

/** The maximum length of a title, category, tag or short description, in characters. The rest is cut off. */
export const MAX_LINE_LENGTH = 500

/** The maximum number of tags kept for a tool. */
export const MAX_TAGS = 50

/** The maximum depth of a schema, in levels of JSON. A deeper one is not used, so the tool accepts any arguments. */
export const MAX_SCHEMA_DEPTH = 100

/** The maximum number of JSON values in a schema. A larger one is not used. */
export const MAX_SCHEMA_VALUES = 20_000

/** The maximum length of a schema, in characters of JSON. A longer one is not used. */
export const MAX_SCHEMA_LENGTH = 500_000

/** How many search results a catalog caches. */
export const MAX_REMEMBERED_SEARCHES = 200
