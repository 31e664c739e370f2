import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { isObject } from 'foldout-shared/values'
import { createValueCheck, type ValueCheck } from './check/check.ts'
import { MAX_FIELD_DEPTH } from './check/limits.ts'

export type { StandardSchemaV1 }

/**
 * A JSON Schema, draft 2020-12, as a plain object.
 *
 * @example
 * ```ts
 * const schema: JsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
 * const weather = defineTool({ name: 'weather', description: 'Tells the weather.', params: schema, execute: () => ok('Sunny') })
 * ```
 */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * A schema for a tool: it validates values and can be converted to JSON Schema.
 *
 * @example
 * ```ts
 * const params: ToolSchema<{ readonly city: string }> = z.object({ city: z.string() })
 * const weather = defineTool({ name: 'weather', description: 'Tells the weather.', params, execute: ({ city }) => ok(city) })
 * ```
 */
export interface ToolSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>
}

/**
 * The input type of a schema.
 *
 * @example
 * ```ts
 * const schema = z.object({ days: z.string().transform(Number) })
 * const given: InputOf<typeof schema> = { days: '3' }
 * ```
 */
export type InputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : never
/**
 * The output type of a schema.
 *
 * @example
 * ```ts
 * const schema = z.object({ days: z.string().transform(Number) })
 * const read: OutputOf<typeof schema> = { days: 3 }
 * ```
 */
export type OutputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : never

/**
 * Declares the params of a section by type alone. At run time, only the presence of each value is checked, not its
 * type.
 *
 * @example
 * ```ts
 * const orders = defineSection({
 *   key: 'orders',
 *   title: 'Orders',
 *   params: defineParams<{ ids: readonly string[] }>(),
 *   render: ({ ids }) => ids.join('\n'),
 * })
 * ```
 */
export function defineParams<Params extends object>(): StandardSchemaV1<Params, Params> {
  return {
    '~standard': { version: 1, vendor: 'foldout', validate: (value) => ({ value: value as Params }) },
  }
}

/**
 * Creates a schema from a raw JSON Schema (draft 2020-12, including the forms of older drafts). You choose `T`, the
 * type of valid values; it is not inferred. Checking is bounded: no schema or value can stall the process.
 *
 * @example
 * ```ts
 * import { defineTool, fromJsonSchema, ok } from 'foldout'
 *
 * const params = fromJsonSchema<{ readonly city: string }>({
 *   type: 'object',
 *   properties: { city: { type: 'string' } },
 *   required: ['city'],
 * })
 * const weather = defineTool({ name: 'weather', description: 'Tells the weather.', params, execute: ({ city }) => ok(city) })
 * ```
 */
export function fromJsonSchema<T = unknown>(schema: JsonSchema): ToolSchema<T, T> {
  let check: ValueCheck | undefined
  const validate = (value: unknown): StandardSchemaV1.Result<T> => {
    check ??= createValueCheck(schema)
    const issues = check(value)
    if (issues.length === 0) return { value: value as T }
    return { issues }
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate,
      jsonSchema: { input: () => schema, output: () => schema },
    },
  }
}

const checks = new WeakMap<JsonSchema, ValueCheck>()

/** Checks a value against a JSON Schema and returns the issues, worded for models. */
export function checkByJsonSchema(schema: JsonSchema, value: unknown): readonly StandardSchemaV1.Issue[] {
  let check = checks.get(schema)
  if (!check) checks.set(schema, (check = createValueCheck(schema)))
  return check(value)
}

/** Creates a schema that is shown to models but accepts every value, for values that are checked elsewhere. */
export function createUncheckedSchema(schema: JsonSchema): ToolSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  }
}

/**
 * Describes issues in one line: `region must be "north" or "south"; there is no argument who`. Messages from other
 * libraries follow a colon, because they may not continue the sentence.
 */
export function describeIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  return issues.map(describeIssue).join('; ')
}

function describeIssue(issue: StandardSchemaV1.Issue): string {
  const message = typeof issue.message === 'string' ? issue.message.replace(/\.$/, '') : 'is invalid'
  if (message.startsWith('there is no ')) return message
  const path = issuePath(issue)
  if (/^(?:must|is|has|cannot) /.test(message)) return `${path || 'the value'} ${message}`
  return `${path || 'value'}: ${message}`
}

/** Formats the path of an issue, such as `a.b[0]`; empty for the whole value. */
export function issuePath(issue: StandardSchemaV1.Issue): string {
  let path = ''
  for (const key of issueKeys(issue)) {
    if (typeof key === 'number') path += `[${key}]`
    else path += path === '' ? String(key) : `.${String(key)}`
  }
  return path
}

/** Lists the keys of an issue's path. */
export function issueKeys(issue: StandardSchemaV1.Issue): readonly PropertyKey[] {
  // Copied first: arktype's path is a subclass of Array whose `map` turns an empty path into a non-empty one.
  return [...(issue.path ?? [])].map((segment) => (typeof segment === 'object' ? segment.key : segment))
}

export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && '~standard' in value && typeof (value as StandardSchemaV1)['~standard']?.validate === 'function'
}

/** Whether a schema can be converted to JSON Schema. */
export function isToolSchema(schema: StandardSchemaV1): schema is ToolSchema {
  return 'jsonSchema' in schema['~standard']
}

/**
 * Converts one side of a schema to JSON Schema. Throws the library's error if that is not possible; with `lenient`,
 * libraries that support it accept any value for such parts instead.
 */
export function toJsonSchema(
  schema: ToolSchema,
  side: 'input' | 'output',
  options: { readonly lenient?: boolean } = {},
): JsonSchema {
  const { $schema: _, ...rest } = schema['~standard'].jsonSchema[side]({
    target: 'draft-2020-12',
    // The names of this option in zod and valibot.
    ...(options.lenient && { libraryOptions: { unrepresentable: 'any', errorMode: 'ignore' } }),
  })
  return rest
}

/**
 * Lists the field names of one side of an object schema, and whether it accepts other fields. Returns `undefined` if that is
 * unknown, because the schema has no JSON Schema or is not a plain object.
 */
export function fieldNames(schema: StandardSchemaV1, side: 'input' | 'output'): ReadonlySet<string> | undefined {
  if (!isToolSchema(schema)) return undefined
  let json: JsonSchema
  try {
    json = toJsonSchema(schema, side, { lenient: true })
  } catch {
    return undefined
  }
  if (json['type'] !== 'object' || !isObject(json['properties'])) return undefined
  if (json['additionalProperties'] !== undefined && json['additionalProperties'] !== false) return undefined
  if ('allOf' in json || 'anyOf' in json || 'oneOf' in json || '$ref' in json || 'patternProperties' in json)
    return undefined
  return new Set(Object.keys(json['properties']))
}

/** Replaces descriptions in a JSON Schema, each by the dotted path of its field (`filter.name`). */
export function describeFields(
  schema: JsonSchema,
  descriptions: Readonly<Record<string, string>>,
): { readonly schema: JsonSchema; readonly unknown: readonly string[] } {
  const copy = structuredClone(schema) as Record<string, unknown>
  const unknown: string[] = []
  for (const [path, description] of Object.entries(descriptions)) {
    const field = path.split('.').reduce<unknown>((at, key) => getField(at, key), copy)
    if (isObject(field)) field['description'] = description
    else unknown.push(path)
  }
  return { schema: copy, unknown }
}

/** Lists the descriptions of fields by dotted path, as far as {@link describeFields} finds the same fields again. */
export function listFieldDescriptions(schema: JsonSchema): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const waiting: { readonly schema: unknown; readonly path: string; readonly depth: number }[] = [
    { schema, path: '', depth: 0 },
  ]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, depth } = next
    if (!isObject(next.schema) || depth > MAX_FIELD_DEPTH) continue
    const { properties, items } = next.schema
    waiting.push({ schema: items, path, depth: depth + 1 })
    for (const [key, field] of Object.entries(isObject(properties) ? properties : {})) {
      // A key with a dot could not be told from a path.
      if (key.includes('.') || !isObject(field)) continue
      const own = path === '' ? key : `${path}.${key}`
      if (typeof field['description'] === 'string' && !Object.hasOwn(found, own))
        Object.defineProperty(found, own, { value: field['description'], enumerable: true })
      waiting.push({ schema: field, path: own, depth: depth + 1 })
    }
  }
  return found
}

function getField(schema: unknown, key: string): unknown {
  if (!isObject(schema)) return undefined
  const properties = schema['properties']
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key]
  // The path of a field in an array's objects skips the index: `filters.name`.
  if (isObject(schema['items'])) return getField(schema['items'], key)
  return undefined
}
