import * as v from 'valibot'
import type { RecordedFold, RecordedRun } from 'foldout/telemetry'
import { readRecording } from 'foldout/telemetry'
import { atLeast, atMost, boolean, list, number, object, oneOf, read, record, string } from '../../shared/shapes.ts'

const usage = object({
  inputTokens: number,
  outputTokens: number,
  cachedInputTokens: v.optional(number, 0),
  cacheWriteTokens: v.optional(number, 0),
  cacheWriteTokens1h: v.exactOptional(number),
  reasoningTokens: v.exactOptional(number),
  costUsd: v.exactOptional(number),
})
const tokens = object({ total: number, text: number, tools: number })
const names = list(string)
/** The tool that a call of another one runs. */
const target = object({ name: string, arguments: v.unknown() })
const call = object({ id: string, name: string, arguments: v.unknown(), malformed: v.optional(string) })
const disclosure = object({
  keys: names,
  full: v.optional(names, []),
  reason: string,
  answer: oneOf(['in-place', 'restart', 'none']),
})

/** The events that the run view shows. What it does not know, it leaves out. */
const eventSchema = v.variant('type', [
  object({
    type: v.literal('run/started'),
    isResumed: boolean,
    input: v.optional(string),
    continuedInput: v.optional(string),
    model: v.optional(object({ provider: string, name: string, contextWindow: v.optional(number) })),
  }),
  object({
    type: v.literal('prompt/rendered'),
    prompt: v.optional(string, ''),
    text: v.optional(string),
    tools: names,
    full: names,
    summarized: names,
    tokens,
    tokensIfAllOpen: tokens,
    toolsInFolds: v.optional(record(string), {}),
  }),
  object({
    type: v.literal('request/sent'),
    messages: number,
    tools: names,
    context: v.optional(
      object({ system: number, tools: number, sections: number, results: number, conversation: number }),
    ),
  }),
  object({ type: v.literal('request/retried'), attempt: number, delayMs: number, reason: string }),
  object({
    type: v.literal('reply/received'),
    message: object({ text: string, toolCalls: list(call), native: v.optional(v.unknown()) }),
    usage,
  }),
  object({ type: v.literal('reply/lost'), usage }),
  object({ type: v.literal('cache/diagnosed'), reason: string, tokens: number }),
  object({ type: v.literal('tool/called'), call, target: v.optional(target), isLeft: v.optional(boolean) }),
  object({
    type: v.literal('tool/invoked'),
    callId: string,
    name: string,
    ok: boolean,
    message: string,
    durationMs: number,
    disclosure: v.optional(disclosure),
  }),
  object({ type: v.literal('tools/injected'), names, keys: names }),
  object({
    type: v.literal('sections/opened'),
    rule: string,
    keys: names,
    tools: names,
    place: oneOf(['system', 'message']),
    tokens: number,
  }),
  object({
    type: v.literal('results/folded'),
    callIds: names,
    reason: string,
    context: number,
    freed: number,
    cost: number,
    gain: number,
    sections: v.optional(names, []),
    summarized: v.optional(number, 0),
    lostReasoning: v.optional(number, 0),
  }),
  object({ type: v.literal('result/read'), callId: string, tool: string, handle: string, age: number, tokens: number }),
  object({ type: v.literal('tools/removed'), names }),
  object({ type: v.literal('run/expanded'), keys: names, paths: names, reason: string, expansions: number }),
  object({ type: v.literal('approval/asked'), callId: string, tool: string, reason: v.optional(string) }),
  object({ type: v.literal('approval/answered'), callId: string, tool: string, approved: boolean }),
  object({ type: v.literal('output/refused'), message: string, repairs: number }),
  object({ type: v.literal('warning'), message: string }),
  object({ type: v.literal('run/finished'), status: oneOf(['completed', 'stopped', 'waiting']), usage }),
  object({ type: v.literal('run/failed'), errorType: string }),
])
export type RunEvent = v.InferOutput<typeof eventSchema>

/** The event of a type. */
export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

/** The latest time a date can represent. */
const MAX_TIME = 8_640_000_000_000_000

const lineSchema = object({
  version: v.literal(1),
  run: string,
  at: v.pipe(number, atLeast(0), atMost(MAX_TIME)),
  event: v.unknown(),
})

export interface StoredEvent {
  readonly run: string
  readonly at: number
  readonly event: RunEvent
}

/** What a line of a recording says; undefined if it is not one. Events of another version of the library are left out. */
export function readLine(json: unknown, makeId: () => string): readonly StoredEvent[] | undefined {
  const { data: line } = read(lineSchema, json)
  if (line) {
    const { data: event } = read(eventSchema, line.event)
    if (event) return [{ run: line.run, at: line.at, event }]
    return []
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
    for (const { request: before, place, rule, keys, tools, tokens } of run.ahead ?? [])
      if (before === at)
        events.push({ type: 'sections/opened', rule, keys: [...keys], tools: [...tools], place, tokens })
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
    for (const fold of (run.folds ?? []).filter((one) => one.request === at)) events.push(toFolded(fold))
    for (const { keys } of restarts.filter((restart) => restart.request === at))
      events.push({ type: 'run/expanded', keys: [...keys], paths: [...keys], reason: '', expansions: 0 })
  }
  return [...events, toEnd(run)]
}

function toFolded({ callIds, sections = [], summarized = 0, lostReasoning = 0, ...fold }: RecordedFold): RunEvent {
  return { ...fold, type: 'results/folded', callIds: [...callIds], sections: [...sections], summarized, lostReasoning }
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
