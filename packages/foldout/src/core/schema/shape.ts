import { isObject } from 'foldout-shared/values'
import { isSameJson } from '../json/json.ts'
import { resolvePointer } from '../json/json-pointer.ts'
import type { JsonSchema } from './schema.ts'
import { joinWords } from '../text.ts'

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** The constraints of a JSON Schema for the value at one place, with references and `allOf` resolved. */
export interface Shape {
  readonly root: JsonSchema
  /** The schemas that the value must all fit. */
  readonly all: readonly JsonSchema[]
  /** The branches of a union; the value may fit any of them. */
  readonly some: readonly JsonSchema[]
  /** Whether parts are unknown, such as a reference to another document. */
  readonly opaque: boolean
}

/** Creates the shape of a whole schema. With a value, only the union branches that can fit the value count. */
export function rootShape(root: JsonSchema, value?: unknown): Shape {
  return getShape(root, [root], [], false, value)
}

function getShape(
  root: JsonSchema,
  all: readonly unknown[],
  some: readonly unknown[],
  opaque: boolean,
  value?: unknown,
): Shape {
  const into = { all: new Set<JsonSchema>(), some: new Set<JsonSchema>() }
  let hidden = opaque
  const open: (readonly [schema: unknown, as: 'all' | 'some'])[] = []
  const later = (schemas: readonly unknown[], as: 'all' | 'some'): void => {
    for (let index = schemas.length - 1; index >= 0; index--) open.push([schemas[index], as])
  }
  later(some, 'some')
  later(all, 'all')
  // Iterative rather than recursive: a chain of references can be as long as the document.
  for (let next = open.pop(); next; next = open.pop()) {
    const [schema, as] = next
    if (schema === true && as === 'some') hidden = true
    if (!isObject(schema) || into[as].has(schema)) continue
    into[as].add(schema)
    later(getBranches(schema, root, value), 'some')
    later(listAt(schema, 'allOf'), as)
    if (typeof schema['$ref'] !== 'string') continue
    const target = resolvePointer(root, schema['$ref'])
    if (target === undefined) hidden = true
    else open.push([target, as])
  }
  return { root, all: [...into.all], some: [...into.some], opaque: hidden }
}

function getBranches(schema: JsonSchema, root: JsonSchema, value: unknown): readonly unknown[] {
  const dependent = schema['dependentSchemas']
  return [
    ...getFittingBranches(listAt(schema, 'anyOf'), root, value),
    ...getFittingBranches(listAt(schema, 'oneOf'), root, value),
    ...['if', 'then', 'else'].filter((keyword) => keyword in schema).map((keyword) => schema[keyword]),
    ...(isObject(dependent) ? Object.values(dependent) : []),
  ]
}

/** The branches of a union that an object can fit, or all branches if it can fit none. */
function getFittingBranches(branches: readonly unknown[], root: JsonSchema, value: unknown): readonly unknown[] {
  if (branches.length === 0 || !isObject(value)) return branches
  const fitting = branches.filter((branch) => canFit(branch, root, value, 0))
  if (fitting.length > 0) return fitting
  return branches
}

/** Whether an object can fit a schema, judging by the required fields and the fields with listed values. */
function canFit(schema: unknown, root: JsonSchema, value: Record<string, unknown>, depth: number): boolean {
  if (!isObject(schema) || depth > MAX_UNION_DEPTH) return schema !== false
  const fits = (part: unknown): boolean => canFit(part, root, value, depth + 1)
  const { type, $ref } = schema
  if (type !== undefined && ![type].flat().includes('object')) return false
  if (typeof $ref === 'string' && !fits(resolvePointer(root, $ref))) return false
  if (!listAt(schema, 'required').every((name) => typeof name !== 'string' || Object.hasOwn(value, name))) return false
  if (!Object.entries(fieldsAt(schema)).every(([name, field]) => isListedIn(field, value, name))) return false
  if (!listAt(schema, 'allOf').every(fits)) return false
  return ['anyOf', 'oneOf'].every((union) => !(union in schema) || listAt(schema, union).some(fits))
}

/** Whether a field is absent, has one of the values its schema lists, or has a schema that lists none. */
function isListedIn(field: unknown, value: Record<string, unknown>, name: string): boolean {
  if (!isObject(field) || !Object.hasOwn(value, name)) return true
  const values = 'const' in field ? [field['const']] : field['enum']
  return !Array.isArray(values) || values.some((one) => isSameJson(one, value[name]))
}

/**
 * Returns the fields that each branch of a shape's only union names, or `undefined` if it has no union or more than
 * one.
 */
export function getBranchFields(shape: Shape, value: unknown): readonly ReadonlySet<string>[] | undefined {
  const unions = shape.all.flatMap((schema) =>
    ['anyOf', 'oneOf'].filter((union) => union in schema).map((union) => listAt(schema, union)),
  )
  const [union] = unions
  if (unions.length !== 1 || union === undefined) return undefined
  return getFittingBranches(union, shape.root, value).map((branch) =>
    getKnownFields(getShape(shape.root, [branch], [], false, value)),
  )
}

/** Returns the shape of a field (by name) or an item (by index). */
export function shapeBelow(shape: Shape, key: PropertyKey, value?: unknown): Shape {
  let opaque = shape.opaque || shape.some.some(isFreeBranch)
  const below = (schema: JsonSchema): unknown => {
    if (typeof key === 'number') {
      const first = listAt(schema, 'prefixItems')
      if (key < first.length) return first[key]
      return schema['items']
    }
    const fields = fieldsAt(schema)
    if (Object.hasOwn(fields, key)) return fields[String(key)]
    if ('patternProperties' in schema) opaque = true
    return schema['additionalProperties']
  }
  const all = shape.all.map(below)
  const some = shape.some.map(below)
  return getShape(shape.root, all, some, opaque, value)
}

/** The fields that some part of a shape names. */
export function getKnownFields(shape: Shape): ReadonlySet<string> {
  return new Set([...shape.all, ...shape.some].flatMap((schema) => Object.keys(fieldsAt(schema))))
}

/** The fields that every value of a shape must have. */
export function getRequiredFields(shape: Shape): ReadonlySet<string> {
  return new Set(
    shape.all
      .flatMap((schema) => listAt(schema, 'required'))
      .filter((name): name is string => typeof name === 'string'),
  )
}

/** Whether a shape accepts fields that it does not name. A shape that names no fields accepts any. */
export function takesOtherFields(shape: Shape): boolean {
  if (shape.opaque || [...shape.all, ...shape.some].some(saysOthersAreWelcome)) return true
  if (shape.some.some(isFreeBranch)) return true
  return ![...shape.all, ...shape.some].some(
    (schema) => isObject(schema['properties']) || schema['additionalProperties'] === false,
  )
}

function saysOthersAreWelcome(schema: JsonSchema): boolean {
  return (
    'patternProperties' in schema ||
    (schema['additionalProperties'] ?? schema['unevaluatedProperties'] ?? false) !== false
  )
}

const ANNOTATIONS = new Set(['type', 'title', 'description', 'default', 'examples', 'deprecated', '$comment'])

/** Whether a branch accepts anything, such as `{}` or `{ type: 'object' }`, and is not just an added condition. */
function isFreeBranch(schema: JsonSchema): boolean {
  const isForObjects = schema['type'] === undefined || [schema['type']].flat().includes('object')
  return isForObjects && Object.keys(schema).every((keyword) => ANNOTATIONS.has(keyword))
}

/** Whether a shape consists only of alternatives. */
export function isUnion(shape: Shape): boolean {
  return shape.some.length > 0 && !shape.all.some((schema) => 'properties' in schema || 'items' in schema)
}

/** Unions may contain themselves. */
const MAX_UNION_DEPTH = 6

/** Deeper levels are not described; the model finds them in the schema itself. */
const MAX_DESCRIBED_DEPTH = 2

/** The kinds of values that a shape accepts, or `undefined` if it accepts any. */
export function getKinds(shape: Shape, depth = 0): ReadonlySet<JsonKind> | undefined {
  if (depth > MAX_UNION_DEPTH) return undefined
  const values = getListedValues(shape)
  if (values) return new Set(values.map(getKind))
  const types = getTypes(shape)
  if (types) return new Set(types.map((type) => (type === 'integer' ? 'number' : (type as JsonKind))))
  const alternatives = getAlternatives(shape)?.map((alternative) => getKinds(alternative, depth + 1))
  if (alternatives === undefined || alternatives.includes(undefined)) return undefined
  return new Set(alternatives.flatMap((kinds) => [...kinds!]))
}

/** The types that a shape names, or else the types that its other keywords imply. */
function getTypes(shape: Shape): readonly string[] | undefined {
  const named = takeFirst(shape.all, ({ type }) => {
    // A foreign schema may contain anything here.
    const names = [type].flat().filter((name): name is string => typeof name === 'string')
    if (names.length > 0) return names
    return undefined
  })
  if (named) return named
  return takeFirst(shape.all, (schema) => {
    if ('properties' in schema) return ['object']
    if ('items' in schema || 'prefixItems' in schema) return ['array']
    return undefined
  })
}

function getAlternatives(shape: Shape): readonly Shape[] | undefined {
  const schemas = takeFirst(shape.all, (schema) => {
    const parts = [...listAt(schema, 'anyOf'), ...listAt(schema, 'oneOf')]
    if (parts.length > 0) return parts
    return undefined
  })
  return schemas?.map((schema) => getShape(shape.root, [schema], [], false))
}

export function getKind(value: unknown): JsonKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonKind
}

const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ['object', 'an object'],
  ['array', 'an array'],
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'a boolean'],
  ['null', 'null'],
])

/** Describes a kind in words. Kinds that JSON Schema does not define are returned unchanged. */
export function kindName(kind: string): string {
  return KIND_NAMES.get(kind) ?? kind
}

/** The values a shape lists one by one, or `undefined` if it lists none. */
export function getListedValues(shape: Shape): readonly unknown[] | undefined {
  return takeFirst(shape.all, (schema) => {
    if ('const' in schema) return [schema['const']]
    if (Array.isArray(schema['enum'])) return schema['enum'] as unknown[]
    return undefined
  })
}

/** Describes the values of a shape: `an object with the fields 'a' and 'b'`, or returns `undefined` if it has no constraints. */
export function describeShape(shape: Shape, depth = 0): string | undefined {
  if (depth > MAX_DESCRIBED_DEPTH) return undefined
  const values = getListedValues(shape)
  if (values) return orList(values.map((value) => JSON.stringify(value)))
  const alternatives = getAlternatives(shape)?.map((alternative) => describeShape(alternative, depth + 1))
  if (alternatives && !alternatives.includes(undefined)) return orList([...new Set(alternatives as string[])])
  const types = getTypes(shape)
  return types && orList(types.map((type) => describeType(type, shape, depth)))
}

function describeType(type: string, shape: Shape, depth: number): string {
  const name = kindName(type)
  if (type === 'object') {
    const fields = new Set(shape.all.flatMap((schema) => Object.keys(fieldsAt(schema))))
    if (fields.size === 0) return name
    return `${name} with the ${fields.size === 1 ? 'field' : 'fields'} ${quoteNames(fields)}`
  }
  if (type === 'array') {
    const items = getShape(
      shape.root,
      shape.all.map((schema) => schema['items']),
      [],
      false,
    )
    const item = describeShape(items, depth + 1)
    if (item === undefined) return name
    return `${name} in which each item is ${item}`
  }
  const format = type === 'string' ? takeFirst(shape.all, (schema) => schema['format']) : undefined
  if (typeof format === 'string') return `${name} (format: ${format})`
  return name
}

/** Quotes and joins names: `'a', 'b' and 'c'`. */
export function quoteNames(names: Iterable<string>): string {
  return joinWords(Array.from(names, (name) => `'${name}'`))
}

function orList(words: readonly string[]): string {
  const last = words.at(-1)
  if (last === undefined || words.length === 1) return last ?? ''
  return `${words.slice(0, -1).join(', ')} or ${last}`
}

function fieldsAt(schema: JsonSchema): Readonly<Record<string, unknown>> {
  if (isObject(schema['properties'])) return schema['properties']
  return {}
}

export function listAt(schema: JsonSchema, keyword: string): readonly unknown[] {
  if (Array.isArray(schema[keyword])) return schema[keyword] as unknown[]
  return []
}

function takeFirst<T, R>(values: readonly T[], find: (value: T) => R | undefined): R | undefined {
  for (const value of values) {
    const found = find(value)
    if (found !== undefined) return found
  }
  return undefined
}
