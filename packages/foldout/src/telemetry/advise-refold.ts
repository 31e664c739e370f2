import { decideFold, type FoldableResult } from '../results/decide-fold.ts'
import { READ_RESULT } from '../results/read-result.ts'
import type { RecordedReadBack, RecordedRun, RecordedToolCall } from './recording.ts'
import { groupByRequest } from './replay.ts'

/**
 * Options of a run that would have made recorded runs cheaper.
 *
 * @example
 * ```ts
 * const format = ({ at, keepTurns, keep }: RefoldProposal): string => `${at}, ${keepTurns}, ${keep.join(', ')}`
 * ```
 */
export interface RefoldProposal {
  readonly at: number
  readonly keepTurns: number
  readonly keep: readonly string[]
}

/** A proposal, and what it is based on. */
export interface ProposedRefold {
  readonly refold: RefoldProposal
  /** The runs that folded something. */
  readonly runs: number
  /** The runs in which a folded result was read again. */
  readonly used: number
  /** Input tokens that it would have saved, at the price of input. */
  readonly tokens: number
  /** Requests that only read results again, and would not have been made. */
  readonly requests: number
  readonly message: string
}

/** What the cache of a provider costs, as multiples of the price of input. */
const CACHE = { read: 0.1, write: 1.25 }

const USUAL: RefoldProposal = { at: 120_000, keepTurns: 10, keep: [] }
const AT_SHARES = [0.5, 0.75, 1, 1.5]
const KEEP_TURNS = [5, 10, 20]

/** A tool of which this share of the folded results was read again is worth a try to keep. */
const READ_AGAIN_SHARE = 0.25

/** The least share of the cost that a proposal must save. */
const LEAST_SAVED = 0.02

/** Proposes options for folding, from runs that have folded: replays each of them with others, and compares the bills. */
export function proposeRefold(all: readonly RecordedRun[], minRuns: number): ProposedRefold | undefined {
  const runs = all.filter(({ folds = [] }) => folds.some(({ callIds }) => callIds.length > 0))
  if (runs.length < minRuns) return undefined
  const usual = { ...USUAL, at: findAt(runs) }
  const before = billAll(runs, usual)
  const kept = listReadAgain(runs)
  const proposals = AT_SHARES.flatMap((share) =>
    KEEP_TURNS.flatMap((keepTurns) =>
      (kept.length > 0 ? [[], kept] : [[]]).map((keep) => ({ at: Math.round(usual.at * share), keepTurns, keep })),
    ),
  )
  const bills = proposals.map((refold) => ({ refold, ...billAll(runs, refold) }))
  const best = bills.toSorted((one, other) => one.billed - other.billed)[0]
  if (!best || best.billed > before.billed * (1 - LEAST_SAVED)) return undefined
  const used = runs.filter(({ readBacks = [] }) => readBacks.length > 0).length
  const tokens = Math.round(before.billed - best.billed)
  const requests = Math.max(0, before.readBacks - best.readBacks)
  return {
    refold: best.refold,
    runs: runs.length,
    used,
    tokens,
    requests,
    message: describe(best.refold, tokens, runs),
  }
}

function describe({ at, keepTurns, keep }: RefoldProposal, tokens: number, runs: readonly RecordedRun[]): string {
  const kept = keep.length === 0 ? '' : `, keep: ['${keep.join("', '")}']`
  const options = `refold: { at: ${at}, keepTurns: ${keepTurns}${kept} }`
  return `Fold with ${options}: over ${runs.length} runs that would have saved about ${tokens.toLocaleString('en')} tokens at the price of input, with cached input at a tenth of it.`
}

/** The tokens of the smallest request that a warm fold was decided for. */
function findAt(runs: readonly RecordedRun[]): number {
  const contexts = runs.flatMap(({ folds = [] }) =>
    folds.flatMap(({ reason, context }) => (reason === 'price' || reason === 'size' ? [context] : [])),
  )
  if (contexts.length === 0) return USUAL.at
  return Math.min(...contexts)
}

/** Lists the tools whose folded results were often read again. */
function listReadAgain(runs: readonly RecordedRun[]): readonly string[] {
  const folded = new Map<string, number>()
  const read = new Map<string, number>()
  for (const { folds = [], readBacks = [], toolCalls } of runs) {
    const names = new Map(toolCalls.map(({ callId, name }) => [callId, name]))
    for (const callId of folds.flatMap(({ callIds }) => callIds)) {
      const name = names.get(callId)
      if (name !== undefined) folded.set(name, (folded.get(name) ?? 0) + 1)
    }
    const tools = new Map(readBacks.map(({ callId, tool }) => [callId, tool]))
    for (const tool of tools.values()) read.set(tool, (read.get(tool) ?? 0) + 1)
  }
  return [...folded]
    .filter(([name, count]) => (read.get(name) ?? 0) / count >= READ_AGAIN_SHARE)
    .map(([name]) => name)
    .toSorted()
}

interface Bill {
  readonly billed: number
  readonly readBacks: number
}

function billAll(runs: readonly RecordedRun[], refold: RefoldProposal): Bill {
  return runs
    .map((run) => billRun(run, refold))
    .reduce((all, one) => ({ billed: all.billed + one.billed, readBacks: all.readBacks + one.readBacks }))
}

/** A result, and where it is in the conversation. */
interface HeldResult extends Pick<FoldableResult, 'callId' | 'before' | 'isReadBack'> {
  readonly name: string
  readonly reply: number
  tokens: number
}

const STUB_TOKENS = 35

/** Bills the input of a run as if it had folded by other options, with a cache that never expires. */
function billRun(run: RecordedRun, refold: RefoldProposal): Bill {
  const calls = groupByRequest(run.toolCalls)
  const readBacks = groupByRequest(run.readBacks ?? [])
  const results: HeldResult[] = []
  const folded = new Set<string>()
  let conversation = run.requests[0]?.conversationTokens ?? 0
  let cached = 0
  let billed = 0
  let made = 0
  for (const [at, { systemTokens, toolTokens, outputTokens }] of run.requests.entries()) {
    const start = systemTokens + toolTokens
    const own = calls.get(at) ?? []
    const read = readBacks.get(at) ?? []
    // The request only read results again that would have been there.
    if (isOnlyReading(own) && read.length > 0 && read.every(({ callId }) => !folded.has(callId))) continue
    const plan = decideFold({
      context: start + conversation,
      turns: at,
      isCold: false,
      ...toQuestion(results, refold, at),
    })
    for (const callId of plan?.callIds ?? []) folded.add(callId)
    if (plan) {
      const first = Math.min(...plan.callIds.map((id) => results.find(({ callId }) => callId === id)?.before ?? 0))
      for (const result of results) if (folded.has(result.callId)) result.tokens = STUB_TOKENS
      conversation -= plan.freed
      cached = Math.min(cached, first)
    }
    const context = start + conversation
    billed += CACHE.read * Math.min(cached, context) + CACHE.write * Math.max(0, context - cached)
    cached = context
    made += read.filter(({ callId }) => folded.has(callId)).length
    conversation += outputTokens
    for (const call of own) conversation += hold(results, call, { before: start + conversation, reply: at, read })
  }
  return { billed, readBacks: made }
}

function isOnlyReading(calls: readonly RecordedToolCall[]): boolean {
  return calls.length > 0 && calls.every(({ name }) => name === READ_RESULT)
}

interface Position {
  readonly before: number
  readonly reply: number
  readonly read: readonly RecordedReadBack[]
}

/** Adds a result, and returns its tokens. */
function hold(results: HeldResult[], call: RecordedToolCall, { before, reply }: Position): number {
  const { callId, name, resultTokens: tokens, isDisclosure, ok } = call
  if (!isDisclosure && ok !== false)
    results.push({ callId, name, tokens, before, reply, ...(name === READ_RESULT && { isReadBack: true }) })
  return tokens
}

function toQuestion(results: readonly HeldResult[], { at, keepTurns, keep }: RefoldProposal, reply: number) {
  const foldable = results
    .filter(({ name }) => !keep.includes(name))
    .map((result): FoldableResult => ({ ...result, stubTokens: STUB_TOKENS, age: reply - result.reply }))
  return { at, keepTurns, minTokens: 300, cacheRead: CACHE.read, cacheWrite: CACHE.write, results: foldable }
}
