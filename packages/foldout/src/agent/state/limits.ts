/** How deep runs that answer questions about sections can ask further ones. */
export const MAX_DELEGATE_DEPTH = 4
