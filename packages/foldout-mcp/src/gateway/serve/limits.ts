/** A server with more resource templates is taken to have every URI. Comparing all templates with all URIs would take too long. */
export const MAX_COMPARED_TEMPLATES = 100

/** How much of the instructions of all servers clients get, in bytes. About 300 tokens. */
export const ALL_INSTRUCTIONS_BYTES = 1_200

/** How much of the instructions of one server clients get, in bytes. */
export const INSTRUCTIONS_BYTES = 400

/** With a smaller share of the bytes for each server, clients get no instructions of servers. */
export const FEWEST_INSTRUCTIONS_BYTES = 80
