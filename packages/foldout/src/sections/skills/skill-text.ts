import { deferPattern } from '../../core/defer-pattern.ts'
import { createBytesHash } from '../../core/hash.ts'
import { decodeText, nameSome } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { SessionReader } from '../../session/session.ts'
import { MAX_SKILL_FILE_BYTES, SKILL_FILES_SHOWN } from './limits.ts'
import type { TrustSkill } from './read-skills.ts'
import type { Skill, SkillFile } from './skill.ts'
import { fillArguments, getSkillUse } from './skill-state.ts'

/** What is said below the text of a skill, besides its files. */
export interface SkillNotes {
  /** Whether the model's host has file tools of its own, so that the skill's folder is of use. */
  readonly showFolder: boolean
  readonly missingTools: readonly string[]
}

/** Returns what an open skill shows. */
export function formatSkill(skill: Skill, notes: SkillNotes, session: SessionReader): string {
  const use = getSkillUse(session, skill.key)
  const body = use.body ?? (!skill.load && skill.body)
  if (body === false) return `${skill.description}\n\n[The text of this skill is not here yet. Read the section again.]`
  const { missingTools } = notes
  const lines = [
    notes.showFolder && skill.folder !== undefined && `Folder of this skill: ${toLine(skill.folder)}`,
    formatFiles(skill),
    missingTools.length > 0 && `Tools of this skill that are not available here: ${nameSome(missingTools, 20)}.`,
  ].filter((line) => typeof line === 'string' && line !== '')
  const text = fillArguments(body || skill.description, use.arguments)
  if (lines.length === 0) return text
  return `${text}\n\n---\n${lines.join('\n')}`
}

function formatFiles({ key, files }: Skill): string {
  if (files.length === 0) return ''
  const named = files.map((file) => `${key}/${toLine(file.path)}${formatSize(file)}`)
  return `Files of this skill, which are read by their paths, as sections are by their keys: ${nameSome(named, SKILL_FILES_SHOWN)}.`
}

function formatSize({ size }: SkillFile): string {
  if (size === undefined) return ''
  return ` (${Math.max(1, Math.ceil(size / 1024))} KB)`
}

const getBreaks = deferPattern(String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+`, 'gu')

/** Line breaks in a name would start new lines in the prompt. */
export function toLine(name: string): string {
  return toVisibleText(name).replaceAll(getBreaks(), ' ')
}

/** Finds a file of a skill by the path that a text names. */
export async function findSkillFile(skill: Skill, path: string): Promise<SkillFile | undefined> {
  let name = path
  if (skill.folder !== undefined && `/${path}`.startsWith(`${skill.folder}/`)) name = path.slice(skill.folder.length)
  return skill.files.find((file) => file.path === name) ?? (await skill.findFile?.(name))
}

/** Reads a file of a skill for a model. A skill inside the skill needs trust of its own. */
export async function readSkillFile(
  skill: Skill,
  path: string,
  trust: TrustSkill | undefined,
): Promise<string | undefined> {
  const file = await findSkillFile(skill, path)
  if (!file) return undefined
  const size = file.size ?? 0
  const shown = `${skill.key}/${toLine(file.path)}`
  if (/(?:^|\/)skill\.md$/i.test(file.path) && !(await isTrusted(skill, file, trust)))
    return `The file ${shown} is a skill of its own, which the user has not trusted.`
  if (size > MAX_SKILL_FILE_BYTES)
    return `The file ${shown} is too long to show${formatSize(file)}; at most ${MAX_SKILL_FILE_BYTES / 1000} KB are shown.`
  const bytes = await file.read()
  const text = bytes.length <= MAX_SKILL_FILE_BYTES && decodeText(bytes)
  if (text === false || text === undefined)
    return `The file ${shown} is not text, or too long to show${formatSize(file)}.`
  return toVisibleText(text).trimEnd() || `The file ${shown} is empty.`
}

async function isTrusted(skill: Skill, file: SkillFile, trust: TrustSkill | undefined): Promise<boolean> {
  if (!trust) return skill.scope === 'program' || skill.scope === 'user'
  const hash = createBytesHash()
  hash.update(await file.read())
  const name = `${skill.name}/${file.path}`
  return trust({ name, digest: `sha256:${hash.digest()}`, scope: skill.scope, folder: skill.folder })
}
