import { isPlainObject } from '../../core/json/json.ts'
import { describeIssues, fromJsonSchema, type JsonSchema, type StandardSchemaV1 } from '../../core/schema/schema.ts'

const text: JsonSchema = { type: 'string' }
const texts: JsonSchema = { type: 'array', items: text }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const tokens: JsonSchema = { type: 'number', minimum: 0 }
const record = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema => ({ type: 'object', properties: { ...properties, ...optional }, required: Object.keys(properties) })
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'] as string, 'null'] })

const usage = record({
  inputTokens: tokens,
  outputTokens: tokens,
  cachedInputTokens: tokens,
  cacheWriteTokens: tokens,
})
const shown = list({ type: 'array', items: text, minItems: 2, maxItems: 2 })
const toolMessage = record({ callId: text, name: text, text }, { images: list({ type: 'object' }) })

/** The fields of a state except its messages and results, which are checked one by one. */
const fields = record(
  {},
  {
    id: text,
    status: { enum: ['new', 'running', 'completed', 'stopped', 'waiting', 'cancelled'] },
    calling: list(record({ callId: text, tool: text, digest: text })),
    approvals: list(
      record(
        { callId: text, tool: text, askedAt: text, digest: text },
        { reason: text, expiresAt: text, answer: { type: 'object' } },
      ),
    ),
    pending: list(record({ callId: text, keys: texts, paths: texts }, { reason: text })),
    usage,
    totalUsage: usage,
    expansions: count,
    turns: count,
    repairs: count,
    disclosed: texts,
    answer: orNull(text),
    start: orNull(record({ system: text, tools: texts, definitions: text, prompt: text, source: text, shown })),
    read: shown,
  },
)
const messages: Readonly<Record<string, JsonSchema>> = {
  user: record({ text }, { parts: list(record({ type: { enum: ['text', 'image', 'file'] } })) }),
  assistant: record(
    { text, toolCalls: list(record({ id: text, name: text }, { malformed: text })) },
    { native: record({ adapter: text }) },
  ),
  tool: toolMessage,
  tools: record({ names: texts }),
}
const schemas = new Map(Object.entries(messages).map(([role, schema]) => [role, fromJsonSchema(schema)]))
const fieldsSchema = fromJsonSchema(fields)

/** Describes the fault of a value that should be the state of a run, as a clause; `undefined` if it is valid. */
export function findStateFault(json: unknown): string | undefined {
  if (!isPlainObject(json)) return 'it is not an object'
  const { messages: said, finished, version, ...others } = json
  if (version !== 1) return 'its version is not 1'
  if (!Array.isArray(said)) return 'its messages are not a list'
  if (finished !== undefined && !isObject(finished)) return 'finished is not a list'
  return (
    findFault(fieldsSchema, others, []) ??
    findFirst(said, (message, index) => findMessageFault(message, ['messages', index])) ??
    findFirst(Object.values(finished ?? []) as unknown[], (message, index) =>
      isPlainObject(message) && message['role'] !== 'tool'
        ? `finished[${index}] is not the result of a call`
        : findMessageFault(message, ['finished', index]),
    )
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function findFirst(
  items: readonly unknown[],
  find: (item: unknown, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const fault = find(item, index)
    if (fault !== undefined) return fault
  }
  return undefined
}

function findMessageFault(message: unknown, place: readonly [string, number]): string | undefined {
  const role = isPlainObject(message) ? message['role'] : undefined
  const schema = typeof role === 'string' ? schemas.get(role) : undefined
  return schema ? findFault(schema, message, place) : `${place[0]}[${place[1]}] is not a message`
}

function findFault(schema: StandardSchemaV1, value: unknown, place: readonly (string | number)[]): string | undefined {
  const checked = schema['~standard'].validate(value)
  if (checked instanceof Promise || !checked.issues) return undefined
  const [issue] = checked.issues
  return issue && describeIssues([{ ...issue, path: [...place, ...(issue.path ?? [])] }])
}
