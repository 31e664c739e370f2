export interface Field {
  readonly name: string
  readonly kind: 'text' | 'number' | 'json'
  readonly choices: readonly string[] | undefined
  readonly description: string
  readonly isRequired: boolean
}

type Schema = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of a form for a tool's arguments. Values without a simple form are entered as JSON. */
export function getFields(schema: Schema): readonly Field[] {
  const { properties, required } = schema
  if (!isObject(properties)) return []
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(properties).map(([name, property]) => {
    const { type, enum: choices, description } = isObject(property) ? property : {}
    return {
      name,
      kind: getKind(type),
      choices: getChoices(type, choices),
      description: typeof description === 'string' ? description : '',
      isRequired: needed.has(name),
    }
  })
}

function getKind(type: unknown): Field['kind'] {
  if (type === 'string') return 'text'
  return type === 'number' || type === 'integer' ? 'number' : 'json'
}

function getChoices(type: unknown, choices: unknown): readonly string[] | undefined {
  if (type === 'boolean') return ['true', 'false']
  const isList = Array.isArray(choices) && choices.every((choice) => typeof choice === 'string')
  return isList && type === 'string' ? choices : undefined
}

/** Reads the arguments from a form, without empty fields. Throws an error that names a field that is not JSON. */
export function readArguments(
  fields: readonly Field[],
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const entries = fields.flatMap((field): readonly (readonly [string, unknown])[] => {
    const text = Object.hasOwn(texts, field.name) ? (texts[field.name] ?? '') : ''
    return text === '' ? [] : [[field.name, readText(field, text)]]
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
