import { createUsageSchema, type Usage } from '../adapters/usage/usage.ts'
import type { ResultsFolded } from '../agent/events.ts'
import { FoldoutError } from '../core/errors.ts'
import { shorten } from '../core/text.ts'
import { describeIssues, fromJsonSchema, type JsonSchema, type StandardSchemaV1 } from '../core/schema/schema.ts'
import { isObject } from 'foldout-shared/values'
import type { TokenCount } from '../core/tokens/tokens.ts'
import type { Visibility } from '../session/visibility.ts'
import type { OpeningOutcome } from './openings.ts'
import type { RunEnd } from './runs.ts'
import type { SectionCost, ToolCost } from './section-costs.ts'

/**
 * A record of runs, in numbers and names. It contains no text of the prompt or the conversation. Plain JSON.
 *
 * @example
 * ```ts
 * const recording: Recording = recorder.recording()
 * await writeFile('recording.json', JSON.stringify(recording))
 * ```
 */
export interface Recording {
  readonly version: 1
  readonly runs: readonly RecordedRun[]
}

/**
 * One run.
 *
 * @example
 * ```ts
 * const openedSections = ({ openings }: RecordedRun): string[] => openings.flatMap(({ keys }) => [...keys])
 * ```
 */
export interface RecordedRun {
  readonly prompt: { readonly ns: string; readonly key: string }
  /** The counter of all tokens except those of `usage`. */
  readonly counter: { readonly name: string; readonly exact: boolean }
  readonly status: RunEnd['status']
  /** The code or the name of the error that a failed run threw. */
  readonly errorType: string | null
  /** The usage as the provider bills it. */
  readonly usage: Usage
  /** What this usage costs in US dollars at the recorder's rates. What the provider says it cost is `usage.costUsd`. */
  readonly usd?: number
  /** The cost of each section when the run began, in the order of the prompt. */
  readonly sections: readonly SectionCost[]
  /** The cost of the tools that open sections. */
  readonly disclosureTools: readonly ToolCost[]
  readonly renders: readonly RecordedRender[]
  readonly requests: readonly RecordedRequest[]
  readonly openings: readonly RecordedOpening[]
  /** What was opened before requests, if the run had a rule for it. */
  readonly ahead?: readonly RecordedAhead[]
  readonly restarts: readonly RecordedRestart[]
  readonly toolCalls: readonly RecordedToolCall[]
  /** What was folded out of later requests. Missing in older recordings. */
  readonly folds?: readonly RecordedFold[]
  /** The results of which the model has read a part again. Missing in older recordings. */
  readonly readBacks?: readonly RecordedReadBack[]
}

/**
 * One render of the prompt.
 *
 * @example
 * ```ts
 * const share = ({ tokens, tokensIfAllOpen }: RecordedRender): number => tokens.total / tokensIfAllOpen.total
 * ```
 */
export interface RecordedRender {
  readonly tokens: TokenCount
  readonly tokensIfAllOpen: TokenCount
  /** Every section shown, in the order of the prompt. */
  readonly sections: readonly { readonly path: string; readonly visibility: Visibility; readonly tokens: number }[]
  readonly tools: readonly ToolCost[]
}

/**
 * One request to the model.
 *
 * @example
 * ```ts
 * const getInput = (request: RecordedRequest): number =>
 *   request.systemTokens + request.toolTokens + request.conversationTokens
 * ```
 */
export interface RecordedRequest {
  /** The index of the render that it was made with. */
  readonly render: number
  /** How many messages the conversation had. */
  readonly messages: number
  /** The tools offered. */
  readonly tools: readonly string[]
  readonly systemTokens: number
  /** Tokens of the definitions of all tools offered. */
  readonly toolTokens: number
  /** Tokens of the whole conversation. */
  readonly conversationTokens: number
  /** Tokens added to the conversation since the previous request. */
  readonly addedTokens: number
  /** Tokens of the reply, as the provider bills it; 0 if there was none. */
  readonly outputTokens: number
  /** The usage as the provider bills it; null if the request was not answered. */
  readonly usage: Usage | null
  readonly retries: number
}

/**
 * A call with which a model opened sections that were folded.
 *
 * @example
 * ```ts
 * const wasRefused = ({ answeredBy }: RecordedOpening): boolean => answeredBy === 'none'
 * ```
 */
export interface RecordedOpening {
  readonly callId: string
  readonly keys: readonly string[]
  /** The index of the request whose reply made the call; -1 if the call was left over when the run was resumed. */
  readonly request: number
  readonly answeredBy: OpeningOutcome
  /** Tokens that the call and its result add to every later request. */
  readonly tokens: number
}

/**
 * What a rule opened before the first request for a user's input.
 *
 * @example
 * ```ts
 * const isNeedless = ({ isUsed }: RecordedAhead): boolean => isUsed === false
 * ```
 */
export interface RecordedAhead {
  readonly rule: string
  /** The sections; empty if the rule chose none. */
  readonly keys: readonly string[]
  readonly tools: readonly string[]
  readonly place: 'system' | 'message'
  /** The index of the first request that had them. */
  readonly request: number
  readonly tokens: number
  /** Whether one of their tools was called; null if they have none. */
  readonly isUsed: boolean | null
}

/**
 * A restart: the prompt was rendered again because sections were opened.
 *
 * @example
 * ```ts
 * const restartedFor = run.restarts.flatMap(({ keys }: RecordedRestart) => keys)
 * ```
 */
export interface RecordedRestart {
  readonly keys: readonly string[]
  /** The index of the last request before it. */
  readonly request: number
}

/**
 * A call of a tool.
 *
 * @example
 * ```ts
 * const hasFailed = ({ ok }: RecordedToolCall): boolean => ok === false
 * ```
 */
export interface RecordedToolCall {
  readonly callId: string
  readonly name: string
  /** The tool that ran, if the called tool runs other tools. */
  readonly target?: string
  /** The outcome of the approval, if a person was asked: `'waiting'` if the run ended before there was an answer. */
  readonly approval?: 'waiting' | 'approved' | 'denied'
  /** Whether it succeeded; null if it was not executed. */
  readonly ok: boolean | null
  readonly isDisclosure: boolean
  /** The index of the request whose reply made the call; -1 if the call was left over when the run was resumed. */
  readonly request: number
  readonly argumentsTokens: number
  readonly resultTokens: number
}

/**
 * A fold: later requests send less. Its numbers are in tokens, and its cost and gain at the price of input.
 *
 * @example
 * ```ts
 * const getFreed = (folds: readonly RecordedFold[]): number => folds.reduce((sum, { freed }) => sum + freed, 0)
 * ```
 */
export interface RecordedFold extends Omit<ResultsFolded, 'sections'> {
  /** The index of the last request before it; -1 if there was none. */
  readonly request: number
  readonly sections?: readonly string[]
}

/**
 * A part of a folded result that the model has read.
 *
 * @example
 * ```ts
 * const isLate = ({ age }: RecordedReadBack): boolean => age > 10
 * ```
 */
export interface RecordedReadBack {
  /** The call whose result was read, and its tool. */
  readonly callId: string
  readonly tool: string
  /** How many replies the model had given since it got the result. */
  readonly age: number
  readonly tokens: number
  /** The index of the request whose reply made the call of `read_result`. */
  readonly request: number
}

/** The maximum length of a fault's description, which may quote the file. */
const MAX_FAULT = 300

const text: JsonSchema = { type: 'string' }
const bool: JsonSchema = { type: 'boolean' }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const tokens: JsonSchema = { type: 'number', minimum: 0 }
const index: JsonSchema = { type: 'integer', minimum: -1 }
const oneOf = (...choices: readonly string[]): JsonSchema => ({ enum: choices })
const orNothing = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'] as string, 'null'] })
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const record = (properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

const usage = createUsageSchema()
const tokenCount = record({ total: tokens, text: tokens, tools: tokens, exact: bool, counter: text })
const tool = record({ name: text, tokens })
const shown = oneOf('full', 'summary')

const run = record(
  {
    prompt: record({ ns: text, key: text }),
    counter: record({ name: text, exact: bool }),
    status: oneOf('completed', 'stopped', 'waiting', 'failed', 'unfinished'),
    errorType: orNothing(text),
    usage,
    usd: tokens,
    sections: list(
      record({
        path: text,
        visibility: shown,
        fullTokens: tokens,
        summaryTokens: orNothing(tokens),
        tools: list(tool),
      }),
    ),
    disclosureTools: list(tool),
    renders: list(
      record({
        tokens: tokenCount,
        tokensIfAllOpen: tokenCount,
        sections: list(record({ path: text, visibility: shown, tokens })),
        tools: list(tool),
      }),
    ),
    requests: list(
      record({
        render: count,
        messages: count,
        tools: list(text),
        systemTokens: tokens,
        toolTokens: tokens,
        conversationTokens: tokens,
        addedTokens: tokens,
        outputTokens: tokens,
        usage: orNothing(usage),
        retries: count,
      }),
    ),
    openings: list(
      record({
        callId: text,
        keys: list(text),
        request: index,
        answeredBy: oneOf('dynamic', 'restart', 'none'),
        tokens,
      }),
    ),
    ahead: list(
      record({
        rule: text,
        keys: list(text),
        tools: list(text),
        place: oneOf('system', 'message'),
        request: index,
        tokens,
        isUsed: orNothing(bool),
      }),
    ),
    restarts: list(record({ keys: list(text), request: index })),
    toolCalls: list(
      record({
        callId: text,
        name: text,
        ok: orNothing(bool),
        isDisclosure: bool,
        request: index,
        argumentsTokens: tokens,
        resultTokens: tokens,
      }),
    ),
    folds: list(
      record(
        {
          callIds: list(text),
          reason: oneOf('large', 'cold', 'price', 'size', 'window', 'asked', 'summary'),
          context: tokens,
          freed: { type: 'number' },
          cost: { type: 'number' },
          gain: { type: 'number' },
          request: index,
          sections: list(text),
          summarized: count,
          lostReasoning: count,
        },
        ['sections', 'summarized', 'lostReasoning'],
      ),
    ),
    readBacks: list(record({ callId: text, tool: text, age: count, tokens, request: index })),
  },
  ['usd', 'ahead', 'folds', 'readBacks'],
)
const recordingSchema = fromJsonSchema<Pick<Recording, 'version'> & { readonly runs: readonly unknown[] }>(
  record({ version: { const: 1 }, runs: { type: 'array' } }),
)
const runSchema = fromJsonSchema<RecordedRun>(run)

/**
 * Checks a recording that was stored as JSON, and returns it. Throws `recording-invalid` if it is not valid.
 *
 * @example
 * ```ts
 * const recording = readRecording(JSON.parse(await readFile('recording.json', 'utf8')))
 * ```
 */
export function readRecording(json: unknown): Recording {
  const { runs } = check(recordingSchema, json, [])
  // One by one, so reading stops at the first fault.
  return { version: 1, runs: runs.map((each, at) => readRun(each, at)) }
}

function readRun(json: unknown, at: number): RecordedRun {
  const checked = check(runSchema, json, ['runs', at])
  const { renders, requests, openings, restarts, toolCalls, folds = [], readBacks = [] } = checked
  const orphan = requests.findIndex(({ render }) => render >= renders.length)
  if (orphan !== -1) throw createFault(`runs[${at}].requests[${orphan}].render: there is no such render`)
  for (const [name, entries] of Object.entries({ openings, restarts, toolCalls, folds, readBacks })) {
    const stray = entries.findIndex(({ request }) => request >= requests.length)
    if (stray !== -1) throw createFault(`runs[${at}].${name}[${stray}].request: there is no such request`)
  }
  return checked
}

function check<Value>(
  schema: StandardSchemaV1<unknown, Value>,
  json: unknown,
  place: readonly (string | number)[],
): Value {
  if (!isObject(json)) throw createFault(`${place.length > 0 ? `runs[${place[1]}]` : 'it'} is not an object`)
  const checked = schema['~standard'].validate(json)
  if (checked instanceof Promise) throw createFault('it cannot be checked')
  if (!checked.issues) return checked.value
  const [issue = { message: 'has a fault' }] = checked.issues
  throw createFault(describeIssues([{ ...issue, path: [...place, ...(issue.path ?? [])] }]))
}

function createFault(fault: string): FoldoutError {
  return new FoldoutError(
    'recording-invalid',
    `This is not a recording of version 1: ${shorten(fault, MAX_FAULT)}. Record the runs again with this version of Foldout.`,
  )
}
