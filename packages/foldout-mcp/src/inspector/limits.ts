/** The longest request that the inspector's page, or a recorder, may send, in bytes. */
export const MAX_REQUEST_BYTES = 80 * 1_024 * 1_024

/** How many pages may follow the inspector at the same time. */
export const MAX_PAGES = 16

/** How often the inspector's page receives a heartbeat, which lets both sides notice a broken connection. */
export const HEARTBEAT_MS = 15_000

/** How many bytes may wait for a page that does not read. Then the page is disconnected, and connects again. */
export const MAX_WAITING_BYTES = 4 * 1_024 * 1_024

/** How long a call from the inspector's page may take. */
export const CALL_MS = 120_000

/** How many characters of one text the inspector's page shows. The rest is counted. */
export const MAX_SHOWN_CHARACTERS = 100_000

/** How many events of runs the inspector keeps. Older runs are removed first. */
export const MAX_RUN_EVENTS = 1_000_000

/** How many points the chart of a run has. */
export const MAX_CHART_POINTS = 1_000

/** How many steps, and how many messages, of a run an exported file contains. */
export const MAX_EXPORTED_ITEMS = 10_000

/** How long the inspector works on an export before everything else has its turn. */
export const MAX_SLICE_MS = 15

/** How often the inspector looks for calls that wait for an approval. */
export const APPROVALS_POLL_MS = 1_000

/** How many messages or steps of a run one MCP resource contains. It names the resource that continues it. */
export const MAX_RESOURCE_ITEMS = 200

/** How many characters one MCP resource of a run contains, unless a single item is longer. */
export const MAX_RESOURCE_CHARACTERS = 200_000

/** How many characters of a name, or of the first message of a run, the inspector's page receives. */
export const MAX_NAME_CHARACTERS = 500

/** How many steps of one client of a gateway are shown together; then a new part begins. */
export const MAX_CLIENT_STEPS = 5_000

/** How many steps of all clients of a gateway the inspector keeps; those of the client that has been quiet for longest are forgotten first. */
export const MAX_CLIENTS_STEPS = 50_000

/** How many runs and clients the inspector's page lists; there may be more. */
export const MAX_LISTED_RUNS = 2_000
