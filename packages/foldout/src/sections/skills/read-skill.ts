import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import type { Json } from '../../core/json/json.ts'
import { KEY_PATTERN, shorten } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { MAX_FRONT_MATTER } from './limits.ts'
import { readFrontMatter, splitFrontMatter, type FrontMatter } from './front-matter.ts'
import { getField, readMetadata } from './metadata.ts'
import type { SkillText } from './skill.ts'

/** Lengths of the format; longer ones are used, with a warning. */
const LONGEST_NAME = 64
const LONGEST_DESCRIPTION = 1024

/**
 * Parses a `SKILL.md`: YAML between two lines of `---`, then Markdown. It accepts what other clients accept, and says in
 * `warnings` what is wrong. `path` is used in messages, and the folder in it names a skill without a name. Requires the
 * package `yaml`.
 *
 * @example
 * ```ts
 * const skill = await readSkill('---\nname: refunds\ndescription: How to refund.\n---\nAsk first.', 'SKILL.md')
 * skill.body // => 'Ask first.'
 * ```
 */
export async function readSkill(text: string, path: string): Promise<SkillText> {
  const invalid = (fault: string, cause?: unknown): FoldoutError =>
    new FoldoutError('skill-invalid', `${path}: ${fault}`, cause === undefined ? undefined : { cause })
  const split = splitFrontMatter(text)
  if (split === undefined)
    throw invalid("it does not begin with front matter. Put 'name' and 'description' between two lines of ---.")
  if (split.front.length > MAX_FRONT_MATTER) {
    const limit = MAX_FRONT_MATTER.toLocaleString('en')
    throw invalid(`its front matter is longer than ${limit} characters. Move everything that is not metadata below it.`)
  }
  let front: FrontMatter
  try {
    front = await readFrontMatter(split.front)
  } catch (error) {
    if (error instanceof FoldoutError) throw error
    throw invalid(`its front matter is not valid YAML: ${shorten(getErrorMessage(error), 300)}`, error)
  }
  const { fields } = front
  const description = toText(getField(fields, 'description'))
  if (description === '')
    throw invalid("its front matter needs a 'description': what the skill does and when to use it.")
  const folder = path.split('/').at(-2) ?? ''
  const given = toText(getField(fields, 'name')).replaceAll(/\s+/g, ' ')
  const name = given || toVisibleText(folder)
  const key = toKey(name)
  if (key === '') throw invalid("its front matter needs a 'name' of lowercase letters, digits and hyphens.")
  const warnings = [...front.warnings, ...findFaults({ given, key, folder, description })]
  // A reviewer of a skill must see everything that the model reads.
  const body = toVisibleText(split.body).trim()
  return { name: shorten(name, 200), key, description, ...readMetadata(fields), fields, body, warnings }
}

/** Numbers and truth values are texts that somebody forgot to quote. */
function toText(value: Json | undefined): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return ''
  return toVisibleText(value).trim()
}

/** Returns a text as the key of a section; empty if nothing is left. */
export function toKey(text: string): string {
  if (KEY_PATTERN.test(text)) return text
  return text
    .slice(0, 200)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+/g, '')
    .slice(0, 64)
    .replaceAll(/[-_]+$/g, '')
}

function findFaults(skill: {
  readonly given: string
  readonly key: string
  readonly folder: string
  readonly description: string
}): readonly string[] {
  const { given, key, folder, description } = skill
  const shown = shorten(given)
  const faults: string[] = []
  if (given === '') faults.push(`It has no name; its folder names it '${shorten(folder)}'.`)
  else if (given !== key)
    faults.push(`The name '${shown}' is not lowercase letters, digits and hyphens; its key is '${key}'.`)
  else if (folder !== '' && folder !== given)
    faults.push(`The name '${shown}' differs from its folder '${shorten(folder)}'.`)
  if (given.length > LONGEST_NAME) faults.push(`The name has ${given.length} characters; ${LONGEST_NAME} are allowed.`)
  if (description.length > LONGEST_DESCRIPTION)
    faults.push(`The description has ${description.length} characters; ${LONGEST_DESCRIPTION} are allowed.`)
  return faults
}
