/** How many events of runs the inspector keeps. Older runs are removed first. */
export const MAX_RUN_EVENTS = 1_000_000

/** How many points the chart of a run has. */
export const MAX_CHART_POINTS = 1_000

/** How many steps, and how many messages, of a run an exported file contains. */
export const MAX_EXPORTED_ITEMS = 10_000

/** How long the inspector works on an export before everything else has its turn. */
export const MAX_SLICE_MS = 15

/** How many messages or steps of a run one MCP resource contains. It names the resource that continues it. */
export const MAX_RESOURCE_ITEMS = 200

/** How many characters one MCP resource of a run contains, unless a single item is longer. */
export const MAX_RESOURCE_CHARACTERS = 200_000

/** How many characters of a name, or of the first message of a run, the inspector's page receives. */
export const MAX_NAME_CHARACTERS = 500

/** How many runs and clients the inspector's page lists; there may be more. */
export const MAX_LISTED_RUNS = 2_000
