/** The longest request that the inspector's page, or a recorder, may send, in bytes. */
export const MAX_REQUEST_BYTES = 80 * 1_024 * 1_024

/** How many pages may follow the inspector at the same time. */
export const MAX_PAGES = 16

/** How often the inspector's page receives a heartbeat, which lets both sides notice a broken connection. */
export const HEARTBEAT_MS = 15_000

/** How many bytes may wait for a page that does not read. Then the page is disconnected, and connects again. */
export const MAX_WAITING_BYTES = 4 * 1_024 * 1_024
