import { isObject } from 'foldout-shared/values'

export interface Field {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
  readonly choices: readonly string[] | undefined
  readonly description: string
  /** What the tool takes if the field is left out, as JSON; empty if the schema does not say. */
  readonly usual: string
  readonly isRequired: boolean
}

type Schema = Readonly<Record<string, unknown>>

/** The fields of a form for a tool's arguments. Values without a simple form are entered as JSON. */
export function getFields(schema: Schema): readonly Field[] {
  const { properties, required } = schema
  if (!isObject(properties)) return []
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(properties).map(([name, property]) => {
    const declared = isObject(property) ? property : {}
    const meant = dropNull(declared)
    const { description = meant['description'], default: usual } = declared
    const choices = getChoices(meant)
    return {
      name,
      kind: choices && meant['type'] === undefined ? 'text' : getKind(meant['type']),
      choices,
      description: typeof description === 'string' ? description : '',
      usual: usual === undefined || usual === null ? '' : JSON.stringify(usual).slice(0, LONGEST_USUAL),
      isRequired: needed.has(name),
    }
  })
}

const LONGEST_USUAL = 80

/** Many servers write that a field may be left out as "this, or null". */
function dropNull(property: Schema): Schema {
  const { type, anyOf } = property
  const types = Array.isArray(type) ? type.filter((each) => each !== 'null') : []
  if (types.length === 1) return { ...property, type: types[0] as unknown }
  const others = Array.isArray(anyOf) ? anyOf.filter((each) => !isObject(each) || each['type'] !== 'null') : []
  const [only] = others as readonly unknown[]
  if (others.length === 1 && isObject(only)) return only
  return property
}

function getKind(type: unknown): Field['kind'] {
  if (type === 'string') return 'text'
  if (type === 'boolean') return 'boolean'
  if (type === 'number' || type === 'integer') return 'number'
  return 'json'
}

function getChoices({ type, enum: choices }: Schema): readonly string[] | undefined {
  if (type === 'boolean') return ['true', 'false']
  const isList = Array.isArray(choices) && choices.every((choice) => typeof choice === 'string')
  if (isList && (type === 'string' || type === undefined)) return choices
  return undefined
}

/** Arguments that were written as a whole. Throws if they are not an object of JSON. */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text)
  } catch (error) {
    throw new Error(`The arguments are not valid JSON: ${(error as Error).message}`, { cause: error })
  }
  if (!isObject(value)) throw new Error('The arguments must be a JSON object, such as {"name": "value"}.')
  return value
}

/** Reads the arguments from a form, without empty fields. Throws an error that names a field that is not JSON. */
export function readArguments(
  fields: readonly Field[],
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const entries = fields.flatMap((field): readonly (readonly [string, unknown])[] => {
    const text = Object.hasOwn(texts, field.name) ? (texts[field.name] ?? '') : ''
    if (text === '') return []
    return [[field.name, readText(field, text)]]
  })
  return Object.fromEntries(entries)
}

function readText({ name, kind }: Field, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(kind === 'number' ? `${name} must be a number.` : `${name} is not valid JSON.`)
  }
}
