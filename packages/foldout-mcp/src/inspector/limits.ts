/** The longest request that the inspector's page, or a recorder, may send, in bytes. */
export const MAX_REQUEST_BYTES = 80 * 1_024 * 1_024

/** How many pages may follow the inspector at the same time. */
export const MAX_PAGES = 16

/** How often the inspector's page is sent a sign of life, so that both sides notice a broken connection. */
export const HEARTBEAT_MS = 15_000

/** How many bytes may wait for an inspector page that does not read; then it is disconnected, and reconnects. */
export const MAX_WAITING_BYTES = 4 * 1_024 * 1_024

/** How long a call from the inspector's page may take. */
export const CALL_MS = 120_000

/** The most characters of one text that the inspector's page shows; the rest is counted. */
export const MAX_SHOWN_CHARACTERS = 100_000

/** How many events of runs the inspector keeps; older runs are forgotten first. */
export const MAX_RUN_EVENTS = 1_000_000

/** The most points in the chart of a run. */
export const MAX_CHART_POINTS = 1_000

/** The most steps, and the most messages, of a run in an exported file. */
export const MAX_EXPORTED_ITEMS = 10_000

/** How often the inspector looks for calls that wait for an approval. */
export const APPROVALS_POLL_MS = 1_000

/** The most messages or steps of a run in one MCP resource, which names the next one. */
export const MAX_RESOURCE_ITEMS = 200

/** The most characters in one MCP resource of a run, unless a single item is longer. */
export const MAX_RESOURCE_CHARACTERS = 200_000

/** How many characters of a name, or of a run's first message, the inspector's page gets. */
export const MAX_NAME_CHARACTERS = 500
