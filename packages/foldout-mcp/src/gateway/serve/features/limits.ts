/** A server with more resource templates is taken to have every URI. Comparing all templates with all URIs would take too long. */
export const MAX_COMPARED_TEMPLATES = 100
