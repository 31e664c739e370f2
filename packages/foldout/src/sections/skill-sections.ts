import { escapeTemplate } from '../core/template.ts'
import { defineSection, type AnySection, type Section } from '../prompt/definition/section.ts'
import { MAX_SKILL_FILE_BYTES } from './skills/limits.ts'
import { decodeText, readSkills, type ReadSkillsOptions } from './skills/read-skills.ts'
import type { Skill, SkillFile, SkillSource } from './skills/skill.ts'

/**
 * Options of {@link skillSections}.
 *
 * @example
 * ```ts
 * const options: SkillSectionsOptions = { folder: 'skills', onBroken: (error) => console.warn(error.message) }
 * const skills = await skillSections(createHostFilesystem('.'), options)
 * skills.map(({ key }) => key) // => [ 'refunds' ]
 * ```
 */
export type SkillSectionsOptions = ReadSkillsOptions

/**
 * Creates a section for each skill in a folder. It shows the skill's description while folded, and its text when open. The
 * skill's files are folded sections below it.
 *
 * @example
 * ```ts
 * const skills = await skillSections(createHostFilesystem('skills'))
 * const prompt = definePrompt({ ns: 'agents', key: 'support', sections: [role, ...skills] })
 * ```
 */
export async function skillSections(
  source: SkillSource,
  options: SkillSectionsOptions = {},
): Promise<readonly Section<{}, string>[]> {
  const sections: Section<{}, string>[] = []
  for (const skill of await readSkills(source, options)) sections.push(await skillSection(skill))
  return sections
}

async function skillSection({ key, name, description, body, files }: Skill): Promise<Section<{}, string>> {
  const children: AnySection[] = []
  const keys = new Set<string>()
  for (const file of files) children.push(await fileSection(file, keys))
  // Literal text: a skill may mention ${placeholders} that do not belong to the prompt.
  return defineSection({
    key,
    title: name,
    // If a custom renderer returned nothing, the section would be left out.
    render: () => body || description,
    summary: escapeTemplate(description),
    visibility: 'summary',
    children,
  })
}

async function fileSection(file: SkillFile, keys: Set<string>): Promise<Section<{}, string>> {
  const name = toOneLine(file.path)
  const text = await readText(file)
  const size = `${Math.max(1, Math.ceil((file.size ?? 0) / 1024))} KB`
  const shown = text === '' ? '(empty)' : (text ?? `This file is not text, or is too long to show (${size}).`)
  return defineSection({
    key: freeKey(name, keys),
    title: name,
    render: () => (text === undefined || name.endsWith('.md') ? shown : addFence(shown, name)),
    summary: escapeTemplate(`The file ${name}, ${size}.`),
    visibility: 'summary',
  })
}

/** Returns `undefined` for a file that is not text. */
async function readText(file: SkillFile): Promise<string | undefined> {
  if ((file.size ?? 0) > MAX_SKILL_FILE_BYTES) return undefined
  return decodeText(await file.read())?.trimEnd()
}

/** Turns a file name into a section title. Line breaks in it would start new lines in the prompt. */
function toOneLine(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

const MAX_NAME_IN_KEY = 200

/** Derives a key from a file name. A number distinguishes equal keys. */
function freeKey(name: string, taken: Set<string>): string {
  const base =
    name
      .slice(0, MAX_NAME_IN_KEY)
      .toLowerCase()
      .replaceAll(/[^a-z0-9_]+/g, '-')
      .replaceAll(/^[-_]+|[-_]+$/g, '')
      .slice(0, 60) || 'file'
  let key = base
  for (let number = 2; taken.has(key); number++) key = `${base}-${number}`
  taken.add(key)
  return key
}

function addFence(text: string, name: string): string {
  let longest = 2
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length)
  const fence = '`'.repeat(longest + 1)
  const language = /\.(\w+)$/.exec(name)?.[1] ?? ''
  return `${fence}${language}\n${text}\n${fence}`
}
