import { isObject } from 'foldout-shared/values'
import { ignore } from '../../core/promises.ts'
import { FoldoutError, getErrorMessage, PromptValidationError } from '../../core/errors.ts'
import { findJson, type BrokenJson, type FoundJson } from '../../core/json/json-in-text.ts'
import { deepFreeze } from '../../core/json/json.ts'
import { MAX_JSON_DEPTH } from '../../core/json/limits.ts'
import {
  describeShape,
  kindName,
  getKind,
  getKinds,
  rootShape,
  type JsonKind,
  type Shape,
} from '../../core/schema/shape.ts'
import {
  fromJsonSchema,
  isStandardSchema,
  isToolSchema,
  toJsonSchema,
  type JsonSchema,
  type OutputOf,
  type StandardSchemaV1,
  type ToolSchema,
} from '../../core/schema/schema.ts'
import { MAX_OUTPUT_CANDIDATES } from './limits.ts'
import { findProblems, hasExtraFields, type CheckedValue, type ProblemKind } from './output-problems.ts'

/**
 * The kind of problem with an answer.
 *
 * @example
 * ```ts
 * const isMissing = (kind: OutputParseErrorKind): boolean => kind === 'no-json'
 * isMissing('no-json') // => true
 * ```
 */
export type OutputParseErrorKind = 'no-json' | 'wrong-container' | ProblemKind

/**
 * Thrown when a model's answer does not fit the output schema. The message is written for the model, so it can fix its
 * answer.
 *
 * @example
 * ```ts
 * try {
 *   parseOutput(z.object({ city: z.string() }), 'Sure: {"town": "Oslo"}')
 * } catch (error) {
 *   if (error instanceof OutputParseError) console.error(error.kind, error.fields)
 *   else throw error
 * }
 * ```
 */
export class OutputParseError extends FoldoutError {
  readonly kind: OutputParseErrorKind
  /** The whole answer, unchanged. */
  readonly raw: string
  /** The fields with a problem of this kind, such as `items[2].name`; at most the first thousand. */
  readonly fields: readonly string[]

  constructor(kind: OutputParseErrorKind, message: string, raw: string, fields: readonly string[] = []) {
    super('output-parse', message)
    this.kind = kind
    this.raw = raw
    this.fields = Object.freeze([...fields])
  }
}

/**
 * The form of a model's answer, and how to parse it.
 *
 * @example
 * ```ts
 * const prompt = definePrompt({ ns: 'shop', key: 'clerk', sections: [role], output: z.object({ city: z.string() }) })
 * const spec: OutputSpec<{ city: string }> = prompt.bind().render().output
 * spec.parse('{"city":"Oslo"}') // => { city: 'Oslo' }
 * ```
 */
export interface OutputSpec<T> {
  readonly schema: ToolSchema<unknown, T>
  /** The JSON Schema sent to the model's provider. */
  readonly jsonSchema: JsonSchema
  readonly container: 'object' | 'array'
  /** Parses an answer: bare JSON, JSON in a fenced block, or JSON within other text. Throws an {@link OutputParseError}. */
  parse(text: string): T
}

/**
 * The type of a schema's values; `unknown` for a raw JSON Schema.
 *
 * @example
 * ```ts
 * const schema = z.object({ city: z.string() })
 * const answer: OutputValue<typeof schema> = { city: 'Oslo' }
 * ```
 */
export type OutputValue<S> = S extends ToolSchema ? OutputOf<S> : unknown

/**
 * Creates an output from the schema of an object or an array: any Standard Schema that converts to JSON Schema, or a JSON
 * Schema. Unknown fields are rejected, even where the schema's library would silently drop them.
 */
export function outputSpec<const S extends ToolSchema | JsonSchema>(schema: S): OutputSpec<OutputValue<S>> {
  const { validator, jsonSchema } = readSchema(schema)
  const shape = rootShape(jsonSchema)
  const container = getContainer(shape)
  const spec: OutputSpec<unknown> = {
    schema: validator,
    jsonSchema,
    container,
    parse: (text) => parse(text, { validator, jsonSchema, shape, container }),
  }
  return Object.freeze(spec) as OutputSpec<OutputValue<S>>
}

/**
 * Parses a model's answer with a schema: bare JSON, a fenced block, or JSON within other text. Throws an
 * {@link OutputParseError} that says what is wrong with the answer.
 *
 * @example
 * ```ts
 * const { city } = parseOutput(z.object({ city: z.string() }), 'Sure: {"city": "Oslo"}')
 * ```
 */
export function parseOutput<const S extends ToolSchema | JsonSchema>(schema: S, text: string): OutputValue<S> {
  return outputSpec(schema).parse(text)
}

function readSchema(schema: unknown): { readonly validator: ToolSchema; readonly jsonSchema: JsonSchema } {
  if (isStandardSchema(schema)) {
    if (!isToolSchema(schema)) throw speechless(schema['~standard'].vendor)
    return { validator: schema, jsonSchema: sayAsJson(() => inputSide(schema)) }
  }
  if (isObject(schema)) {
    // A copy, so later changes to the given schema cannot make the validator differ from the schema that the provider
    // received.
    const validator = sayAsJson(() => fromJsonSchema(structuredClone(schema)))
    return { validator, jsonSchema: sayAsJson(() => inputSide(validator)) }
  }
  throw new PromptValidationError(
    `The output is ${getName(schema)}, not a schema. Use a schema from zod, valibot, arktype or a similar library, or a JSON Schema.`,
  )
}

function speechless(vendor: string): PromptValidationError {
  const advice =
    vendor === 'valibot'
      ? 'Wrap it in toStandardJsonSchema() from @valibot/to-json-schema.'
      : 'Pass the JSON Schema itself, or use fromJsonSchema().'
  return new PromptValidationError(
    `The output is a ${vendor} schema that cannot be converted to JSON Schema, which the model needs. ${advice}`,
  )
}

function inputSide(schema: ToolSchema): JsonSchema {
  try {
    return deepFreeze(structuredClone(toJsonSchema(schema, 'input')))
  } catch {
    return deepFreeze(structuredClone(toJsonSchema(schema, 'input', { lenient: true })))
  }
}

function sayAsJson<T>(say: () => T): T {
  try {
    return say()
  } catch (error) {
    throw new PromptValidationError(
      `The output cannot be converted to JSON Schema: ${getErrorMessage(error).replace(/\.$/, '')}. Use types that JSON has, or pass the JSON Schema itself.`,
      { cause: error },
    )
  }
}

function getContainer(shape: Shape): 'object' | 'array' {
  const kinds = [...(getKinds(shape) ?? [])]
  const [kind] = kinds
  if (kinds.length === 1 && (kind === 'object' || kind === 'array')) return kind
  const what = kinds.length === 0 ? 'anything' : kinds.map(kindName).join(' or ')
  throw new PromptValidationError(
    `The output must be an object or an array, but its schema says ${what}. Put it in a field of an object.`,
  )
}

function getName(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'function') return 'a function'
  return kindName(getKind(value))
}

interface Reading {
  readonly validator: ToolSchema
  readonly jsonSchema: JsonSchema
  readonly shape: Shape
  readonly container: JsonKind
}

function parse(text: string, { validator, jsonSchema, shape, container }: Reading): unknown {
  const { found, broken } = findJson(text)
  let meant: { readonly checked: CheckedValue; readonly length: number } | undefined
  for (const { value, length } of found
    .filter((one) => getKind(one.value) === container)
    .slice(0, MAX_OUTPUT_CANDIDATES)) {
    const checked = { value, schema: jsonSchema, result: validate(validator, value) }
    if (!checked.result.issues && !hasExtraFields(checked)) return checked.result.value
    if (!meant || length > meant.length) meant = { checked, length }
  }
  if (broken?.container === container && broken.length > (meant?.length ?? 0)) throw brokenError(text, broken, shape)
  if (meant) {
    const { kind, message, fields } = findProblems(meant.checked)
    throw new OutputParseError(kind, message, text, fields)
  }
  const other = longest(found)
  if (broken && broken.length > (other?.length ?? 0)) throw brokenError(text, broken, shape)
  if (!other) throw new OutputParseError('no-json', `The answer contains no JSON. ${request(shape)}`, text)
  throw new OutputParseError(
    'wrong-container',
    `The answer must be ${asJson(describeShape(shape) ?? kindName(container))}, but it is ${asJson(kindName(getKind(other.value)))}.`,
    text,
  )
}

function validate(schema: ToolSchema, value: unknown): StandardSchemaV1.Result<unknown> {
  const result = schema['~standard'].validate(value)
  if (!(result instanceof Promise)) return result
  // Nothing awaits the promise, so its rejection must not crash the process.
  void ignore(result, 'the error below says what is wrong')
  throw new PromptValidationError(
    'The output schema validates asynchronously, but answers are parsed synchronously. Remove its asynchronous checks, and run them on the parsed value.',
  )
}

function longest(pieces: readonly FoundJson[]): FoundJson | undefined {
  return pieces.reduce<FoundJson | undefined>(
    (best, one) => (best && best.length >= one.length ? best : one),
    undefined,
  )
}

const EXCERPT_LENGTH = 30

function brokenError(text: string, broken: BrokenJson, shape: Shape): OutputParseError {
  return new OutputParseError('no-json', `The JSON in the answer ${howBroken(text, broken)}. ${request(shape)}`, text)
}

function howBroken(text: string, { reason, offset }: BrokenJson): string {
  if (reason === 'cut-off') return 'is cut off before it ends'
  if (reason === 'too-deep') return `is nested more than ${MAX_JSON_DEPTH} levels deep`
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return `is malformed at line ${line}, column ${column}, before ${JSON.stringify(text.slice(offset, offset + EXCERPT_LENGTH))}`
}

function request(shape: Shape): string {
  return `Answer with ${asJson(describeShape(shape) ?? 'JSON')}.`
}

/** Turns `an object …` into `a JSON object …`. */
function asJson(description: string): string {
  return description.replace(/^an (?=object|array)/, 'a JSON ')
}
