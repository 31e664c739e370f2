/** How many characters of one text the inspector's page shows. The rest is counted. */
export const MAX_SHOWN_CHARACTERS = 100_000
