import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { importPeer } from '../core/peer.ts'
import { KEY_PATTERN, shorten } from '../core/text.ts'
import { toVisibleText } from '../core/visible-text.ts'
import { MAX_FRONT_MATTER } from './limits.ts'

/**
 * The content of a `SKILL.md`.
 *
 * @example
 * ```ts
 * const skill: Skill = { name: 'refunds', description: 'How to refund an order.', body: 'Ask for its number first.' }
 * ```
 */
export interface Skill {
  readonly name: string
  readonly description: string
  /** The text below the front matter. */
  readonly body: string
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/

/**
 * Parses a `SKILL.md`: YAML between two lines of `---`, then Markdown. `path` is used in error messages. Requires the
 * package `yaml`.
 *
 * @example
 * ```ts
 * const skill = await readSkill('---\nname: refunds\ndescription: How to refund.\n---\nAsk first.', 'SKILL.md')
 * skill.body // => 'Ask first.'
 * ```
 */
export async function readSkill(text: string, path: string): Promise<Skill> {
  const invalid = (fault: string, cause?: unknown): FoldoutError =>
    new FoldoutError('skill-invalid', `${path}: ${fault}`, cause === undefined ? undefined : { cause })
  const [, front, body = ''] = FRONT_MATTER.exec(text) ?? []
  if (front === undefined)
    throw invalid("it does not begin with front matter. Put 'name' and 'description' between two lines of ---.")
  if (front.length > MAX_FRONT_MATTER) {
    const limit = MAX_FRONT_MATTER.toLocaleString('en')
    throw invalid(`its front matter is longer than ${limit} characters. Move everything that is not metadata below it.`)
  }
  let fields: ReadonlyMap<unknown, unknown>
  try {
    fields = await readFields(front)
  } catch (error) {
    if (error instanceof FoldoutError) throw error
    throw invalid(`its front matter is not valid YAML: ${shorten(getErrorMessage(error), 300)}`, error)
  }
  const name = fields.get('name')
  const description = fields.get('description')
  if (typeof name !== 'string' || !KEY_PATTERN.test(name))
    throw invalid("its front matter needs a 'name' of 1 to 64 lowercase letters, digits, hyphens and underscores.")
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid("its front matter needs a 'description': what the skill does and when to use it.")
  // A reviewer of a skill must see everything that the model reads.
  return { name, description: toVisibleText(description).trim(), body: toVisibleText(body).trim() }
}

/** Parses the fields of the front matter. */
async function readFields(front: string): Promise<ReadonlyMap<unknown, unknown>> {
  const { isMap, isNode, isScalar, parseDocument } = await importPeer('yaml', () => import('yaml'))
  // The parser's check for duplicates takes quadratic time, so they are found below.
  const document = parseDocument(front, { uniqueKeys: false })
  const [error] = document.errors
  if (error) throw error
  const fields = new Map<unknown, unknown>()
  if (!isMap(document.contents)) return fields
  for (const { key, value } of document.contents.items) {
    const name: unknown = isScalar(key) ? key.value : key
    if (fields.has(name)) throw new TypeError(`the key '${shorten(String(name))}' occurs twice.`)
    const isRead = name === 'name' || name === 'description'
    fields.set(name, isRead && isNode(value) ? value.toJS(document) : undefined)
  }
  return fields
}
