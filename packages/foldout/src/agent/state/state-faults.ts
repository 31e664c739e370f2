import { isObject } from 'foldout-shared/values'
import { createUsageSchema } from '../../adapters/usage/usage.ts'
import { notJson } from '../../core/json/json.ts'
import {
  describeIssues,
  fromJsonSchema,
  issuePath,
  type JsonSchema,
  type StandardSchemaV1,
} from '../../core/schema/schema.ts'
import type { PayloadCheck } from '../../session/slice.ts'
import { isVisibility, visibility } from '../../session/visibility.ts'
import { MAX_DELEGATE_DEPTH } from './limits.ts'

/** Where in a value something is. */
type Place = readonly (string | number)[]

const text: JsonSchema = { type: 'string' }
const flag: JsonSchema = { type: 'boolean' }
const texts: JsonSchema = { type: 'array', items: text }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const time: JsonSchema = { type: 'number', minimum: 0 }
const record = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema => ({ type: 'object', properties: { ...properties, ...optional }, required: Object.keys(properties) })
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'] as string, 'null'] })

const usage = createUsageSchema()
const shown = list({ type: 'array', items: text, minItems: 2, maxItems: 2 })
const toolMessage = record(
  { role: { enum: ['tool'] }, callId: text, name: text, text },
  { images: list({ type: 'object' }) },
)
const runningCall = record({ callId: text, tool: text, digest: text })
const approval = { callId: text, tool: text, askedAt: text, digest: text }
const pendingOpening = record({ callId: text, keys: texts, paths: texts }, { reason: text })
const folded = list(record({ callId: text, form: { enum: ['large', 'old', 'closed', 'kept'] } }))
const summary = record({ count, messages: list({ type: 'object' }) })
const start = record({ system: text, tools: texts, definitions: text, prompt: text, source: text, shown })

const asking = { callId: text, path: text, question: text }
const delegate = record({ ...asking, opened: { type: 'object' }, state: { type: 'object' } })

/** The fields of a state except its messages and results, which are checked one by one. */
const fields = record(
  {},
  {
    id: text,
    status: { enum: ['new', 'running', 'completed', 'stopped', 'waiting', 'cancelled'] },
    calling: list(runningCall),
    approvals: list(record(approval, { reason: text, expiresAt: text, answer: { type: 'object' } })),
    pending: list(pendingOpening),
    usage,
    totalUsage: usage,
    expansions: count,
    turns: count,
    repairs: count,
    disclosed: texts,
    answer: orNull(text),
    start: orNull(start),
    read: shown,
    folded,
    summary: orNull(summary),
    repliedAt: orNull(time),
    delegates: list(delegate),
    delegated: usage,
  },
)
const messages: Readonly<Record<string, JsonSchema>> = {
  user: record({ text }, { parts: list(record({ type: { enum: ['text', 'image', 'file'] } })) }),
  assistant: record(
    { text, toolCalls: list(record({ id: text, name: text }, { malformed: text, writtenName: text, isCutOff: flag })) },
    { native: record({ adapter: text }), cut: { enum: ['cut-off', 'filtered'] } },
  ),
  tool: toolMessage,
  tools: record({ names: texts }, { removed: texts }),
}
const schemas = new Map(Object.entries(messages).map(([role, schema]) => [role, fromJsonSchema(schema)]))
const fieldsSchema = fromJsonSchema(fields)
const optionalId = fromJsonSchema(record({}, { id: text }))

/** Far more than a model reads or writes, and few enough that no sum becomes infinite. */
const reportedUsage = createUsageSchema(Number.MAX_SAFE_INTEGER)

/** What every check says about a payload that has no fields. */
export const NOT_AN_OBJECT = 'its payload is not an object'

const checkPayload = (schema: JsonSchema): PayloadCheck => {
  const compiled = fromJsonSchema(schema)
  return (payload) => findFault(compiled, payload, []) ?? findLoss(payload)
}
const checkMessageIn: PayloadCheck = (payload) => {
  if (isObject(payload)) return findMessageFault(payload['message'], ['message']) ?? findLoss(payload)
  return NOT_AN_OBJECT
}

const foldPayload = checkPayload(record({}, { folded, summary, closed: texts }))
const checkFold: PayloadCheck = (payload) =>
  foldPayload(payload) ?? (isObject(payload) ? findSummaryFault(payload['summary']) : undefined)

const delegatedPayload = checkPayload(
  record({ callId: text, event: record({ type: text }) }, { costUsd: { type: 'number', minimum: 0 } }),
)

/** Describes the fault of an event inside the event of a run that asks. */
function findEventFault(payload: unknown, depth: number): string | undefined {
  if (depth > MAX_DELEGATE_DEPTH) return 'it is nested too deep'
  if (!isObject(payload) || !isObject(payload['event'])) return NOT_AN_OBJECT
  const { type, payload: inner } = payload['event']
  if (type === 'run/delegated') return delegatedPayload(inner) ?? findEventFault(inner, depth + 1)
  const name = String(type).slice('run/'.length) as keyof typeof runEventChecks
  if (String(type).startsWith('run/') && Object.hasOwn(runEventChecks, name)) return runEventChecks[name](inner)
  const slice = visibility.reducers.has(String(type)) ? visibility : undefined
  return slice?.checks?.get(String(type))?.(inner)
}

/**
 * Checks of the events of a run. A session that took an event with an odd payload could not be restored from its own
 * snapshot, so these ask for what a stored state is asked for.
 */
export const runEventChecks = {
  started: (payload) => {
    if (!isObject(payload) || !Array.isArray(payload['messages'])) return 'its messages are not a list'
    return findFault(optionalId, payload, []) ?? findMessagesFault(payload['messages']) ?? findLoss(payload)
  },
  said: checkMessageIn,
  calling: checkPayload(runningCall),
  asked: checkPayload(record({ request: record({ ...approval, reason: text }, { expiresAt: text }) })),
  answered: checkPayload(record({ callId: text, approved: flag }, { reason: text })),
  called: checkPayload(record({ result: toolMessage }, { opening: pendingOpening })),
  used: checkPayload(record({ usage: reportedUsage }, { at: time })),
  folded: checkFold,
  removed: checkPayload(record({ names: texts })),
  disclosed: checkPayload(record({ names: texts })),
  asking: checkPayload(record(asking)),
  delegated: (payload) => delegatedPayload(payload) ?? findEventFault(payload, 0),
  rendered: checkPayload(record({ start })),
  shown: checkPayload(record({ sections: shown }, { result: toolMessage })),
  restarted: checkPayload(record({ isOpening: flag })),
  repaired: checkMessageIn,
  completed: checkPayload(record({ answer: text })),
  claimed: checkPayload(record({ by: text })),
} satisfies Readonly<Record<string, PayloadCheck>>

/** Describes the fault of a value that should be the state of a run, as a clause; `undefined` if it is valid. */
export function findStateFault(json: unknown, depth = 0): string | undefined {
  if (depth > MAX_DELEGATE_DEPTH) return 'its delegates are nested too deep'
  if (!isObject(json)) return 'it is not an object'
  const { messages: said, finished, version, ...others } = json
  if (version !== 1) return 'its version is not 1'
  if (!Array.isArray(said)) return 'its messages are not a list'
  if (finished !== undefined && (typeof finished !== 'object' || finished === null)) return 'finished is not a list'
  return (
    findFault(fieldsSchema, others, []) ??
    findMessagesFault(said) ??
    findSummaryFault(others['summary']) ??
    findFirst(Object.values(finished ?? []) as unknown[], (message, index) => {
      if (isObject(message) && message['role'] !== 'tool') return `finished[${index}] is not the result of a call`
      return findMessageFault(message, ['finished', index])
    }) ??
    findLoss(json) ??
    findDelegateFault(others['delegates'], depth)
  )
}

function findDelegateFault(delegates: unknown, depth: number): string | undefined {
  return findFirst(Array.isArray(delegates) ? delegates : [], (delegate, index) => {
    const { opened, state } = isObject(delegate) ? delegate : {}
    if (!isObject(opened) || !Object.values(opened).every(isVisibility))
      return `delegates[${index}].opened is not an object of 'full' and 'summary' by path`
    const fault = state instanceof Object ? findStateFault(state, depth + 1) : undefined
    return fault && `of delegates[${index}].state: ${fault}`
  })
}

function findSummaryFault(summary: unknown): string | undefined {
  if (!isObject(summary) || !Array.isArray(summary['messages'])) return undefined
  return findFirst(summary['messages'], (message, index) => findMessageFault(message, ['summary', 'messages', index]))
}

function findLoss(value: unknown): string | undefined {
  const lost = notJson(value)
  return lost && `it holds ${lost}, which JSON cannot represent`
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

function findMessagesFault(messages: readonly unknown[]): string | undefined {
  return findFirst(messages, (message, index) => findMessageFault(message, ['messages', index]))
}

function findMessageFault(message: unknown, place: Place): string | undefined {
  const role = isObject(message) ? message['role'] : undefined
  const schema = typeof role === 'string' ? schemas.get(role) : undefined
  if (schema) return findFault(schema, message, place)
  return `${issuePath({ message: '', path: place })} is not a message`
}

function findFault(schema: StandardSchemaV1, value: unknown, place: Place): string | undefined {
  const checked = schema['~standard'].validate(value)
  if (checked instanceof Promise || !checked.issues) return undefined
  const [issue] = checked.issues
  return issue && describeIssues([{ ...issue, path: [...place, ...(issue.path ?? [])] }])
}
