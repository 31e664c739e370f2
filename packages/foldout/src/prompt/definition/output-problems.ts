import { shorten } from '../../core/text.ts'
import { isObject } from 'foldout-shared/values'
import {
  describeShape,
  getBranchFields,
  isUnion,
  kindName,
  getKind,
  getKinds,
  getKnownFields,
  getListedValues,
  quoteNames,
  getRequiredFields,
  rootShape,
  shapeBelow,
  takesOtherFields,
  type Shape,
} from '../../core/schema/shape.ts'
import { issueKeys, issuePath, type JsonSchema, type StandardSchemaV1 } from '../../core/schema/schema.ts'
import { MAX_OUTPUT_PROBLEMS } from './limits.ts'

export type ProblemKind = 'missing-field' | 'extra-field' | 'invalid-value'

export interface Problems {
  readonly kind: ProblemKind
  /** The fields with a problem of this kind, up to a thousand. */
  readonly fields: readonly string[]
  /** Whole sentences about the problems of every kind. */
  readonly message: string
}

type Path = readonly PropertyKey[]

/** A missing field, or a field that is not allowed. */
interface FieldFault {
  readonly holder: Path
  readonly holderShape: Shape
  readonly name: string
}

interface FieldFaults {
  readonly missing: FieldFault[]
  readonly extra: FieldFault[]
}

/** A value from a model, its schema, and the schema library's output, if the library accepted the value. */
export interface CheckedValue {
  readonly value: unknown
  readonly schema: JsonSchema
  readonly result: StandardSchemaV1.Result<unknown>
}

/** Whether a value has unknown fields, which many libraries silently drop. */
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
  /** The library's output for the value, if known. */
  readonly taken: unknown
  readonly shape: Shape
  readonly path: Path
}

/** Recurses as deep as the value, which was parsed with a depth limit. */
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
  if (!isObject(value)) return
  const add = (to: FieldFault[], name: string): void => {
    if (to.length < MAX_OUTPUT_PROBLEMS) to.push({ holder: path, holderShape: shape, name })
  }
  for (const name of getRequiredFields(shape)) {
    if (!Object.hasOwn(value, name)) add(faults.missing, name)
  }
  const unknown = findUnknownFields(value, taken, shape)
  for (const [name, inner] of Object.entries(value)) {
    if (unknown.has(name)) add(faults.extra, name)
    else below(inner, name)
  }
}

/** Finds the fields that a shape does not name, and the fields of other union branches that the library dropped. */
function findUnknownFields(value: Record<string, unknown>, taken: unknown, shape: Shape): ReadonlySet<string> {
  if (takesOtherFields(shape)) return NONE
  const known = getKnownFields(shape)
  const names = Object.keys(value)
  const unknown = new Set(names.filter((name) => !known.has(name)))
  if (!isObject(taken)) return unknown
  const dropped = names.filter((name) => !Object.hasOwn(taken, name) && value[name] !== undefined)
  if (dropped.length === 0) return unknown
  // If one branch names all fields, that branch accepted them, so a missing field was renamed or omitted on purpose.
  const branches = getBranchFields(shape, value)
  const own = getKnownFields({ ...shape, some: [] })
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
  /** Whether the last key of the path is the missing field. */
  readonly isAbsent: boolean
  readonly message: string
}

// Built only for the problems that are reported.
type Sentence = () => string

/** Classifies the problems of a value that failed its schema or has extra fields. */
export function findProblems(checked: CheckedValue): Problems {
  const { value, schema } = checked
  const issues = checked.result.issues ?? []
  const shape = rootShape(schema)
  const faults = findFieldFaults(checked)
  const placed = issues.slice(0, MAX_OUTPUT_PROBLEMS).map((issue) => locate(value, issue))
  const reported = new Set(placed.flatMap(fieldsNamed))
  const missing = new Map<string, Sentence>()
  for (const fault of faults.missing) {
    // The JSON Schema may require a field that the schema itself does not.
    if (reported.has(fieldOfFault(fault))) missing.set(fieldOfFault(fault), describeMissingField(fault))
  }
  for (const { path, message } of placed.filter((issue) => issue.isAbsent)) {
    const field = getField(path)
    if (!missing.has(field)) missing.set(field, () => `${subject(path)} is missing: ${asClause([message])}.`)
  }
  const extra = new Map(faults.extra.map((fault) => [fieldOfFault(fault), describeExtraField(fault)]))
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
  if (isExtra) return 'extra-field'
  return 'invalid-value'
}

/** Locates an issue: follows its path as far as the value reaches. */
function locate(value: unknown, { message, path = [] }: StandardSchemaV1.Issue): PlacedIssue {
  const keys: PropertyKey[] = []
  let at = value
  // Copied, because some libraries use a subclass of Array that cannot be mapped.
  for (const key of issueKeys({ message, path: [...path] })) {
    if (typeof at !== 'object' || at === null) break
    keys.push(Array.isArray(at) ? Number(key) : key)
    if (!Object.hasOwn(at, key)) return { path: keys, isAbsent: true, message }
    at = (at as Record<PropertyKey, unknown>)[key]
  }
  return { path: keys, isAbsent: false, message }
}

/** Lists the fields that an issue may be about: the one at its path, or one inside it that the message names. */
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
    const known = byField.get(field)
    if (known) known.messages.push(message)
    else byField.set(field, { path, messages: [message] })
  }
  const isReportedUnion = (path: Path): boolean => byField.has(getField(path)) && isUnion(shapeAt(shape, path))
  const sentences = new Map<string, Sentence>()
  for (const [field, { path, messages }] of byField) {
    // Missing fields of single branches do not help once the union itself is described.
    if (path.some((_, depth) => isReportedUnion(path.slice(0, depth)))) continue
    sentences.set(field, () => describeInvalidValue(valueAt(value, path), shapeAt(shape, path), path, messages))
  }
  return sentences
}

function describeMissingField({ holder, holderShape, name }: FieldFault): Sentence {
  return () => {
    const expected = describeShape(shapeBelow(holderShape, name))
    return `${subject([...holder, name])} is missing${expected === undefined ? '' : `; it must be ${expected}`}.`
  }
}

function describeExtraField({ holder, holderShape, name }: FieldFault): Sentence {
  return () => {
    const known = getKnownFields(holderShape)
    if (known.has(name)) {
      // Another branch of the union has the field, so a list of the allowed fields would include it.
      const expected = describeShape(holderShape)
      const must = expected === undefined ? '' : ` ${subject(holder)} must be ${expected}.`
      return `${subject([...holder, name])} cannot be combined with the other fields there.${must}`
    }
    const allowed = known.size === 0 ? 'no field is' : `only ${quoteNames(known)} ${known.size === 1 ? 'is' : 'are'}`
    return `${subject([...holder, name])} is not allowed; ${allowed} allowed there.`
  }
}

function describeInvalidValue(value: unknown, shape: Shape, path: Path, messages: readonly string[]): string {
  const expected = describeShape(shape)
  if (expected !== undefined) {
    const must = `${subject(path)} must be ${expected}`
    if (getKinds(shape)?.has(getKind(value)) === false) return `${must}, but it is ${kindName(getKind(value))}.`
    const text = JSON.stringify(value)
    if (getListedValues(shape)?.every((one) => JSON.stringify(one) !== text))
      return `${must}, but it is ${shorten(text, MAX_QUOTED_LENGTH)}.`
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
  return `The ${typeof path.at(-1) === 'number' ? 'item' : 'field'} '${shorten(getField(path), MAX_QUOTED_LENGTH)}'`
}

function fieldOfFault({ holder, name }: FieldFault): string {
  return getField([...holder, name])
}

function getField(path: Path): string {
  return issuePath({ message: '', path })
}

/** The message goes back to the model, so its length must not grow with every item that has the same problem. */
const MAX_SENTENCES = 30
const MAX_CLAUSES = 3
const MAX_QUOTED_LENGTH = 200

function getErrorMessage(sentences: readonly Sentence[]): string {
  const shown = sentences.slice(0, MAX_SENTENCES).map((sentence) => sentence())
  if (sentences.length > shown.length) shown.push('There are more problems like these.')
  return shown.join(' ')
}

/** Turns a library's message into a clause. */
function asClause(messages: readonly string[]): string {
  return messages
    .slice(0, MAX_CLAUSES)
    .map((message) => shorten(message.trim().replace(/\.$/, ''), MAX_QUOTED_LENGTH))
    .join('; ')
}
