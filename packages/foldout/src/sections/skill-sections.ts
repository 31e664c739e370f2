import { FoldoutError } from '../core/errors.ts'
import { escapeTemplate } from '../core/template.ts'
import { defineSection, type AnySection, type Section } from '../prompt/definition/section.ts'
import type { FileEntry, Filesystem } from '../files/filesystem.ts'
import { MAX_SKILL_BYTES, MAX_SKILL_FILE_BYTES, MAX_SKILL_FILES } from './limits.ts'
import { readSkill } from './skill.ts'

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
export interface SkillSectionsOptions {
  /** The folder that contains the skills, each in its own folder with a `SKILL.md`. Default: the root. */
  readonly folder?: string
  /** Called for each skill that cannot be used. Default: the first error is thrown. */
  readonly onBroken?: (error: FoldoutError) => void
}

const SKILL_FILE = 'SKILL.md'

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
  filesystem: Filesystem,
  options: SkillSectionsOptions = {},
): Promise<readonly Section<{}, string>[]> {
  const { folder = '', onBroken } = options
  const sections: Section<{}, string>[] = []
  const taken = new Map<string, string>()
  for (const entry of await filesystem.list(folder)) {
    const path = `${entry.path}/${SKILL_FILE}`
    const file = entry.kind === 'folder' ? await filesystem.stat(path) : undefined
    if (!file) continue
    try {
      if (file.size > MAX_SKILL_BYTES) {
        throw new FoldoutError(
          'skill-invalid',
          `${path}: it has ${file.size} bytes; at most ${MAX_SKILL_BYTES} are read. Move parts of it to other files next to it.`,
        )
      }
      const section = await skillSection(filesystem, entry.path)
      const other = taken.get(section.key)
      if (other !== undefined)
        throw new FoldoutError(
          'skill-invalid',
          `${path}: ${other} has the same name, '${section.key}'. Rename one of them.`,
        )
      taken.set(section.key, path)
      sections.push(section)
    } catch (error) {
      if (!onBroken || !(error instanceof FoldoutError)) throw error
      onBroken(error)
    }
  }
  return sections
}

async function skillSection(filesystem: Filesystem, folder: string): Promise<Section<{}, string>> {
  const path = `${folder}/${SKILL_FILE}`
  const { name, description, body } = await readSkill(await filesystem.read(path), path)
  const children: AnySection[] = []
  const keys = new Set<string>()
  for (const file of await listFilesBelow(filesystem, folder)) {
    if (file.path === path) continue
    children.push(await fileSection(filesystem, file, folder, keys))
  }
  // Literal text: a skill may mention ${placeholders} that do not belong to the prompt.
  return defineSection({
    key: name,
    title: name,
    // If a custom renderer returned nothing, the section would be left out.
    render: () => body || description,
    summary: escapeTemplate(description),
    visibility: 'summary',
    children,
  })
}

/** Lists all files in a folder and its subfolders, in order. Iterative, so deep folders cannot exhaust the stack. */
async function listFilesBelow(filesystem: Filesystem, folder: string): Promise<readonly FileEntry[]> {
  const files: FileEntry[] = []
  const waiting = (await filesystem.list(folder)).toReversed()
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    if (entry.kind === 'file') files.push(entry)
    else if (!entry.link) for (const inner of (await filesystem.list(entry.path)).toReversed()) waiting.push(inner)
    if (files.length > MAX_SKILL_FILES) {
      throw new FoldoutError(
        'skill-invalid',
        `${folder}: it has more than ${MAX_SKILL_FILES} files. Move files that the model does not need elsewhere.`,
      )
    }
  }
  return files
}

async function fileSection(
  filesystem: Filesystem,
  file: FileEntry,
  folder: string,
  keys: Set<string>,
): Promise<Section<{}, string>> {
  const name = toOneLine(file.path.slice(folder.length + 1))
  const text = await readText(filesystem, file)
  const size = `${Math.max(1, Math.ceil(file.size / 1024))} KB`
  const shown = text === '' ? '(empty)' : (text ?? `This file is not text, or is too long to show (${size}).`)
  return defineSection({
    key: freeKey(name, keys),
    title: name,
    render: () => (text === undefined || name.endsWith('.md') ? shown : addFence(shown, name)),
    summary: escapeTemplate(`The file ${name}, ${size}.`),
    visibility: 'summary',
  })
}

/** Returns `undefined` for a file that is not text: one that is not UTF-8 or contains a NUL character. */
async function readText(filesystem: Filesystem, file: FileEntry): Promise<string | undefined> {
  if (file.size > MAX_SKILL_FILE_BYTES) return undefined
  try {
    const text = await filesystem.read(file.path)
    const isText = !text.includes('\0') && !text.includes('\uFFFD')
    return isText ? text.trimEnd() : undefined
  } catch {
    return undefined
  }
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
