/** How many characters a line of a saved comparison may have. */
export const MAX_LINE_CHARACTERS = 256 * 1024 * 1024
