import { deferPattern } from '../../../core/defer-pattern.ts'
import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import type { Searchable, SearchField } from '../contract.ts'
import {
  MAX_EMBEDDED_CHARACTERS,
  MAX_LONG_FIELD_CHARACTERS,
  MAX_SCHEMA_NODES,
  MAX_SHORT_FIELD_CHARACTERS,
} from '../limits.ts'
import { cutText } from '../../../core/text.ts'

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
 * The part of a name before its first separator is the source: `github/search`, `mail: send`. It is used only for names that do not
 * end in a blank, because it would look for the end from each separator.
 */
const getPrefixed = deferPattern(String.raw`^(.*?\S) ?(?:\/|:+|__|\.(?=\p{L})) ?(.*?\S)$`, 'su')
const PLAIN = /^[ -~]*$/
const SEPARATOR = ' , '
const DEEPEST_SCHEMA = 4
const MOST_ENUM_VALUES = 64

const NAME_SEPARATORS = /[\s_\-./:]+/
/** Where the case changes. Digits stay with their letters, as in `s3`, because models know many such names. */
const getCaseBoundary = deferPattern(String.raw`(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})`, 'u')
const getOthers = deferPattern(String.raw`[^\p{L}\p{N}\p{M}]+`, 'gu')

/** Gets the text of each field of a tool, in the order of `FIELDS`, cut to the part that is indexed. */
export function getFieldTexts(tool: Searchable): readonly string[] {
  const { source, own } = splitName(tool)
  const title = tool.title === undefined ? undefined : cutText(tool.title, MAX_SHORT_FIELD_CHARACTERS)
  const name = title === undefined || isSpelledAlike(title, own) ? own : `${own} ${title}`
  // A category that repeats the source adds nothing and would count twice.
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

/** Gets the group that a tool belongs to, as a hint where to look. */
export function getGroup(tool: Searchable): string | undefined {
  return tool.category ?? (splitName(tool).source || undefined)
}

function splitName(tool: Searchable): { readonly source: string; readonly own: string } {
  const declared = cutText(tool.declared, MAX_SHORT_FIELD_CHARACTERS)
  if (tool.source !== undefined) return { source: cutText(tool.source, MAX_SHORT_FIELD_CHARACTERS), own: declared }
  const [, source = '', own = declared] = (!/\s$/.test(declared) && getPrefixed().exec(declared)) || []
  return { source, own }
}

/**
 * Gets the text of a tool that an encoder reads: the words of its source and name, and the beginning of its description. More
 * of the description, tags and categories gained nothing on the development sets.
 */
export function getEncoderText(tool: Searchable): string {
  const { source, own } = splitName(tool)
  const title = cutText(tool.title ?? '', MAX_EMBEDDED_CHARACTERS)
  const name = splitIdentifiers(`${source} ${own} ${title === own ? '' : title}`)
  return `${name}. ${cutText(tool.description, MAX_EMBEDDED_CHARACTERS).trim()}`
}

/** `getWeather_now` → `get Weather now`. */
function splitIdentifiers(text: string): string {
  return text
    .split(NAME_SEPARATORS)
    .flatMap((run) => run.split(getCaseBoundary()))
    .filter((word) => word !== '')
    .join(' ')
}

/** Removes case and separators from a name: `getWeather`, `get_weather` and `Get weather` become the same. */
export function toNameKey(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  return name.normalize('NFKC').toLowerCase().replaceAll(getOthers(), '')
}

function isSpelledAlike(a: string, b: string): boolean {
  return toNameKey(a) === toNameKey(b)
}

/** Gets names, descriptions and choices of all parameters. For a tool that does many things, the choices say most. */
export function getParameterText(schema: JsonSchema): string {
  const collected: Collected = { texts: [], characters: 0, nodes: 0 }
  collectParameters(schema, collected, 0)
  return joinTexts(collected.texts, MAX_LONG_FIELD_CHARACTERS)
}

/** The texts found in a schema so far. */
interface Collected {
  readonly texts: string[]
  characters: number
  nodes: number
}

function isFull({ characters, nodes }: Collected): boolean {
  return characters >= MAX_LONG_FIELD_CHARACTERS || nodes >= MAX_SCHEMA_NODES
}

function collectParameters(schema: unknown, collected: Collected, depth: number): void {
  if (!isObject(schema) || depth > DEEPEST_SCHEMA || isFull(collected)) return
  collected.nodes++
  const { properties, items, anyOf, oneOf, allOf } = schema
  const choices = schema['enum']
  if (Array.isArray(choices)) for (const choice of choices.slice(0, MOST_ENUM_VALUES)) collectText(choice, collected)
  collectText(schema['const'], collected)
  if (isObject(properties)) {
    for (const name of Object.keys(properties)) {
      if (isFull(collected)) return
      const property = properties[name]
      collectText(name, collected)
      if (isObject(property)) collectText(property['description'], collected)
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

/** Joins texts as long as they fit, with a separator so that words of different texts do not count as adjacent. */
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
