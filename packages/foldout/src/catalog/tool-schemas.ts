import { isPlainObject } from '../core/json/json.ts'
import type { JsonSchema } from '../core/schema/schema.ts'
import { schemaFault } from '../core/schema/fault.ts'

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
  if (!isPlainObject(given) || !isJson(given)) {
    faults.push(`Its input schema is no JSON object; any arguments are passed on.`)
    return { schema: ANY_OBJECT, isCheckable: false }
  }
  const { type } = given
  const isOfObject = type === undefined || [type].flat().includes('object')
  const fault = schemaFault(given) ?? (isOfObject ? undefined : `it is of ${JSON.stringify(type)}, not of an object.`)
  if (fault !== undefined) faults.push(`Its input schema cannot be used: ${fault} Arguments are passed on unchecked.`)
  return { schema: presentable(given), isCheckable: fault === undefined }
}

/** Reads a tool's output schema. One that cannot be used is left out: clients that check results by it would fail. */
export function readOutputSchema(given: unknown, faults: string[]): JsonSchema | undefined {
  if (given === undefined || given === null) return undefined
  const isObject = isPlainObject(given) && isJson(given)
  const fault = isObject ? schemaFault(given) : 'it is no JSON object.'
  if (isObject && fault === undefined) return given['type'] === 'object' ? presentable(given) : given
  faults.push(`Its output schema is left out: ${fault}`)
  return undefined
}

/**
 * A schema whose outermost level MCP's clients can read: a client that cannot read one definition refuses the whole list.
 * They take nothing but objects as properties, where JSON Schema has `true` and `false` too.
 */
function presentable(schema: JsonSchema): JsonSchema {
  const { type, properties, required, ...rest } = schema
  const isReadable =
    type === 'object' &&
    (properties === undefined || (isPlainObject(properties) && Object.values(properties).every(isPlainObject))) &&
    (required === undefined || (Array.isArray(required) && required.every(isText)))
  if (isReadable) return schema
  return {
    ...rest,
    type: 'object',
    ...(isPlainObject(properties) ? { properties: objectsOnly(properties) } : {}),
    ...(Array.isArray(required) ? { required: required.filter(isText) } : {}),
  }
}

function objectsOnly(properties: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isPlainObject(schema) ? schema : schema === false ? { not: {} } : {},
    ]),
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Whether something can be written as JSON at all, as every list is. */
export function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}
