import { isPlainObject } from '../core/json/json.ts'
import {
  describeShape,
  getBranchFields,
  isUnion,
  kindName,
  getKind,
  getKinds,
  knownFields,
  listedValues,
  quoted,
  requiredFields,
  rootShape,
  shapeBelow,
  takesOtherFields,
  type Shape,
} from '../core/schema/shape.ts'
import { issueKeys, issuePath, type JsonSchema, type StandardSchemaV1 } from '../core/schema/schema.ts'
import { MAX_OUTPUT_PROBLEMS } from './limits.ts'

export type ProblemKind = 'missing-field' | 'extra-field' | 'invalid-value'

export interface Problems {
  readonly kind: ProblemKind
  /** The fields that have a problem of this kind, up to a thousand. */
  readonly fields: readonly string[]
  /** Whole sentences about the problems of every kind. */
  readonly message: string
}

type Path = readonly PropertyKey[]

/** A field that should be there and is not, or the other way round. */
interface FieldFault {
  readonly holder: Path
  readonly holderShape: Shape
  readonly name: string
}

interface FieldFaults {
  readonly missing: FieldFault[]
  readonly extra: FieldFault[]
}

/** A value that a model gave, what its schema says, and what the schema's library made of it, if it took it. */
export interface CheckedValue {
  readonly value: unknown
  readonly schema: JsonSchema
  readonly result: StandardSchemaV1.Result<unknown>
}

/** Whether a value has fields that its schema does not know, which many libraries drop in silence. */
export function hasExtraFields(checked: CheckedValue): boolean {
  return findFieldFaults(checked).extra.length > 0
}

function findFieldFaults({ value, schema, result }: CheckedValue): FieldFaults {
  const faults: FieldFaults = { missing: [], extra: [] }
  const taken = result.issues ? undefined : result.value
  collectFaults({ value, taken, shape: rootShape(schema, value), path: [] }, faults)
  return faults
}

interface Place {
  readonly value: unknown
  /** What the library made of the value, where that can be told. */
  readonly taken: unknown
  readonly shape: Shape
  readonly path: Path
}

/** As deep as the value, which was read with a limit on its depth. */
function collectFaults(place: Place, faults: FieldFaults): void {
  const { value, taken, shape, path } = place
  const below = (inner: unknown, key: string | number): void => {
    if (typeof inner !== 'object' || inner === null) return
    const shapeThere = shapeBelow(shape, key, inner)
    collectFaults({ value: inner, taken: getInner(taken, key), shape: shapeThere, path: [...path, key] }, faults)
  }
  if (Array.isArray(value)) {
    value.forEach(below)
    return
  }
  if (!isPlainObject(value)) return
  const add = (to: FieldFault[], name: string): void => {
    if (to.length < MAX_OUTPUT_PROBLEMS) to.push({ holder: path, holderShape: shape, name })
  }
  for (const name of requiredFields(shape)) {
    if (!Object.hasOwn(value, name)) add(faults.missing, name)
  }
  const unknown = findUnknownFields(value, taken, shape)
  for (const [name, inner] of Object.entries(value)) {
    if (unknown.has(name)) add(faults.extra, name)
    else below(inner, name)
  }
}

/** The fields that a shape does not name, and those of several branches of a union that the library has dropped. */
function findUnknownFields(value: Record<string, unknown>, taken: unknown, shape: Shape): ReadonlySet<string> {
  if (takesOtherFields(shape)) return NONE
  const known = knownFields(shape)
  const names = Object.keys(value)
  const unknown = new Set(names.filter((name) => !known.has(name)))
  if (!isPlainObject(taken)) return unknown
  const dropped = names.filter((name) => !Object.hasOwn(taken, name) && value[name] !== undefined)
  if (dropped.length === 0) return unknown
  // What one branch names in full was taken by that branch: what is not there now was renamed or left out on purpose.
  const branches = getBranchFields(shape, value)
  const own = knownFields({ ...shape, some: [] })
  if (!branches || branches.some((fields) => names.every((name) => fields.has(name) || own.has(name)))) return unknown
  return new Set([...unknown, ...dropped])
}

const NONE: ReadonlySet<string> = new Set()

function getInner(holder: unknown, key: string | number): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined
  return (holder as Record<string | number, unknown>)[key]
}

interface PlacedIssue {
  readonly path: Path
  /** Whether the last key of the path is what is not there. */
  readonly isAbsent: boolean
  readonly message: string
}

// Made only for those that are told.
type Sentence = () => string

/** Sorts out what is wrong with a value that its schema found issues with or that has extra fields. */
export function findProblems(checked: CheckedValue): Problems {
  const { value, schema } = checked
  const issues = checked.result.issues ?? []
  const shape = rootShape(schema)
  const faults = findFieldFaults(checked)
  const placed = issues.slice(0, MAX_OUTPUT_PROBLEMS).map((issue) => locate(value, issue))
  const told = new Set(placed.flatMap(fieldsNamed))
  const missing = new Map<string, Sentence>()
  for (const fault of faults.missing) {
    // What the JSON Schema requires the schema itself may do without.
    if (told.has(fieldOfFault(fault))) missing.set(fieldOfFault(fault), missingField(fault))
  }
  for (const { path, message } of placed.filter((issue) => issue.isAbsent)) {
    const field = getField(path)
    if (!missing.has(field)) missing.set(field, () => `${subject(path)} is missing: ${asClause([message])}.`)
  }
  const extra = new Map(faults.extra.map((fault) => [fieldOfFault(fault), extraField(fault)]))
  const others = placed.filter((issue) => !fieldsNamed(issue).some((field) => missing.has(field) || extra.has(field)))
  const invalid = invalidValues(value, shape, others)
  const kind = getProblemKind(missing.size > 0, extra.size > 0)
  const sameKind = { 'missing-field': missing, 'extra-field': extra, 'invalid-value': invalid }[kind]
  return {
    kind,
    fields: [...sameKind.keys()].filter((field) => field !== ''),
    message: getErrorMessage([...missing.values(), ...extra.values(), ...invalid.values()]),
  }
}

function getProblemKind(isMissing: boolean, isExtra: boolean): ProblemKind {
  if (isMissing) return 'missing-field'
  return isExtra ? 'extra-field' : 'invalid-value'
}

/** Where in a value an issue is: its path as far as the value goes. */
function locate(value: unknown, { message, path = [] }: StandardSchemaV1.Issue): PlacedIssue {
  const keys: PropertyKey[] = []
  let at = value
  // Spread, as the path of some libraries is a subclass of Array that cannot be mapped.
  for (const key of issueKeys({ message, path: [...path] })) {
    if (typeof at !== 'object' || at === null) break
    keys.push(Array.isArray(at) ? Number(key) : key)
    if (!Object.hasOwn(at, key)) return { path: keys, isAbsent: true, message }
    at = (at as Record<PropertyKey, unknown>)[key]
  }
  return { path: keys, isAbsent: false, message }
}

/** The fields an issue may be about: the one at its path, or one in the object there that its message names. */
function fieldsNamed({ path, message }: PlacedIssue): readonly string[] {
  const names = [/"([^"]*)"/g, /'([^']*)'/g].flatMap((quote) =>
    Array.from(message.matchAll(quote), ([, name = '']) => name),
  )
  return [getField(path), ...names.map((name) => getField([...path, name]))]
}

function invalidValues(value: unknown, shape: Shape, issues: readonly PlacedIssue[]): ReadonlyMap<string, Sentence> {
  const byField = new Map<string, { readonly path: Path; readonly messages: string[] }>()
  for (const { path, message } of issues) {
    const field = getField(path)
    const told = byField.get(field)
    if (told) told.messages.push(message)
    else byField.set(field, { path, messages: [message] })
  }
  const isUnionToldOf = (path: Path): boolean => byField.has(getField(path)) && isUnion(shapeAt(shape, path))
  const sentences = new Map<string, Sentence>()
  for (const [field, { path, messages }] of byField) {
    // What the branches of a union lack is no help once the union itself is described.
    if (path.some((_, depth) => isUnionToldOf(path.slice(0, depth)))) continue
    sentences.set(field, () => invalidValue(valueAt(value, path), shapeAt(shape, path), path, messages))
  }
  return sentences
}

function missingField({ holder, holderShape, name }: FieldFault): Sentence {
  return () => {
    const expected = describeShape(shapeBelow(holderShape, name))
    return `${subject([...holder, name])} is missing${expected === undefined ? '' : `; it must be ${expected}`}.`
  }
}

function extraField({ holder, holderShape, name }: FieldFault): Sentence {
  return () => {
    const known = knownFields(holderShape)
    const allowed = known.size === 0 ? 'no field is' : `only ${quoted(known)} ${known.size === 1 ? 'is' : 'are'}`
    return `${subject([...holder, name])} is not allowed; ${allowed} allowed there.`
  }
}

function invalidValue(value: unknown, shape: Shape, path: Path, messages: readonly string[]): string {
  const expected = describeShape(shape)
  if (expected !== undefined) {
    const must = `${subject(path)} must be ${expected}`
    if (getKinds(shape)?.has(getKind(value)) === false) return `${must}, but it is ${kindName(getKind(value))}.`
    const text = JSON.stringify(value)
    if (listedValues(shape)?.every((one) => JSON.stringify(one) !== text)) return `${must}, but it is ${clip(text)}.`
    if (isUnion(shape)) return `${subject(path)} is invalid: ${asClause(messages.slice(0, 1))}. It must be ${expected}.`
  }
  return `${subject(path)} is invalid: ${asClause(messages)}.`
}

function shapeAt(shape: Shape, path: Path): Shape {
  return path.reduce<Shape>(shapeBelow, shape)
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], value)
}

function subject(path: Path): string {
  if (path.length === 0) return 'The answer'
  return `The ${typeof path.at(-1) === 'number' ? 'item' : 'field'} '${clip(getField(path))}'`
}

function fieldOfFault({ holder, name }: FieldFault): string {
  return getField([...holder, name])
}

function getField(path: Path): string {
  return issuePath({ message: '', path })
}

/** The message goes back to the model, so it may not grow with every item that has the same fault. */
const MAX_SENTENCES = 30
const MAX_CLAUSES = 3
const MAX_QUOTED_LENGTH = 200

function getErrorMessage(sentences: readonly Sentence[]): string {
  const told = sentences.slice(0, MAX_SENTENCES).map((sentence) => sentence())
  if (sentences.length > told.length) told.push('There are more problems like these.')
  return told.join(' ')
}

/** What a library said, to stand within a sentence. */
function asClause(messages: readonly string[]): string {
  return messages
    .slice(0, MAX_CLAUSES)
    .map((message) => clip(message.trim().replace(/\.$/, '')))
    .join('; ')
}

function clip(text: string): string {
  // Never half of a surrogate pair, which some providers refuse.
  return text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH).replace(/[\ud800-\udbff]$/, '')}…` : text
}
