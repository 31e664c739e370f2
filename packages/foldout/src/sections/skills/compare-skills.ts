import { isObject } from 'foldout-shared/values'
import { FoldoutError } from '../../core/errors.ts'
import { nameSome, shorten } from '../../core/text.ts'
import { computeSkillDigest } from './read-skills.ts'
import { toLine } from './skill-text.ts'
import type { Skill } from './skill.ts'

/**
 * What a `skills-lock.json` says about a skill.
 *
 * @example
 * ```ts
 * const isFine = ({ state }: LockedSkill): boolean => state === 'same'
 * ```
 */
export interface LockedSkill {
  readonly name: string
  /** Where it was installed from, such as `acme/skills`. */
  readonly source: string
  /** Whether it is what was installed, has changed, or is not there. */
  readonly state: 'same' | 'changed' | 'missing'
}

/**
 * Compares skills with a `skills-lock.json`, which has a digest for each that was installed. Skills that are not in it
 * were written here.
 *
 * @example
 * ```ts
 * const lock = JSON.stringify({ version: 1, skills: { invoices: { source: 'acme/skills', computedHash: '1f' } } })
 * await checkSkillsLock([], lock) // => [ { name: 'invoices', source: 'acme/skills', state: 'missing' } ]
 * ```
 */
export async function checkSkillsLock(skills: readonly Skill[], lock: string): Promise<readonly LockedSkill[]> {
  const known = new Map([
    ...skills.map((skill) => [skill.key, skill] as const),
    ...skills.map((skill) => [skill.name, skill] as const),
  ])
  const found: LockedSkill[] = []
  for (const [name, entry] of Object.entries(readLock(lock))) {
    if (!isObject(entry)) continue
    const { source, computedHash } = entry
    const skill = known.get(name)
    const digest = skill && (await computeSkillDigest(skill))
    let state: LockedSkill['state'] = 'missing'
    if (digest !== undefined)
      state = typeof computedHash === 'string' && digest === `sha256:${computedHash}` ? 'same' : 'changed'
    found.push({ name: toShown(name), source: toShown(source), state })
  }
  return found
}

/** People read what the file says, which somebody else may have written. */
function toShown(value: unknown): string {
  return typeof value === 'string' ? shorten(toLine(value), 200) : ''
}

function readLock(text: string): Readonly<Record<string, unknown>> {
  let lock: unknown
  try {
    lock = JSON.parse(text)
  } catch (cause) {
    throw new FoldoutError('skill-invalid', 'The skills-lock.json is not JSON. Install the skills again.', { cause })
  }
  if (isObject(lock) && isObject(lock['skills'])) return lock['skills']
  throw new FoldoutError('skill-invalid', "The skills-lock.json has no 'skills'. Install the skills again.")
}

/**
 * Describes to the model what has changed since skills were read, to be put at the end of a conversation: the text before
 * it, and so the provider's cache, stays as it is. Undefined if nothing has changed.
 *
 * @example
 * ```ts
 * const skills = await readSkills(createHostFilesystem('skills'))
 * describeSkillChanges([], skills) // => 'The skills have changed. New: refunds (How to refund an order.).'
 * ```
 */
export function describeSkillChanges(before: readonly Skill[], after: readonly Skill[]): string | undefined {
  const old = new Map(before.map((skill) => [skill.key, skill]))
  const now = new Set(after.map(({ key }) => key))
  const isForModel = ({ isForModels }: Skill): boolean => isForModels
  const added = after.filter((skill) => isForModel(skill) && !old.has(skill.key))
  const changed = after.filter(
    (skill) => isForModel(skill) && (old.get(skill.key)?.digest ?? skill.digest) !== skill.digest,
  )
  const gone = before.filter((skill) => isForModel(skill) && !now.has(skill.key))
  const parts = [
    formatSkills('New', added, ({ key, description }) => `${key} (${shorten(description, 200)})`),
    formatSkills('Changed, read again before use', changed, ({ key }) => key),
    formatSkills('Gone', gone, ({ key }) => key),
  ].filter((part) => part !== '')
  if (parts.length === 0) return undefined
  return `The skills have changed. ${parts.join(' ')}`
}

function formatSkills(what: string, skills: readonly Skill[], format: (skill: Skill) => string): string {
  if (skills.length === 0) return ''
  return `${what}: ${nameSome(skills.map(format), 20)}.`
}
