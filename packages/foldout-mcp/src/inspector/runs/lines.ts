import * as z from 'zod'
import type { RecordedRun } from 'foldout/telemetry'
import { readRecording } from 'foldout/telemetry'

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().default(0),
  cacheWriteTokens: z.number().default(0),
})
const tokens = z.object({ total: z.number(), text: z.number(), tools: z.number() })
const names = z.array(z.string())
const call = z.object({ id: z.string(), name: z.string(), arguments: z.unknown(), malformed: z.string().optional() })
const disclosure = z.object({
  keys: names,
  full: names.default([]),
  reason: z.string(),
  answer: z.enum(['in-place', 'restart', 'none']),
})

/** The events that the run view shows. What it does not know, it leaves out. */
const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run/started'),
    isResumed: z.boolean(),
    input: z.string().optional(),
    model: z.object({ provider: z.string(), name: z.string(), contextWindow: z.number().optional() }).optional(),
  }),
  z.object({
    type: z.literal('prompt/rendered'),
    prompt: z.string().default(''),
    text: z.string().optional(),
    tools: names,
    full: names,
    summarized: names,
    tokens,
    tokensIfAllOpen: tokens,
    toolsInFolds: z.record(z.string(), z.string()).default({}),
  }),
  z.object({ type: z.literal('request/sent'), messages: z.number(), tools: names }),
  z.object({ type: z.literal('request/retried'), attempt: z.number(), delayMs: z.number(), reason: z.string() }),
  z.object({
    type: z.literal('reply/received'),
    message: z.object({ text: z.string(), toolCalls: z.array(call), native: z.unknown().optional() }),
    usage,
  }),
  z.object({ type: z.literal('tool/called'), call, isLeft: z.boolean().optional() }),
  z.object({
    type: z.literal('tool/invoked'),
    callId: z.string(),
    name: z.string(),
    ok: z.boolean(),
    message: z.string(),
    durationMs: z.number(),
    disclosure: disclosure.optional(),
  }),
  z.object({ type: z.literal('tools/injected'), names, keys: names }),
  z.object({ type: z.literal('run/expanded'), keys: names, paths: names, reason: z.string(), expansions: z.number() }),
  z.object({ type: z.literal('approval/asked'), callId: z.string(), tool: z.string(), reason: z.string().optional() }),
  z.object({ type: z.literal('approval/answered'), callId: z.string(), tool: z.string(), approved: z.boolean() }),
  z.object({ type: z.literal('output/refused'), message: z.string(), repairs: z.number() }),
  z.object({ type: z.literal('warning'), message: z.string() }),
  z.object({ type: z.literal('run/finished'), status: z.enum(['completed', 'stopped', 'waiting']), usage }),
  z.object({ type: z.literal('run/failed'), errorType: z.string() }),
])
export type RunEvent = z.infer<typeof eventSchema>

/** The latest time a date can represent. */
const MAX_TIME = 8_640_000_000_000_000

const lineSchema = z.object({
  version: z.literal(1),
  run: z.string(),
  at: z.number().min(0).max(MAX_TIME),
  event: z.unknown(),
})

export interface StoredEvent {
  readonly run: string
  readonly at: number
  readonly event: RunEvent
}

/** What a line of a recording says; undefined if it is not one. Events of another version of the library are left out. */
export function readLine(json: unknown, makeId: () => string): readonly StoredEvent[] | undefined {
  const line = lineSchema.safeParse(json)
  if (line.success) {
    const event = eventSchema.safeParse(line.data.event)
    return event.success ? [{ run: line.data.run, at: line.data.at, event: event.data }] : []
  }
  try {
    return readRecording(json).runs.flatMap((run) => {
      const id = makeId()
      return toEvents(run).map((event, i) => ({ run: id, at: i, event }))
    })
  } catch {
    return undefined
  }
}

/** The events of a run of which only numbers and names were recorded, in the order in which they must have happened. */
function toEvents(run: RecordedRun): readonly RunEvent[] {
  const { prompt, renders, requests, toolCalls, openings, restarts } = run
  const events: RunEvent[] = [{ type: 'run/started', isResumed: false }]
  let shown = -1
  for (const [at, request] of requests.entries()) {
    const render = renders[request.render]
    if (render && request.render !== shown) {
      shown = request.render
      events.push(toRendered(`${prompt.ns}/${prompt.key}`, render, run))
    }
    events.push({ type: 'request/sent', messages: request.messages, tools: [...request.tools] })
    for (let i = 0; i < request.retries; i++)
      events.push({ type: 'request/retried', attempt: i + 1, delayMs: 0, reason: '' })
    const context = request.systemTokens + request.toolTokens + request.conversationTokens
    const used = request.usage ?? { inputTokens: context, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 }
    const calls = toolCalls.filter((call) => call.request === at)
    const toolCallsMade = calls.map(({ callId, name }) => ({ id: callId, name, arguments: undefined }))
    events.push({ type: 'reply/received', message: { text: '', toolCalls: toolCallsMade }, usage: used })
    for (const { callId, name, ok } of calls) {
      events.push({ type: 'tool/called', call: { id: callId, name, arguments: undefined } })
      const opening = openings.find((each) => each.callId === callId)
      const answer = opening?.answeredBy === 'dynamic' ? 'in-place' : (opening?.answeredBy ?? 'none')
      events.push({
        type: 'tool/invoked',
        callId,
        name,
        ok: ok ?? false,
        message: '',
        durationMs: 0,
        disclosure: opening && { keys: [...opening.keys], full: [], reason: '', answer },
      })
    }
    for (const { keys } of restarts.filter((restart) => restart.request === at))
      events.push({ type: 'run/expanded', keys: [...keys], paths: [...keys], reason: '', expansions: 0 })
  }
  return [...events, toEnd(run)]
}

function toRendered(prompt: string, render: RecordedRun['renders'][number], { sections }: RecordedRun): RunEvent {
  const folded = render.sections.filter(({ visibility }) => visibility === 'summary').map(({ path }) => path)
  const offered = new Set(render.tools.map(({ name }) => name))
  return {
    type: 'prompt/rendered',
    prompt,
    tools: [...offered],
    full: render.sections.filter(({ visibility }) => visibility === 'full').map(({ path }) => path),
    summarized: folded,
    tokens: render.tokens,
    tokensIfAllOpen: render.tokensIfAllOpen,
    toolsInFolds: Object.fromEntries(
      sections.flatMap(({ path, tools }) =>
        tools.filter(({ name }) => !offered.has(name)).map(({ name }) => [name, path] as const),
      ),
    ),
  }
}

function toEnd({ status, errorType, usage: used }: RecordedRun): RunEvent {
  if (status === 'failed') return { type: 'run/failed', errorType: errorType ?? 'unknown' }
  if (status === 'unfinished') return { type: 'run/failed', errorType: 'unfinished' }
  return { type: 'run/finished', status, usage: used }
}
