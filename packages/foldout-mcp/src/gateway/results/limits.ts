/** Results with more tokens are folded. Option `foldResults` of `foldout.config`. */
export const FOLD_TOKENS = 8_000

/** How long a folded result is kept after it was last read. */
export const KEPT_MS = 1_800_000

/** How many folded results of one client are kept. One more removes the oldest. */
export const KEPT_PER_CLIENT = 100

/** How many folded results of all clients are kept. */
export const MAX_KEPT = 1_000

/** How many bytes all folded results may have together. */
export const MAX_KEPT_BYTES = 1_073_741_824

/**
 * The largest folded result that is kept in memory, in bytes. A larger one is kept in a file that only the user can read.
 */
export const IN_MEMORY_BYTES = 65_536

/** How long after its start a gateway removes the files that killed gateways have left. */
export const SWEEP_AFTER_MS = 5_000

/** The largest folded result that gateways share, in bytes. Only the gateway that has a larger one can read it. */
export const MAX_SHARED_BYTES = 16_777_216

/** How many folded results gateways share. */
export const MAX_SHARED = 10_000

/** After how many shared results a gateway checks whether there are too many. */
export const ROOM_AFTER = 100

/** After how many shared bytes a gateway checks whether there are too many. */
export const ROOM_AFTER_BYTES = 67_108_864
