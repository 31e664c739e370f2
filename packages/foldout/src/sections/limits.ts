/** The longest front matter of a `SKILL.md` that is read, in characters. */
export const MAX_FRONT_MATTER = 256 * 1024

/** The largest `SKILL.md` that is read, in bytes. */
export const MAX_SKILL_BYTES = 1024 * 1024

/** The largest other file of a skill that is shown, in bytes. A larger one is listed without its content. */
export const MAX_SKILL_FILE_BYTES = 200_000

/** The maximum number of files in a skill. */
export const MAX_SKILL_FILES = 1_000
