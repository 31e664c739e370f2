import { isPlainObject } from '../json/json.ts'
import { resolvePointer } from '../json/json-pointer.ts'

type Schema = Readonly<Record<string, unknown>>

/** What a keyword's value must be, in words, and whether one is. */
interface Rule {
  readonly expected: string
  fits(value: unknown): boolean
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

const anyValue: Rule = { expected: 'value', fits: () => true }
const aList: Rule = { expected: 'list', fits: (value) => Array.isArray(value) }
const anObject: Rule = { expected: 'object', fits: isPlainObject }
const aNumber: Rule = { expected: 'number', fits: (value) => typeof value === 'number' }
const aCount: Rule = { expected: 'count', fits: (value) => Number.isInteger(value) && Number(value) >= 0 }
const names: Rule = {
  expected: 'list of names',
  fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}
const aPattern: Rule = { expected: 'regular expression', fits: isPattern }
const patterns: Rule = {
  expected: 'object whose names are regular expressions',
  fits: (value) => isPlainObject(value) && Object.keys(value).every(isPattern),
}

/** How the schemas lie in a keyword's value: it is one, a list of them, or each has a name. */
type Holds = 'one' | 'many' | 'named' | 'none'

const KEYWORDS: ReadonlyMap<string, { readonly rule: Rule; readonly holds: Holds }> = new Map(
  (
    [
      [anyValue, 'one', 'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties'],
      [anyValue, 'one', 'propertyNames not if then else'],
      [aList, 'many', 'allOf anyOf oneOf prefixItems'],
      [anObject, 'named', 'properties $defs definitions dependentSchemas'],
      [patterns, 'named', 'patternProperties'],
      [aList, 'none', 'enum'],
      [names, 'none', 'required'],
      [aPattern, 'none', 'pattern'],
      [aNumber, 'none', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'],
      [aCount, 'none', 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'],
    ] as const
  ).flatMap(([rule, holds, keywords]) => keywords.split(' ').map((keyword) => [keyword, { rule, holds }] as const)),
)

/** Why a JSON Schema cannot be used to check a value, as a sentence that names the place; nothing if it can. */
export function schemaFault(root: unknown): string | undefined {
  const seen = new Set<unknown>()
  const look = (schema: unknown): Fault | undefined => {
    if (typeof schema === 'boolean' || seen.has(schema)) return undefined
    if (!isPlainObject(schema)) return { path: '', what: 'is no schema' }
    seen.add(schema)
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword]
      const what = keywordFault(root, keyword, value)
      if (what !== undefined) return { path: '', what }
      const holds = KEYWORDS.get(keyword)?.holds ?? 'none'
      const fault = holds === 'none' ? undefined : lookInside(keyword, value, holds)
      if (fault) return fault
    }
    return undefined
  }
  const lookInside = (keyword: string, value: unknown, holds: Holds): Fault | undefined => {
    // A list of items is the older form of a tuple.
    if (holds === 'one' && !(keyword === 'items' && Array.isArray(value))) return within(look(value), keyword)
    for (const [name, part] of Object.entries(value as Schema)) {
      const fault = look(part)
      if (!fault) continue
      return within(
        fault,
        holds !== 'named' ? `${keyword}[${name}]` : keyword === 'properties' ? name : `${keyword}.${name}`,
      )
    }
    return undefined
  }
  try {
    const fault = look(root)
    return fault && `${fault.path === '' ? 'it' : `'${fault.path}'`} ${fault.what}.`
  } catch {
    return 'it is nested too deeply.'
  }
}

// The path is put together on the way back, so that looking through what is fine costs no strings.
interface Fault {
  readonly path: string
  readonly what: string
}

function within(fault: Fault | undefined, name: string): Fault | undefined {
  return fault && { path: fault.path === '' ? name : `${name}.${fault.path}`, what: fault.what }
}

function keywordFault(root: unknown, keyword: string, value: unknown): string | undefined {
  if (keyword === 'type')
    return [value].flat().every((name) => TYPES.has(name))
      ? undefined
      : `has the type ${JSON.stringify(value)}, which JSON Schema does not have`
  if (keyword === '$ref') {
    if (typeof value !== 'string') return "has a '$ref' that is no text"
    return resolves(root, value) ? undefined : `refers to ${value}, which is not there`
  }
  const rule = KEYWORDS.get(keyword)?.rule
  return !rule || rule.fits(value) ? undefined : `has a '${keyword}' that is no ${rule.expected}`
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false
  try {
    RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

function resolves(root: unknown, reference: string): boolean {
  return resolvePointer(root, reference) !== undefined || isNamed(root, reference.replace(/^#/, ''), new Set())
}

/** Whether a schema in a document bears a name, which other references than pointers go by. */
function isNamed(value: unknown, name: string, seen: Set<unknown>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  const { $id: id, $anchor: anchor } = value as { readonly $id?: unknown; readonly $anchor?: unknown }
  return id === name || anchor === name || Object.values(value).some((inner) => isNamed(inner, name, seen))
}
