import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { schemaFault, findUncheckedPatterns } from '../../core/schema/fault.ts'
import type { LearnedOutput } from '../learned-output.ts'
import { cleanCopy, copyJson } from './copy-json.ts'

const ANY_OBJECT: JsonSchema = Object.freeze({ type: 'object' })

/** A tool's schema, copied when the tool was read. The other fields are computed on first use. */
export interface ReadSchema {
  /** The schema to show: unchanged, except for the form that clients require at the outermost level. */
  readonly shown: JsonSchema | undefined
  /** Whether arguments can be checked with it. */
  readonly isCheckable: boolean
  /** The faults of the schema, as sentences. */
  readonly faults: readonly string[]
}

/** Reads a tool's input schema. Checking a schema takes far longer than copying it, and most tools are never called. */
export function readInputSchema(given: unknown): ReadSchema & { readonly shown: JsonSchema } {
  if (given === undefined || given === null) return ANY_ARGUMENTS
  const copied = copyJson(given)
  if ('fault' in copied) {
    const faults = [`Its input schema ${copied.fault}, so arguments are passed on unchecked.`]
    return { shown: ANY_OBJECT, isCheckable: false, faults }
  }
  return new InputSchema(copied.copy)
}

const ANY_ARGUMENTS = Object.freeze({ shown: ANY_OBJECT, isCheckable: true, faults: Object.freeze([]) })

class InputSchema implements ReadSchema {
  readonly #copy: Record<string, unknown>
  #cleaned: ReturnType<typeof cleanCopy> | undefined
  #shown: JsonSchema | undefined
  #checked: Pick<ReadSchema, 'isCheckable' | 'faults'> | undefined

  constructor(copy: Record<string, unknown>) {
    this.#copy = copy
  }

  get shown(): JsonSchema {
    return (this.#shown ??= toListable(this.#clean().copy))
  }

  get isCheckable(): boolean {
    return this.#check().isCheckable
  }

  get faults(): readonly string[] {
    return this.#check().faults
  }

  #clean(): ReturnType<typeof cleanCopy> {
    return (this.#cleaned ??= cleanCopy(this.#copy))
  }

  #check(): Pick<ReadSchema, 'isCheckable' | 'faults'> {
    return (this.#checked ??= checkInputSchema(this.#clean()))
  }
}

function checkInputSchema({
  copy: schema,
  isCleaned,
}: ReturnType<typeof cleanCopy>): Pick<ReadSchema, 'isCheckable' | 'faults'> {
  const faults = isCleaned ? ['Invisible characters were removed from its input schema.'] : []
  const { type } = schema
  const isForObjects = type === undefined || [type].flat().includes('object')
  const fault =
    schemaFault(schema) ?? (isForObjects ? undefined : `its type is ${JSON.stringify(type)} instead of "object".`)
  if (fault !== undefined) {
    faults.push(`Its input schema cannot be used: ${fault} Arguments are passed on unchecked.`)
    return { isCheckable: false, faults }
  }
  for (const note of findUncheckedPatterns(schema))
    faults.push(`A pattern in its input schema is left for the tool to check: ${note}`)
  return { isCheckable: true, faults }
}

export interface ReadOutputSchema extends Pick<ReadSchema, 'shown' | 'faults'> {
  /** What was learned about the results of a tool that declares no schema that can be used. */
  readonly learned?: LearnedOutput | undefined
}

/** Reads a tool's output schema. One that cannot be used is left out: clients that check results with it would fail. */
export function readOutputSchema(given: unknown): ReadOutputSchema {
  if (given === undefined || given === null) return NO_OUTPUT_SCHEMA
  const copied = copyJson(given)
  if ('fault' in copied) return { shown: undefined, faults: [`Its output schema is left out: it ${copied.fault}.`] }
  let checked: ReadOutputSchema | undefined
  const check = (): ReadOutputSchema => (checked ??= checkOutputSchema(copied.copy))
  return {
    get shown() {
      return check().shown
    },
    get faults() {
      return check().faults
    },
  }
}

/** Adds what was learned about a tool's results to the schema that it declares. */
export function addLearnedOutput(declared: ReadOutputSchema, given: LearnedOutput | undefined): ReadOutputSchema {
  if (!given) return declared
  const { results, confidence } = given
  const read = readOutputSchema(given.schema)
  let learned: LearnedOutput | undefined
  return {
    get shown() {
      return declared.shown
    },
    get faults() {
      return declared.faults
    },
    get learned() {
      if (declared.shown !== undefined || read.shown === undefined) return undefined
      return (learned ??= Object.freeze({ schema: read.shown, results, confidence }))
    },
  }
}

const NO_OUTPUT_SCHEMA = Object.freeze({ shown: undefined, faults: Object.freeze([]) })

function checkOutputSchema(given: Record<string, unknown>): ReadOutputSchema {
  const { copy: schema, isCleaned } = cleanCopy(given)
  const fault = schemaFault(schema)
  if (fault !== undefined) return { shown: undefined, faults: [`Its output schema is left out: ${fault}`] }
  const faults = isCleaned ? ['Invisible characters were removed from its output schema.'] : []
  return { shown: schema['type'] === 'object' ? toListable(schema) : schema, faults }
}

/**
 * Makes the outermost level of a schema readable for MCP clients, which reject the whole list because of one definition that they
 * cannot read. They accept only objects as properties, although JSON Schema also allows `true` and `false`.
 */
function toListable(schema: JsonSchema): JsonSchema {
  const { type, properties, required, ...rest } = schema
  const isReadable =
    type === 'object' &&
    (properties === undefined || (isObject(properties) && Object.values(properties).every(isObject))) &&
    (required === undefined || (Array.isArray(required) && required.every(isText)))
  if (isReadable) return schema
  return {
    ...rest,
    type: 'object',
    ...(isObject(properties) && { properties: toObjects(properties) }),
    ...(Array.isArray(required) && { required: required.filter(isText) }),
  }
}

function toObjects(properties: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, toObject(schema)]))
}

function toObject(schema: unknown): JsonSchema {
  if (isObject(schema)) return schema
  if (schema === false) return { not: {} }
  return {}
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
