import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { importPeer } from '../core/peer.ts'
import { KEY_PATTERN } from '../core/text.ts'

/** What a `SKILL.md` says. */
export interface Skill {
  readonly name: string
  readonly description: string
  /** The text below the front matter. */
  readonly body: string
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/

/** Reads a `SKILL.md`: YAML between two lines of `---`, then Markdown. `path` is for what is said of mistakes. */
export async function readSkill(text: string, path: string): Promise<Skill> {
  const invalid = (fault: string, cause?: unknown): FoldoutError =>
    new FoldoutError('skill-invalid', `${path}: ${fault}`, cause === undefined ? undefined : { cause })
  const parts = FRONT_MATTER.exec(text)
  if (!parts)
    throw invalid("it does not begin with front matter. Put 'name' and 'description' between two lines of ---.")
  const { parse } = await importPeer('yaml', () => import('yaml'))
  let front: unknown
  try {
    front = parse(parts[1]!)
  } catch (error) {
    throw invalid(`its front matter is no YAML: ${getErrorMessage(error)}`, error)
  }
  const { name, description } = isPlainObject(front) ? front : {}
  if (typeof name !== 'string' || !KEY_PATTERN.test(name))
    throw invalid("its front matter needs a 'name' of 1 to 64 lower-case letters, digits, hyphens and underscores.")
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid("its front matter needs a 'description': what the skill does and when to use it.")
  return { name, description: description.trim(), body: parts[2]!.trim() }
}
