import type { JsonSchema } from '../../core/schema/schema.ts'
import { toIdentifier } from './identifier.ts'
import { fieldDoc, docLines } from './jsdoc.ts'
import { literal } from './schema/literal.ts'
import {
  alternativesAt,
  fieldsAt,
  itemsAt,
  kindsAt,
  otherFieldsAt,
  patternFieldsAt,
  getSchemaView,
  resolveReference,
  takesAnyFields,
  valuesAt,
  type SchemaView,
} from './schema/schema-view.ts'
import { isRule } from './rules.ts'

/** The state of writing one declaration file. Definitions that are referred to are declared once, under a name. */
interface TypeWriting {
  readonly root: unknown
  readonly names: Map<JsonSchema, string>
  readonly taken: Set<string>
  /** The schemas that are being written, so one that contains itself terminates. */
  readonly within: Set<JsonSchema>
  left: number
  /** How deeply the schemas that are being written are nested. */
  depth: number
}

const MAX_NODES = 2_000
const MAX_VALUES = 60
const MAX_VALUE_LENGTH = 200
/** How many fields of one object are written. */
const MAX_FIELDS = 200
/** This many characters of a comment count as much as a type. */
const COMMENT_PER_NODE = 40
const MAX_DEPTH = 24

export function typeWriting(root: unknown, taken: Set<string>): TypeWriting {
  return { root, names: new Map(), taken, within: new Set(), left: MAX_NODES, depth: 0 }
}

/**
 * Formats the TypeScript type of a schema. `bare` means that it is not inside an object or a list, where TypeScript does not allow an
 * alias that refers to itself.
 */
export function typeScriptType(writing: TypeWriting, schema: unknown, indent: string, bare: boolean): string {
  const view = getSchemaView(writing.root, schema)
  if (view.never) return 'never'
  if (writing.left-- <= 0 || writing.depth >= MAX_DEPTH) return 'unknown'
  const named = bare ? undefined : getReferredName(writing, schema)
  if (named) return named
  if (view.parts.some((part) => writing.within.has(part))) return 'unknown'
  for (const part of view.parts) writing.within.add(part)
  writing.depth++
  try {
    return union(writing, view, indent, bare)
  } finally {
    writing.depth--
    for (const part of view.parts) writing.within.delete(part)
  }
}

/** Gets the name of the definition if a schema is only a reference. */
function getReferredName(writing: TypeWriting, schema: unknown): string | undefined {
  const reference = (schema as { $ref?: unknown } | null | undefined)?.$ref
  if (typeof reference !== 'string' || 'allOf' in (schema as object) || 'properties' in (schema as object))
    return undefined
  const target = resolveReference(writing.root, reference)
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return undefined
  const known = writing.names.get(target as JsonSchema)
  if (known) return known
  const words = reference === '#' ? 'Root' : (reference.split('/').at(-1) ?? 'Root')
  const name = toIdentifier(words.slice(0, 1).toUpperCase() + words.slice(1), writing.taken)
  writing.taken.add(name)
  writing.names.set(target as JsonSchema, name)
  return name
}

/** Declares `type Node = …` for each definition that was referred to, directly or indirectly. */
export function typeDeclarations(writing: TypeWriting): readonly string[] {
  const declarations: string[] = []
  for (const [schema, name] of writing.names) {
    writing.left = Math.max(writing.left, MAX_NODES / 10)
    declarations.push(`type ${name} = ${typeScriptType(writing, schema, '', true)}`)
  }
  return declarations
}

function union(writing: TypeWriting, view: SchemaView, indent: string, bare: boolean): string {
  const values = valuesAt(view)
  if (values) return literals(values)
  const groups = alternativesAt(view)
    .map(({ branches }) => branches.filter((branch) => !isRule(branch)))
    .filter((branches) => branches.length > 1)
  const own = fieldsAt(view).length > 0 || groups.length === 0 ? [either(ownTypes(writing, view, indent))] : []
  const others = groups.map((branches) =>
    either(branches.map((branch) => typeScriptType(writing, branch, indent, bare))),
  )
  const all = [...own, ...others]
  if (all.length === 1) return all.join('')
  return all.map((type) => (type.includes(' | ') ? `(${type})` : type)).join(' & ')
}

function either(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  if (distinct.includes('unknown')) return 'unknown'
  return distinct.join(' | ')
}

function literals(values: readonly unknown[]): string {
  const isPlain = (value: unknown): boolean => value === null || /^(?:string|number|boolean)$/.test(typeof value)
  const getKind = (value: unknown): string => {
    if (value === null) return 'null'
    if (isPlain(value)) return typeof value
    return 'unknown'
  }
  const kinds = new Set(values.map(getKind))
  if (kinds.has('unknown')) return 'unknown'
  const texts = values.slice(0, MAX_VALUES + 1).map((value) => literal(value) ?? 'unknown')
  const isTooMuch = texts.length > MAX_VALUES || texts.some((text) => text.length > MAX_VALUE_LENGTH)
  return either(isTooMuch ? [...kinds] : texts)
}

function ownTypes(writing: TypeWriting, view: SchemaView, indent: string): readonly string[] {
  const kinds = kindsAt(view)
  if (kinds.length === 0) return ['unknown']
  return kinds.map((kind) => {
    if (kind === 'object') return objectType(writing, view, indent)
    if (kind === 'array') return arrayType(writing, view, indent)
    if (kind === 'integer') return 'number'
    if (['string', 'number', 'boolean', 'null'].includes(kind)) return kind
    return 'unknown'
  })
}

function arrayType(writing: TypeWriting, view: SchemaView, indent: string): string {
  const { first, rest } = itemsAt(view)
  const item = (schema: unknown): string => typeScriptType(writing, schema, indent, false)
  const getList = (schema: unknown): string => {
    const type = schema === undefined ? 'unknown' : item(schema)
    if (/^[\w$]+$/.test(type) || /^\{[^{}]*\}$/.test(type)) return `${type}[]`
    return `(${type})[]`
  }
  if (first.length === 0) return getList(rest)
  const others = rest === undefined || rest === false ? [] : [`...${getList(rest)}`]
  return `[${[...first.map(item), ...others].join(', ')}]`
}

function objectType(writing: TypeWriting, view: SchemaView, indent: string): string {
  const inner = `${indent}  `
  const all = fieldsAt(view)
  const fields = all.slice(0, MAX_FIELDS)
  const lines = fields.flatMap((field) => {
    const type = typeScriptType(writing, field.schema, inner, false)
    const text = writing.left > 0 ? fieldDoc(getSchemaView(writing.root, field.schema)) : ''
    writing.left -= text.length / COMMENT_PER_NODE
    const doc = docLines(text, inner)
    return [...doc, `${inner}${propertyName(field.name)}${field.required ? '' : '?'}: ${type}`]
  })
  if (all.length > fields.length) lines.push(`${inner}/** ${all.length - fields.length} more fields. */`)
  const index = all.length > fields.length ? 'unknown' : indexType(writing, view, inner)
  // With named fields, an index signature would have to include all their types.
  if (index) lines.push(`${inner}[key: string]: ${fields.length > 0 ? 'unknown' : index}`)
  if (lines.length === 0) {
    if (takesAnyFields(view)) return 'Record<string, unknown>'
    return 'Record<string, never>'
  }
  return `{\n${lines.join('\n')}\n${indent}}`
}

function indexType(writing: TypeWriting, view: SchemaView, indent: string): string | undefined {
  const others = otherFieldsAt(view)
  const schemas = [...patternFieldsAt(view).map(([, schema]) => schema), ...(others === undefined ? [] : [others])]
  if (schemas.length === 0) return undefined
  return either(schemas.map((schema) => typeScriptType(writing, schema, indent, false)))
}

/** Quotes all but the plainest names: compilers differ in which letters they accept. */
function propertyName(name: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(name)) return name
  return literal(name) ?? name
}
