import { isObject } from 'foldout-shared/values'
import { compilePattern } from '../pattern/pattern.ts'
import { SchemaDocument, getSubschemas, type SchemaObject } from './check/document.ts'
import { shorten } from './check/wording.ts'

/** A rule for the value of a keyword: a description and a check. */
interface Rule {
  readonly expected: string
  fits(value: unknown): boolean
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

const aList: Rule = { expected: 'a list', fits: (value) => Array.isArray(value) }
const anObject: Rule = { expected: 'an object', fits: isObject }
const aNumber: Rule = { expected: 'a number', fits: (value) => typeof value === 'number' }
const aCount: Rule = {
  expected: 'a non-negative integer',
  fits: (value) => Number.isInteger(value) && Number(value) >= 0,
}
const names: Rule = {
  expected: 'a list of names',
  fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}
const aPattern: Rule = { expected: 'a regular expression', fits: isPattern }
const patterns: Rule = {
  expected: 'an object whose names are regular expressions',
  fits: (value) => isObject(value) && Object.keys(value).every(isPattern),
}

const RULES: ReadonlyMap<string, Rule> = new Map(
  (
    [
      [aList, 'allOf anyOf oneOf prefixItems enum'],
      [anObject, 'properties $defs definitions dependentSchemas'],
      [patterns, 'patternProperties'],
      [names, 'required'],
      [aPattern, 'pattern'],
      [aNumber, 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'],
      [aCount, 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'],
    ] as const
  ).flatMap(([rule, keywords]) => keywords.split(' ').map((keyword) => [keyword, rule] as const)),
)

/** A schema visited in a document. Paths are built only for reported problems. */
interface Visit {
  readonly schema: unknown
  readonly name: string
  readonly outer: Visit | undefined
  readonly depth: number
}

/** Deeper than any schema that people or generators write. */
const MAX_SCHEMA_DEPTH = 500

/**
 * Says why a JSON Schema cannot check values, as a sentence that names the location, or returns `undefined` if it can.
 */
export function schemaFault(root: unknown): string | undefined {
  const document = new SchemaDocument(root)
  for (const visit of visitSchemas(root)) {
    if (visit.depth > MAX_SCHEMA_DEPTH) return 'it is nested too deeply.'
    const what = describeFault(visit.schema, document)
    if (what !== undefined) return `${formatPlace(visit)} ${what}.`
  }
  return undefined
}

/**
 * Finds the valid patterns in a schema that cannot run in bounded time here, as sentences that name the location.
 * Values are not checked against these patterns.
 */
export function findUncheckedPatterns(root: unknown): readonly string[] {
  const notes: string[] = []
  for (const visit of visitSchemas(root)) {
    if (visit.depth > MAX_SCHEMA_DEPTH || notes.length === MAX_NOTES) break
    for (const pattern of getPatterns(visit.schema)) {
      const result = compilePattern(pattern)
      if ('problem' in result && result.problem === 'unsupported')
        notes.push(`${formatPlace(visit)} has the pattern ${shorten(pattern)}, which ${result.message}.`)
    }
  }
  return notes
}

const MAX_NOTES = 10

function getPatterns(schema: unknown): readonly string[] {
  if (!isObject(schema)) return []
  const { pattern, patternProperties } = schema
  const own = typeof pattern === 'string' ? [pattern] : []
  if (isObject(patternProperties)) return [...own, ...Object.keys(patternProperties)]
  return own
}

/** Visits all schemas of a document, outer ones first, in keyword order. */
function* visitSchemas(root: unknown): Generator<Visit> {
  const seen = new Set<unknown>()
  const open: Visit[] = [{ schema: root, name: '', outer: undefined, depth: 0 }]
  for (let visit = open.pop(); visit; visit = open.pop()) {
    const { schema, depth } = visit
    if (typeof schema === 'boolean' || seen.has(schema)) continue
    yield visit
    seen.add(schema)
    if (!isObject(schema)) continue
    const inside: Visit[] = []
    for (const { keyword, name, part } of getSubschemas(schema))
      inside.push({ schema: part, name: formatName(keyword, name, schema), outer: visit, depth: depth + 1 })
    for (const inner of inside.toReversed()) open.push(inner)
  }
}

function formatName(keyword: string, name: string | undefined, schema: SchemaObject): string {
  if (name === undefined) return keyword
  if (Array.isArray(schema[keyword])) return `${keyword}[${name}]`
  if (keyword === 'properties') return name
  return `${keyword}.${name}`
}

function formatPlace(visit: Visit): string {
  const path: string[] = []
  for (let at: Visit | undefined = visit; at?.outer; at = at.outer) path.push(at.name)
  if (path.length === 0) return 'it'
  return `'${shorten(path.toReversed().join('.'))}'`
}

function describeFault(schema: unknown, document: SchemaDocument): string | undefined {
  if (!isObject(schema)) return 'is not a schema'
  for (const keyword of Object.keys(schema)) {
    const fault = describeKeywordFault(schema, keyword, document)
    if (fault !== undefined) return fault
  }
  return undefined
}

function describeKeywordFault(schema: SchemaObject, keyword: string, document: SchemaDocument): string | undefined {
  const value = schema[keyword]
  if (keyword === 'type') {
    if ([value].flat().every((name) => TYPES.has(name))) return undefined
    return `has the type ${shorten(JSON.stringify(value) ?? 'undefined')}, which does not exist in JSON Schema`
  }
  if (keyword === '$ref' || keyword === '$dynamicRef') {
    if (typeof value !== 'string') return `has a '${keyword}' that is not a string`
    if (document.resolve(schema, value) !== undefined) return undefined
    return `refers to ${shorten(value)}, which does not exist`
  }
  const rule = RULES.get(keyword)
  if (!rule || rule.fits(value)) return undefined
  return `has ${/^[aeiou]/.test(keyword) ? 'an' : 'a'} '${keyword}' that is not ${rule.expected}`
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false
  const result = compilePattern(pattern)
  return !('problem' in result) || result.problem === 'unsupported'
}
