import { isPlainObject } from '../../core/json/json.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { schemaFault, uncheckedPatterns } from '../../core/schema/fault.ts'
import { copyJson } from './copy-json.ts'

const ANY_OBJECT: JsonSchema = Object.freeze({ type: 'object' })

export interface ReadSchema {
  /** To show: as it was given, but for what clients demand of the outermost level. */
  readonly schema: JsonSchema
  /** Whether arguments can be checked with it. */
  readonly isCheckable: boolean
}

/** Reads a tool's input schema; what is wrong with it is added to the faults. */
export function readInputSchema(given: unknown, faults: string[]): ReadSchema {
  if (given === undefined || given === null) return { schema: ANY_OBJECT, isCheckable: true }
  const copied = copyJson(given, { forModels: true })
  if ('fault' in copied) {
    faults.push(`Its input schema ${copied.fault}, so arguments are passed on unchecked.`)
    return { schema: ANY_OBJECT, isCheckable: false }
  }
  const { copy: schema } = copied
  if (copied.isCleaned) faults.push('Invisible characters were removed from its input schema.')
  const { type } = schema
  const isOfObject = type === undefined || [type].flat().includes('object')
  const fault = schemaFault(schema) ?? (isOfObject ? undefined : `it is of ${JSON.stringify(type)}, not of an object.`)
  if (fault !== undefined) faults.push(`Its input schema cannot be used: ${fault} Arguments are passed on unchecked.`)
  else
    for (const note of uncheckedPatterns(schema))
      faults.push(`A pattern of its input schema is left to the tool to check: ${note}`)
  return { schema: toListable(schema), isCheckable: fault === undefined }
}

/** Reads a tool's output schema. One that cannot be used is left out: clients that check results by it would fail. */
export function readOutputSchema(given: unknown, faults: string[]): JsonSchema | undefined {
  if (given === undefined || given === null) return undefined
  const copied = copyJson(given, { forModels: true })
  const fault = 'fault' in copied ? `it ${copied.fault}.` : schemaFault(copied.copy)
  if ('fault' in copied || fault !== undefined) {
    faults.push(`Its output schema is left out: ${fault}`)
    return undefined
  }
  const { copy: schema } = copied
  if (copied.isCleaned) faults.push('Invisible characters were removed from its output schema.')
  return schema['type'] === 'object' ? toListable(schema) : schema
}

/**
 * A schema whose outermost level MCP's clients can read: a client that cannot read one definition refuses the whole list.
 * They take nothing but objects as properties, where JSON Schema has `true` and `false` too.
 */
function toListable(schema: JsonSchema): JsonSchema {
  const { type, properties, required, ...rest } = schema
  const isReadable =
    type === 'object' &&
    (properties === undefined || (isPlainObject(properties) && Object.values(properties).every(isPlainObject))) &&
    (required === undefined || (Array.isArray(required) && required.every(isText)))
  if (isReadable) return schema
  return {
    ...rest,
    type: 'object',
    ...(isPlainObject(properties) ? { properties: toObjects(properties) } : {}),
    ...(Array.isArray(required) ? { required: required.filter(isText) } : {}),
  }
}

function toObjects(properties: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, toObject(schema)]))
}

function toObject(schema: unknown): JsonSchema {
  if (isPlainObject(schema)) return schema
  return schema === false ? { not: {} } : {}
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
