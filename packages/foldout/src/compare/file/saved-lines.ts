import { fromJsonSchema, type JsonSchema } from '../../core/schema/schema.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { SavedEvent, SavedHeader, SavedLine, SavedRun, SavedText } from '../contract/saved.ts'

const text: JsonSchema = { type: 'string' }
const number: JsonSchema = { type: 'number' }
const count: JsonSchema = { type: 'number', minimum: 0 }
const texts: JsonSchema = { type: 'array', items: text }
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })

function record(properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) }
}

const usage = record({ inputTokens: count, outputTokens: count, cachedInputTokens: count, cacheWriteTokens: count })
const counts = (...names: readonly string[]): JsonSchema =>
  record(Object.fromEntries(names.map((name) => [name, count])))

const headerSchema = record({
  type: { const: 'header' },
  version: { const: 1 },
  at: count,
  base: text,
  arms: { type: 'object', additionalProperties: text },
  models: { type: 'object', additionalProperties: orNull(text) },
  cases: {
    type: 'array',
    items: record({ id: text, digest: text, input: text, conversation: text, needs: texts }, ['conversation', 'needs']),
  },
  repeat: { type: 'integer', minimum: 1 },
  looks: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 },
  margin: count,
  seed: number,
  prices: orNull(record({ input: count, output: count })),
  perHour: orNull(count),
  counter: record({ name: text, exact: { type: 'boolean' } }),
})

const runSchema = record({
  type: { const: 'run' },
  run: text,
  arm: text,
  armDigest: text,
  case: text,
  caseDigest: text,
  repeat: { type: 'integer', minimum: 0 },
  status: { enum: ['completed', 'stopped', 'waiting', 'failed'] },
  error: orNull(text),
  grades: { type: 'object', additionalProperties: { type: 'number', minimum: 0, maximum: 1 } },
  score: { type: 'number', minimum: 0, maximum: 1 },
  ms: count,
  requests: {
    type: 'array',
    items: counts('input', 'start', 'tools', 'added', 'same', 'sameTokens', 'output', 'afterMs'),
  },
  usage,
  userUsage: orNull(usage),
  folded: texts,
  opened: texts,
  ahead: texts,
  used: texts,
  readable: texts,
  callsNotOffered: count,
  model: text,
  begins: text,
})

const READERS = {
  header: fromJsonSchema<SavedHeader>(headerSchema),
  text: fromJsonSchema<SavedText>(record({ type: { const: 'text' }, id: text, text })),
  event: fromJsonSchema<SavedEvent>(
    record({ type: { const: 'event' }, run: text, at: count, event: record({ type: text }), text }, ['text']),
  ),
  run: fromJsonSchema<SavedRun>(runSchema),
}

/**
 * Reads a line of a saved comparison. Returns undefined for anything else, such as the torn line of a process that was
 * killed.
 *
 * @example
 * ```ts
 * readSavedLine('{"type":"te') // => undefined
 * ```
 */
export function readSavedLine(line: string): SavedLine | undefined {
  let json: unknown
  try {
    json = JSON.parse(line)
  } catch {
    return undefined
  }
  const type: unknown = typeof json === 'object' && json !== null && 'type' in json ? json.type : undefined
  if (typeof type !== 'string' || !Object.hasOwn(READERS, type)) return undefined
  const checked = READERS[type as keyof typeof READERS]['~standard'].validate(json)
  if (checked instanceof Promise || checked.issues) return undefined
  return checked.value
}

/** The lines of a run that has ended. The run comes first: if the write is cut, only what was said is lost. */
export function formatRun(
  run: SavedRun,
  events: readonly TimedEvent[],
  known: Set<string>,
  getId: (text: string) => string,
): string {
  const lines: SavedLine[] = [run]
  for (const { at, event } of events) {
    if (event.type !== 'prompt/rendered') {
      lines.push({ type: 'event', run: run.run, at, event })
      continue
    }
    const id = getId(event.text)
    if (!known.has(id)) lines.push({ type: 'text', id, text: event.text })
    known.add(id)
    lines.push({ type: 'event', run: run.run, at, event: { ...event, text: '' }, text: id })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

export interface TimedEvent {
  readonly at: number
  readonly event: AgentEvent
}
