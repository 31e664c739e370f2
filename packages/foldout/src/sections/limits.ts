/** The longest front matter of a `SKILL.md` that is read, in characters. */
export const MAX_FRONT_MATTER = 256 * 1024

/** The largest `SKILL.md` that is read, in bytes. */
export const MAX_SKILL_BYTES = 1024 * 1024

/** The largest other file of a skill that is shown, in bytes; a larger one is named and not shown. */
export const MAX_SKILL_FILE_BYTES = 200_000

/** The most files a skill may have. */
export const MAX_SKILL_FILES = 1_000
