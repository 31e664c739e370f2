import { deferPattern } from '../../core/defer-pattern.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { formatHint } from './hints.ts'
import { fieldName, literal } from './schema/literal.ts'
import {
  alternativesAt,
  containsItself,
  fieldsAt,
  itemsAt,
  keywordAt,
  kindsAt,
  otherFieldsAt,
  patternFieldsAt,
  getSchemaView,
  textAt,
  valuesAt,
  type Field,
  type SchemaView,
} from './schema/schema-view.ts'
import { getRefinement } from './refinement.ts'
import { isRule } from './rules.ts'

/** How much of a schema is shown. */
export interface Detail {
  /** The maximum depth. Deeper objects are shown only with the names of their required fields. */
  readonly depth: number
  /** The maximum number of values. A longer enum or union shows only the first ones and how many more there are. */
  readonly values: number
  readonly branches: number
  /** Which values get hints from their descriptions. */
  readonly hints: 'all' | 'required' | 'none'
  /** Whether optional fields of objects are shown. */
  readonly optionalInside: boolean
}

/** Writes the types of one root schema. */
export interface Notation {
  readonly root: unknown
  readonly detail: Detail
  /** Schemas that contain themselves, with their names. Found while writing. */
  readonly recursive: Map<JsonSchema, string>
  /** The schemas that are being written, with the names they would get. */
  readonly within: Map<JsonSchema, string>
  /** The schemas that were referred to by name so far. */
  readonly called: Set<JsonSchema>
  /** The remaining budget, which bounds schemas that grow by references. */
  left: number
  /** Whether something was left out. */
  cut: boolean
}

const MAX_NODES = 400
/** The maximum nesting of unions and lists. Deeper ones are useless in a signature. */
const MAX_DEPTH = 40
/** The maximum number of fields; no signature has room for more. */
export const MAX_FIELDS = 150

export function createNotation(root: unknown, detail: Detail, recursive: Map<JsonSchema, string>): Notation {
  return { root, detail, recursive, within: new Map(), called: new Set(), left: MAX_NODES, cut: false }
}

/** A type, and whether it needs parentheses before `[]`. */
interface Type {
  readonly text: string
  readonly loose: boolean
}

const tight = (text: string): Type => ({ text, loose: false })

interface Where {
  readonly name: string
  readonly depth: number
  readonly hinted: boolean
}

/** `name?: type = default`. */
export function fieldText(writing: Notation, field: Field, depth: number): string {
  const { hints } = writing.detail
  const where = { name: field.name, depth, hinted: hints === 'all' || (hints === 'required' && field.required) }
  const view = getSchemaView(writing.root, field.schema)
  const initial = keywordAt(view, 'default')
  const type = typeAt(writing, view, where, !field.required && initial === null)
  return `${fieldName(field.name)}${field.required ? '' : '?'}: ${type.text}${defaultText(initial)}`
}

const MAX_DEFAULT = 40

function defaultText(value: unknown): string {
  const isEmpty = value === undefined || value === null || value === '' || Object.keys(Object(value)).length === 0
  if (isEmpty && typeof value !== 'number' && typeof value !== 'boolean') return ''
  const text = literal(value)
  if (text === undefined || text.length > MAX_DEFAULT) return ''
  return ` = ${text}`
}

export function typeText(writing: Notation, schema: unknown, where: Where): string {
  return getType(writing, schema, where).text
}

function getType(writing: Notation, schema: unknown, where: Where): Type {
  return typeAt(writing, getSchemaView(writing.root, schema), where, false)
}

/** `withoutNull` is set if leaving the field out means the same as null. */
function typeAt(writing: Notation, view: SchemaView, where: Where, withoutNull: boolean): Type {
  if (view.never) return tight('never')
  if (writing.left-- <= 0 || writing.within.size > MAX_DEPTH) {
    writing.cut = true
    return tight('any')
  }
  const known = where.depth > 0 ? view.parts.find((part) => writing.recursive.has(part)) : undefined
  const knownName = known && writing.recursive.get(known)
  if (known && knownName !== undefined) {
    writing.called.add(known)
    return tight(knownName)
  }
  const again = view.parts.find((part) => writing.within.has(part) && containsItself(writing.root, part))
  if (again) {
    const name = createUniqueName(writing, writing.within.get(again) ?? where.name)
    writing.recursive.set(again, name)
    writing.called.add(again)
    return tight(name)
  }
  const entered = view.parts.filter((part) => !writing.within.has(part))
  for (const part of entered) writing.within.set(part, getName(part, view, where))
  try {
    return getUnion(writing, view, where, withoutNull)
  } finally {
    for (const part of entered) writing.within.delete(part)
  }
}

function createUniqueName(writing: Notation, wanted: string): string {
  const taken = new Set(writing.recursive.values())
  let name = wanted
  for (let i = 2; taken.has(name); i++) name = `${wanted}${i}`
  return name
}

const getGaps = deferPattern(String.raw`[^\p{ID_Continue}]+`, 'u')
const getStart = deferPattern(String.raw`^\p{ID_Start}`, 'u')

function getName(part: JsonSchema, view: SchemaView, where: Where): string {
  if (part === view.root) return 'Args'
  const reference = view.parts
    .map((other) => other['$ref'])
    .find((other): other is string => typeof other === 'string' && other.includes('/'))
  const words = reference?.split('/').at(-1) ?? textAt(view, 'title') ?? where.name
  const name = words
    .split(getGaps())
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, 40)
  if (getStart().test(name)) return name
  return `Type${name}`
}

function getUnion(writing: Notation, view: SchemaView, where: Where, withoutNull: boolean): Type {
  const values = valuesAt(view)
  if (values) return valuesText(writing, values, withoutNull)
  const groups = alternativesAt(view)
    .map((group) => group.branches.filter((branch) => !isRule(branch)))
    .filter((branches) => branches.length > 1)
  const hasOwn = fieldsAt(view).length > 0
  const own = hasOwn || groups.length === 0 ? [joinTypes(ownTypes(writing, view, where), withoutNull)] : []
  const unions = groups.map((branches) => branchesText(writing, view, branches, where, withoutNull))
  const all = [...own, ...unions]
  const [only] = all
  if (only && all.length === 1) return only
  return { text: all.map((type) => parenthesize(type)).join(' & '), loose: true }
}

const parenthesize = ({ text, loose }: Type): string => {
  if (loose) return `(${text})`
  return text
}

function valuesText(writing: Notation, values: readonly unknown[], withoutNull: boolean): Type {
  const texts = [...new Set(values.map(literal))].filter((text) => text !== undefined)
  const wanted = withoutNull ? texts.filter((text) => text !== 'null') : texts
  const short = wanted.filter((text) => text.length <= MAX_VALUE)
  const shown = short.slice(0, wanted.length <= writing.detail.values ? wanted.length : FEW_VALUES)
  const more = wanted.length - shown.length
  if (more > 0) writing.cut = true
  if (shown.length === 0) return tight('any')
  return { text: [...shown, ...(more > 0 ? [`…${more} more`] : [])].join('|'), loose: shown.length + more > 1 }
}

/** How many values of a long enum are shown. */
const FEW_VALUES = 6

/** The maximum length of a value. A longer value is not shown, because a cut one would be wrong. */
const MAX_VALUE = 60

function branchesText(
  writing: Notation,
  view: SchemaView,
  branches: readonly unknown[],
  where: Where,
  withoutNull: boolean,
): Type {
  const listed = branches.map((branch) => valuesAt(getSchemaView(writing.root, branch)))
  if (listed.every((values) => values !== undefined)) return valuesText(writing, listed.flat(), withoutNull)
  const shared = keywordAt(view, 'type')
  const shown = branches.length <= writing.detail.branches ? branches : branches.slice(0, writing.detail.branches - 1)
  const types = shown.map((branch) => {
    const hasType = shared === undefined || kindsAt(getSchemaView(writing.root, branch)).length > 0
    return getType(writing, hasType ? branch : { allOf: [branch, { type: shared }] }, {
      ...where,
      depth: where.depth || 1,
    })
  })
  const more = branches.length - shown.length
  if (more > 0) writing.cut = true
  return joinTypes(more > 0 ? [...types, tight(`…${more} more`)] : types, withoutNull)
}

function joinTypes(types: readonly Type[], withoutNull: boolean): Type {
  const distinct = [...new Map(types.map((type) => [type.text, type])).values()]
  const others = distinct.filter(({ text }) => text !== 'null')
  const isNullable = others.length < distinct.length && !withoutNull
  const all = isNullable || others.length === 0 ? [...others, tight('null')] : others
  const [only] = all
  if (only && all.length === 1) return only
  // `any` includes all the others.
  if (others.some(({ text }) => text === 'any')) return tight('any')
  return { text: all.map(({ text }) => text).join('|'), loose: true }
}

function ownTypes(writing: Notation, view: SchemaView, where: Where): readonly Type[] {
  const kinds = kindsAt(view)
  if (kinds.length === 0) {
    const hint = where.hinted ? hintFor('any', view, where.name) : ''
    return [hint === '' ? tight('any') : { text: `any ${hint}`, loose: true }]
  }
  return kinds.map((kind) => {
    if (kind === 'object') return objectType(writing, view, where.depth)
    const type = kind === 'array' ? arrayType(writing, view, where) : tight(kind === 'integer' ? 'int' : kind)
    const refinement = getRefinement(kind, view, where.name)
    const hint = refinement === '' && where.hinted && kinds.length === 1 ? hintFor(kind, view, where.name) : refinement
    if (hint === '') return type
    return { text: `${type.text} ${hint}`, loose: true }
  })
}

function hintFor(kind: string, view: SchemaView, name: string): string {
  return formatHint(kind, name, textAt(view, 'description'))
}

function arrayType(writing: Notation, view: SchemaView, where: Where): Type {
  const inside = { ...where, depth: where.depth + 1, hinted: false }
  const { first, rest } = itemsAt(view)
  if (writing.detail.depth * 2 < where.depth) return tight('any[]')
  if (first.length === 0) {
    const item = rest === undefined || rest === true ? tight('any') : getType(writing, rest, inside)
    return tight(`${parenthesize(item)}[]`)
  }
  const shown = first.slice(0, writing.detail.branches)
  if (shown.length < first.length) writing.cut = true
  const items = shown.map((item) => getType(writing, item, inside).text)
  const others = rest === undefined || rest === false ? [] : [`...${parenthesize(getType(writing, rest, inside))}[]`]
  const more = shown.length < first.length ? [`…${first.length - shown.length} more`] : others
  return tight(`[${[...items, ...more].join(', ')}]`)
}

function objectType(writing: Notation, view: SchemaView, depth: number): Type {
  if (depth > writing.detail.depth) return namesAlone(writing, view)
  const inside = insideText(writing, view, depth)
  return tight(inside === '' || inside === '...' ? 'object' : `{${inside}}`)
}

/** Formats the fields of an object, without the braces. */
function insideText(writing: Notation, view: SchemaView, depth: number): string {
  const fields = getShownFields(writing, view)
  const wanted = writing.detail.optionalInside ? fields : fields.filter(({ required }) => required)
  const written = wanted.slice(0, MAX_FIELDS)
  const texts = written.map((field) => fieldText(writing, field, depth + 1))
  return [...texts, ...optionalText(writing, fields.length - written.length), ...openText(writing, view, depth)].join(
    ', ',
  )
}

function namesAlone(writing: Notation, view: SchemaView): Type {
  const fields = getShownFields(writing, view)
  const names = fields
    .filter(({ required }) => required)
    .slice(0, MAX_FIELDS)
    .map(({ name }) => fieldName(name))
  if (fields.length > 0) writing.cut = true
  if (names.length === 0) return tight('object')
  return tight(`{${[...names, ...optionalText(writing, fields.length - names.length)].join(', ')}}`)
}

export function optionalText(writing: Notation, count: number): readonly string[] {
  if (count > 0) writing.cut = true
  if (count > 0) return [`+${count} optional`]
  return []
}

const shown = new WeakMap<SchemaView, readonly Field[]>()

/** Gets the fields that a caller may set, without read-only and deprecated ones. */
export function getShownFields(writing: Notation, view: SchemaView): readonly Field[] {
  // Cached, because a signature is written many times until it fits.
  let fields = shown.get(view)
  if (!fields) shown.set(view, (fields = findShownFields(writing, view)))
  return fields
}

function findShownFields(writing: Notation, view: SchemaView): readonly Field[] {
  return fieldsAt(view).filter((field) => {
    if (field.required) return true
    const below = getSchemaView(writing.root, field.schema)
    return !below.never && keywordAt(below, 'readOnly') !== true && keywordAt(below, 'deprecated') !== true
  })
}

/** Formats the types of fields with other names: `[key]: type`, `[/pattern/]: type`, or `...` for any. */
export function openText(writing: Notation, view: SchemaView, depth: number): readonly string[] {
  const inside = { name: 'value', depth: depth + 1, hinted: false }
  const patterns = patternFieldsAt(view)
    .filter(([, schema]) => schema !== false)
    .map(([pattern, schema]) => `[/${(literal(pattern) ?? '').slice(1, -1)}/]: ${typeText(writing, schema, inside)}`)
  const others = otherFieldsAt(view)
  if (others === undefined) return patterns
  const text = others === true ? 'any' : typeText(writing, others, inside)
  const names = valuesAt(getSchemaView(writing.root, keywordAt(view, 'propertyNames')))
  const key = names ? valuesText(writing, names, false).text : 'key'
  return [...patterns, text === 'any' && !names ? '...' : `[${key}]: ${text}`]
}
