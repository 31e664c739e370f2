/** The longest front matter of a `SKILL.md` that is read, in characters. */
export const MAX_FRONT_MATTER = 256 * 1024

/** The largest `SKILL.md` that is read, in bytes. */
export const MAX_SKILL_BYTES = 1024 * 1024

/** The largest other file of a skill that is shown, in bytes. A larger one is listed without its content. */
export const MAX_SKILL_FILE_BYTES = 200_000

/** The maximum number of files in a skill. */
export const MAX_SKILL_FILES = 10_000

/** The maximum number of warnings about the front matter of one skill. */
export const MAX_SKILL_WARNINGS = 20

/** How many levels of folders are searched for skills. */
export const MAX_SKILL_FOLDER_DEPTH = 8

/** How many folders of a place are searched for skills. */
export const MAX_SKILL_FOLDERS = 20_000

/** How many folders and files are looked at at the same time. */
export const SKILLS_READ_TOGETHER = 16

/** The maximum number of tools that a skill can name. */
export const MAX_SKILL_TOOLS = 100

/** How many files the text of a skill lists. The others can be read, too. */
export const SKILL_FILES_SHOWN = 20

/** The shortest part of a description in the list of skills. With less room, skills are grouped by their folders. */
export const MIN_SKILL_DESCRIPTION = 60

/** The largest result of a skill's script that a model reads, in characters. */
export const MAX_SCRIPT_OUTPUT = 100_000

/** The largest list of skills of a website that is read, in bytes. */
export const MAX_SKILL_INDEX_BYTES = 4 * 1024 * 1024

/** How many skills of a website are listed. */
export const MAX_WEB_SKILLS = 10_000
