/**
 * How long the gateway's own part of the instructions may become by what servers say, in bytes. Some clients read 2,048 characters, and
 * how to find tools comes first and takes up to 400.
 */
export const INSTRUCTIONS_BYTES = 1_640

/** How much the names of all servers may take, in bytes, if the user wrote no instructions: about 120 names. */
export const MOST_NAMES_BYTES = 1_500

/** How much they may take however long the user's own instructions are: about 60 names, or 200 tokens. */
export const FEWEST_NAMES_BYTES = 800

/** How much of the instructions of one server clients get, in bytes. */
export const SERVER_INSTRUCTIONS_BYTES = 400

/** How much of them is read, in characters. */
export const READ_CHARACTERS = 20_000

/** How much the list of skills may take, in bytes. */
export const SKILLS_BYTES = 700

/** How much of a skill's description it has at least, in bytes. With less, it leaves skills out. */
export const FEWEST_SKILL_BYTES = 40

/** With a smaller share of the bytes for each server, clients get no instructions of servers. */
export const FEWEST_INSTRUCTIONS_BYTES = 80
