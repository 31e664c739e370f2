import { isPlainObject } from '../../../core/json/json.ts'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import type { Searchable, SearchField } from '../contract.ts'
import { MAX_LONG_FIELD_CHARACTERS, MAX_SCHEMA_NODES, MAX_SHORT_FIELD_CHARACTERS } from '../limits.ts'
import { cutText } from './read-query.ts'

/** The fields of a tool, in the order in which the index keeps them. */
export const FIELDS = [
  'name',
  'source',
  'description',
  'tags',
  'category',
  'parameters',
] as const satisfies SearchField[]

/**
 * What stands before the first separator of a name is what the tool comes from: `github/search`, `mail: send`. Only for
 * names that do not end in a blank, which it would look for from each separator.
 */
const PREFIXED = /^(.*?\S) ?(?:\/|:+|__|\.(?=\p{L})) ?(.*?\S)$/su
const PLAIN = /^[ -~]*$/
const SEPARATOR = ' , '
const DEEPEST_SCHEMA = 4
const MOST_ENUM_VALUES = 64

/** The text of each field of a tool, in the order of `FIELDS`, each cut to what is indexed of it. */
export function getFieldTexts(tool: Searchable): readonly string[] {
  const { source, own } = splitName(tool)
  const title = tool.title === undefined ? undefined : cutText(tool.title, MAX_SHORT_FIELD_CHARACTERS)
  const name = title === undefined || isSpelledAlike(title, own) ? own : `${own} ${title}`
  // A category that only repeats the source says nothing more, and would count twice.
  const category = tool.category === undefined || tool.category === source ? '' : tool.category
  return [
    cutText(name, MAX_SHORT_FIELD_CHARACTERS),
    source,
    cutText(tool.description, MAX_LONG_FIELD_CHARACTERS),
    joinTexts(tool.tags, MAX_SHORT_FIELD_CHARACTERS),
    cutText(category, MAX_SHORT_FIELD_CHARACTERS),
    getParameterText(tool.inputSchema),
  ]
}

/** What a tool belongs to, for a reader who is to be told where to look. */
export function getGroup(tool: Searchable): string | undefined {
  return tool.category ?? (splitName(tool).source || undefined)
}

function splitName(tool: Searchable): { readonly source: string; readonly own: string } {
  const declared = cutText(tool.declared, MAX_SHORT_FIELD_CHARACTERS)
  if (tool.source !== undefined) return { source: cutText(tool.source, MAX_SHORT_FIELD_CHARACTERS), own: declared }
  const [, source = '', own = declared] = (!/\s$/.test(declared) && PREFIXED.exec(declared)) || []
  return { source, own }
}

/** A name without case and separators: `getWeather`, `get_weather` and `Get weather` are one. */
export function nameKey(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '')
}

function isSpelledAlike(a: string, b: string): boolean {
  return nameKey(a) === nameKey(b)
}

/** Names, descriptions and choices of all parameters. The telling words of a tool that does many things are its choices. */
export function getParameterText(schema: JsonSchema): string {
  const collected: Collected = { texts: [], characters: 0, nodes: 0 }
  collectParameters(schema, collected, 0)
  return joinTexts(collected.texts, MAX_LONG_FIELD_CHARACTERS)
}

/** What was found of a schema so far. */
interface Collected {
  readonly texts: string[]
  characters: number
  nodes: number
}

function isFull({ characters, nodes }: Collected): boolean {
  return characters >= MAX_LONG_FIELD_CHARACTERS || nodes >= MAX_SCHEMA_NODES
}

function collectParameters(schema: unknown, collected: Collected, depth: number): void {
  if (!isPlainObject(schema) || depth > DEEPEST_SCHEMA || isFull(collected)) return
  collected.nodes++
  const { properties, items, anyOf, oneOf, allOf } = schema
  const choices = schema['enum']
  if (Array.isArray(choices)) for (const choice of choices.slice(0, MOST_ENUM_VALUES)) collectText(choice, collected)
  collectText(schema['const'], collected)
  if (isPlainObject(properties)) {
    for (const name of Object.keys(properties)) {
      if (isFull(collected)) return
      const property = properties[name]
      collectText(name, collected)
      if (isPlainObject(property)) collectText(property['description'], collected)
      collectParameters(property, collected, depth + 1)
    }
  }
  collectParameters(items, collected, depth + 1)
  for (const several of [anyOf, oneOf, allOf]) {
    if (!Array.isArray(several)) continue
    for (const one of several) {
      if (isFull(collected)) return
      collectParameters(one, collected, depth + 1)
    }
  }
}

function collectText(text: unknown, collected: Collected): void {
  if (typeof text !== 'string' || isFull(collected)) return
  collected.texts.push(text)
  collected.characters += text.length + SEPARATOR.length
}

/** Texts with something between them, so that no two words stand side by side that did not, as long as they fit. */
function joinTexts(texts: readonly string[], most: number): string {
  const kept: string[] = []
  let characters = 0
  for (const text of texts) {
    if (characters >= most) break
    kept.push(cutText(text, most - characters))
    characters += text.length + SEPARATOR.length
  }
  return kept.join(SEPARATOR)
}
