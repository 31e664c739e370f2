import { isPlainObject } from '../../../core/json/json.ts'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import type { Searchable, SearchField } from '../contract.ts'

/** The fields of a tool, in the order in which the index keeps them. */
export const FIELDS = [
  'name',
  'source',
  'description',
  'tags',
  'category',
  'parameters',
] as const satisfies SearchField[]

/** What stands before the first separator of a name is what the tool comes from: `github/search`, `mail: send`. */
const PREFIXED = /^(.*?\S) ?(?:\/|:+|__|\.(?=\p{L})) ?(.*?\S)$/su
const PLAIN = /^[ -~]*$/
const DEEPEST_SCHEMA = 4
const MOST_ENUM_VALUES = 64

/** The text of each field of a tool, in the order of `FIELDS`. */
export function getFieldTexts(tool: Searchable): readonly string[] {
  const { source, own } = partsOfName(tool)
  const name = tool.title === undefined || spelledAlike(tool.title, own) ? own : `${own} ${tool.title}`
  // A category that only repeats the source says nothing more, and would count twice.
  const category = tool.category === undefined || tool.category === source ? '' : tool.category
  return [name, source, tool.description, tool.tags.join(' , '), category, parameterText(tool.inputSchema)]
}

/** What a tool belongs to, for a reader who is to be told where to look. */
export function getGroup(tool: Searchable): string | undefined {
  return tool.category ?? (partsOfName(tool).source || undefined)
}

function partsOfName(tool: Searchable): { readonly source: string; readonly own: string } {
  if (tool.source !== undefined) return { source: tool.source, own: tool.declared }
  const prefixed = PREFIXED.exec(tool.declared)
  return prefixed ? { source: prefixed[1]!, own: prefixed[2]! } : { source: '', own: tool.declared }
}

/** A name without case and separators: `getWeather`, `get_weather` and `Get weather` are one. */
export function nameKey(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '')
}

function spelledAlike(a: string, b: string): boolean {
  return nameKey(a) === nameKey(b)
}

/** Names, descriptions and choices of all parameters. The telling words of a tool that does many things are its choices. */
export function parameterText(schema: JsonSchema): string {
  const texts: string[] = []
  collectParameters(schema, texts, 0)
  return texts.join(' , ')
}

function collectParameters(schema: unknown, texts: string[], depth: number): void {
  if (!isPlainObject(schema) || depth > DEEPEST_SCHEMA) return
  const { properties, items, anyOf, oneOf, allOf } = schema
  const choices = schema['enum']
  if (Array.isArray(choices)) {
    for (const choice of choices.slice(0, MOST_ENUM_VALUES)) if (typeof choice === 'string') texts.push(choice)
  }
  if (typeof schema['const'] === 'string') texts.push(schema['const'])
  if (isPlainObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      texts.push(name)
      if (isPlainObject(property) && typeof property['description'] === 'string') texts.push(property['description'])
      collectParameters(property, texts, depth + 1)
    }
  }
  collectParameters(items, texts, depth + 1)
  for (const several of [anyOf, oneOf, allOf]) {
    if (Array.isArray(several)) for (const one of several) collectParameters(one, texts, depth + 1)
  }
}
