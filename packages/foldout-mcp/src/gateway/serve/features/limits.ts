/** A server with more resource templates is taken to have every URI. Comparing all templates with all URIs would take too long. */
export const MAX_COMPARED_TEMPLATES = 100
/** How many pages of a server's list of skills are read. */
export const MAX_SKILL_PAGES = 100
/** How many skills of a server, and of all servers together, are known. */
export const MAX_SKILLS = 10_000
