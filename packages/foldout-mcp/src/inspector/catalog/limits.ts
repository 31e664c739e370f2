/** How long a call from the inspector's page may take. */
export const CALL_MS = 120_000

/** How often the inspector looks for calls that wait for an approval. */
export const APPROVALS_POLL_MS = 1_000
