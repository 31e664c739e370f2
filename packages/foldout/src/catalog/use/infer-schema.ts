import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { toVisibleText } from '../../core/visible-text.ts'

/** How deeply values are described. */
const MAX_DEPTH = 12
/** An object with more keys than this, or with longer ones, is a map: its keys are data. */
const MAX_FIELDS = 64
const MAX_KEY = 64
/** How many fields a schema has. Levels with more are not described. */
const MAX_PLACES = 300
/** How many fields are kept while values are read. Objects with further ones are maps. */
const MAX_KEPT = 10_000
/** What has more kinds than this, besides null, can be anything. */
const MAX_KINDS = 2

const KINDS = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
type Kind = (typeof KINDS)[number]

interface Field {
  readonly shape: Shape
  /** How many objects have it. */
  seen: number
}

/** What was found at one place of several values. */
interface Shape {
  readonly kinds: Set<Kind>
  isAny: boolean
  items: Shape | undefined
  objects: number
  fields: Map<string, Field>
  /** The values of a map. */
  values: Shape | undefined
}

const createShape = (): Shape => ({
  kinds: new Set(),
  isAny: false,
  items: undefined,
  objects: 0,
  fields: new Map(),
  values: undefined,
})

/** Infers a schema that all values fit. A place with many kinds of values can be anything, and choices are not inferred. */
export function inferSchema(values: Iterable<unknown>): JsonSchema {
  const root = createShape()
  const inference = new Inference()
  for (const value of values) inference.add(root, value, 0)
  return toSchema(root, countLevels(root))
}

class Inference {
  #left = MAX_KEPT

  add(shape: Shape, value: unknown, depth: number): void {
    if (shape.isAny) return
    const kind = findKind(value)
    if (kind === undefined || depth > MAX_DEPTH) return acceptAny(shape)
    addKind(shape, kind)
    if (shape.isAny) return
    if (Array.isArray(value)) {
      for (const item of value) this.add((shape.items ??= createShape()), item, depth + 1)
    } else if (isObject(value)) {
      shape.objects++
      for (const key of Object.keys(value)) this.#addField(shape, key, value[key], depth + 1)
    }
  }

  #addField(shape: Shape, key: string, value: unknown, depth: number): void {
    const known = shape.fields.get(key)
    if (known) {
      known.seen++
      return this.add(known.shape, value, depth)
    }
    if (!shape.values && this.#takesField(shape, key)) {
      const field = { shape: createShape(), seen: 1 }
      shape.fields.set(key, field)
      return this.add(field.shape, value, depth)
    }
    shape.values ??= createValues(shape)
    this.add(shape.values, value, depth)
  }

  #takesField({ fields }: Shape, key: string): boolean {
    // A key that a catalog would change could not be compared any more.
    if (fields.size >= MAX_FIELDS || key.length > MAX_KEY || toVisibleText(key) !== key) return false
    return this.#left-- > 0
  }
}

function findKind(value: unknown): Kind | undefined {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  const type = typeof value
  return KINDS.find((kind) => kind === type)
}

function addKind(shape: Shape, kind: Kind): void {
  const { kinds } = shape
  if (kind === 'number') kinds.delete('integer')
  if (kind !== 'integer' || !kinds.has('number')) kinds.add(kind)
  if (kinds.size - Number(kinds.has('null')) > MAX_KINDS) acceptAny(shape)
}

function acceptAny(shape: Shape): void {
  Object.assign(shape, { ...createShape(), isAny: true })
}

/** Turns an object's fields into the values of a map. */
function createValues(shape: Shape): Shape {
  const values = createShape()
  for (const { shape: field } of shape.fields.values()) merge(values, field)
  shape.fields = new Map()
  return values
}

function merge(into: Shape, from: Shape): void {
  if (from.isAny) acceptAny(into)
  if (into.isAny) return
  for (const kind of from.kinds) addKind(into, kind)
  if (into.isAny) return
  if (from.items) merge((into.items ??= createShape()), from.items)
  into.objects += from.objects
  if (from.values || into.values) {
    into.values ??= createValues(into)
    merge(into.values, from.values ?? createValues(from))
    return
  }
  for (const [key, { shape, seen }] of from.fields) {
    const known = into.fields.get(key) ?? { shape: createShape(), seen: 0 }
    known.seen += seen
    merge(known.shape, shape)
    into.fields.set(key, known)
  }
  if (into.fields.size > MAX_FIELDS) into.values = createValues(into)
}

/** Counts how many levels of a shape can be described, because the outer ones matter most. */
function countLevels(root: Shape): number {
  let fields = 0
  let level: readonly Shape[] = [root]
  for (let levels = 0; ; levels++) {
    fields += level.reduce((sum, shape) => sum + shape.fields.size, 0)
    if (fields > MAX_PLACES || level.length === 0) return levels
    level = level.flatMap(getInner)
  }
}

function getInner({ items, fields, values }: Shape): readonly Shape[] {
  const inner = [items, values, ...Array.from(fields.values(), ({ shape }) => shape)]
  return inner.filter((shape) => shape !== undefined)
}

function toSchema({ kinds, isAny, items, objects, fields, values }: Shape, levels: number): JsonSchema {
  if (isAny || kinds.size === 0) return {}
  const types = KINDS.filter((kind) => kinds.has(kind))
  const type = types.length === 1 ? types[0] : types
  if (levels === 0) return { type }
  const required = Array.from(fields).flatMap(([key, { seen }]) => (seen === objects ? [key] : []))
  return {
    type,
    ...(fields.size > 0 && {
      properties: Object.fromEntries(Array.from(fields, ([key, { shape }]) => [key, toSchema(shape, levels - 1)])),
    }),
    ...(required.length > 0 && { required }),
    ...(values && { additionalProperties: toSchema(values, levels - 1) }),
    ...(items && { items: toSchema(items, levels - 1) }),
  }
}
