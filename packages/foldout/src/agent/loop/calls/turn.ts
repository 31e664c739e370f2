import type { ToolCall, ToolMessage } from '../../../adapters/contract.ts'
import { askSectionTool } from '../../../disclosure/ask-tool.ts'
import { getOpenedText } from '../../../disclosure/engine.ts'
import { NOT_RUN, applyOpening, chooseAnswer, isApplied } from '../../../disclosure/opening.ts'
import { readRequest } from '../../../disclosure/strategy.ts'
import { listOpenPaths, type RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { Session } from '../../../session/session.ts'
import { fail, type Opening, type ToolResult } from '../../../tools/result.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import type { ToolInvoked } from '../../events.ts'
import { acceptOpening, type OpeningPolicy } from '../../policy.ts'
import { clearCall, type ApprovalContext, type Clearance } from './approval.ts'
import { findTool, runCall, type AskOutcome, type CallEnd, type CallOptions } from './call.ts'
import type { RunningCall } from '../../state/approvals.ts'
import type { PendingOpening } from '../../state/run-state.ts'
import type { WindowCheck } from './window.ts'

export interface TurnContext extends ApprovalContext {
  readonly session: Session
  /** Renders the prompt for the current state of the session. */
  readonly render: () => RenderedPrompt
  readonly isDisclosure: (name: string) => boolean
  readonly canAddTools: () => boolean
  readonly policy: OpeningPolicy
  readonly refuseOpening: WindowCheck
  readonly parallelCalls: number
  readonly callsPerReply: number
  /** Says where the model has the text of open sections; undefined if it does not have all of them. */
  readonly describeOpen: (keys: readonly string[]) => string | undefined
  /** Openings that wait for the next render. */
  readonly getPending: () => readonly PendingOpening[]
  /** Throws if the run must not continue. */
  check(): void
  /** Has a run of its own answer a call of `ask_section`. */
  ask(call: ToolCall): Promise<AskOutcome>
  /** Records that a call begins. Resolves when the record outlives the process. */
  begins(call: RunningCall): Promise<void>
  /** Records that a call has ended, with the opening that waits for a render, if any. */
  settled(end: CallEnd, opening: PendingOpening | undefined): void
  /** Records that the model has read the open sections at and below some paths. */
  showed(paths: readonly string[]): void
  warn(message: string): void
}

export interface TurnEnd {
  /** One for each call, in order; none while calls wait. */
  readonly results: readonly ToolMessage[]
  /** Whether calls wait for a person. Results of the others are in the run's state. */
  readonly isWaiting: boolean
  /** Tools that are visible now but not in the conversation yet, with their sections. */
  readonly added: readonly AnyTool[]
  readonly keys: readonly string[]
  /** Whether this turn has opened a section that waits for a render. */
  readonly isOpening: boolean
}

/** A turn that another process left unfinished. */
export interface LeftTurn {
  /** Results of finished calls that are not messages yet. */
  readonly finished: readonly ToolMessage[]
  /** How many calls of the reply have their results in the conversation. */
  readonly answered: number
}

const NOTHING_LEFT: LeftTurn = { finished: [], answered: 0 }

/**
 * Runs the calls of one turn. Disclosure calls go first, one after another, because they decide about the rest: calls
 * after the first one that needs a new render are not run, but further openings among them are kept. Calls that need
 * approval wait while the others run.
 */
export async function runTurn(
  calls: readonly ToolCall[],
  context: TurnContext,
  left: LeftTurn = NOTHING_LEFT,
): Promise<TurnEnd> {
  const { finished, answered } = left
  const known = new Map(finished.map((message) => [message.callId, message]))
  const results = calls.map((call): ToolMessage | undefined => known.get(call.id))
  const before = context.getPending().length
  const openings: Opening[] = []
  const take = (index: number, { message, result }: CallEnd): void => {
    results[index] = message
    if (result.ok && result.opening) openings.push(result.opening)
  }
  const runnable = Math.min(calls.length, Math.max(0, context.callsPerReply - answered))
  for (const [index, call] of calls.slice(0, runnable).entries()) {
    if (results[index] || call.malformed !== undefined || !context.isDisclosure(call.name)) continue
    context.check()
    take(index, await disclose(call, context))
  }
  const waiting = new Set(context.getPending().map(({ callId }) => callId))
  const opener = calls.findIndex(({ id }) => waiting.has(id))
  const halt = context.policy === 'batched' ? -1 : opener
  const end = halt === -1 ? runnable : Math.min(halt, runnable)
  const toRun = [...calls.entries()].slice(0, end).filter(([index]) => results[index] === undefined)
  const { ready, hasWaiting } = await clearCalls(toRun, context)
  let isWaiting = hasWaiting
  await runParallel(ready, createParallelOptions(context), async ({ index, call, clearance }) => {
    context.check()
    if (isQuestion(call, context)) {
      const end = await runQuestion(call, context)
      if (end) take(index, end)
      else isWaiting = true
      return
    }
    const now = clearance.type === 'unknown' ? await clearCall(call, context) : clearance
    if (now.type === 'wait') isWaiting = true
    else take(index, await runOther(call, context, now))
  })
  const isOpening = context.getPending().length > before || (left !== NOTHING_LEFT && opener !== -1)
  if (isWaiting) return { results: [], isWaiting, added: [], keys: [], isOpening }
  if (calls.length > runnable) context.warn(describeTooMany(calls.length, runnable))
  return {
    results: calls.map((call, index) => results[index] ?? refuse(call, index, { calls, runnable })),
    isWaiting,
    ...findAdded(context, openings),
    isOpening,
  }
}

interface ReadyCall {
  readonly index: number
  readonly call: ToolCall
  readonly clearance: Exclude<Clearance, { type: 'wait' }>
}

/**
 * Finds the calls that run now. An exclusive call waits for all calls before it, and all calls after it wait for it,
 * even if they wait for a person.
 */
async function clearCalls(
  calls: readonly (readonly [index: number, call: ToolCall])[],
  context: TurnContext,
): Promise<{ readonly ready: readonly ReadyCall[]; readonly hasWaiting: boolean }> {
  const clearances = await Promise.all(
    calls.map(([, call]) => (isQuestion(call, context) ? Promise.resolve(ASKS) : clearCall(call, context))),
  )
  const ready: ReadyCall[] = []
  let hasWaiting = false
  let isBlocked = false
  for (const [at, [index, call]] of calls.entries()) {
    const clearance = clearances[at]
    const isAlone = isExclusive(call, context)
    isBlocked ||= isAlone && hasWaiting
    if (clearance?.type === 'wait') {
      hasWaiting = true
      isBlocked ||= isAlone
    } else if (clearance && !isBlocked) ready.push({ index, call, clearance })
  }
  return { ready, hasWaiting }
}

/** A question does nothing by itself. The calls of the agent that answers are cleared one by one. */
const ASKS: Clearance = { type: 'run', digest: '', cleared: undefined }

function isQuestion(call: ToolCall, { toolbox }: TurnContext): boolean {
  const found = findTool(call, toolbox)
  return 'tool' in found && found.tool === askSectionTool
}

/** Runs a call of `ask_section`. Undefined: a call of the agent that answers waits for a person. */
async function runQuestion(call: ToolCall, context: TurnContext): Promise<CallEnd | undefined> {
  const started = performance.now()
  const outcome = await context.ask(call)
  if (outcome.type === 'wait') return undefined
  const onEnd = (end: CallEnd): void => context.settled(end, undefined)
  // The tool's own check explains what is wrong.
  if (outcome.type === 'invalid') return runCall(call, context, { onEnd })
  const { result, path, usage } = outcome
  const delegated = path !== undefined && usage ? { delegated: { path, usage } } : {}
  return runCall(call, context, { answer: { result, started, ...delegated }, onEnd })
}

function createParallelOptions(context: TurnContext) {
  return {
    limit: context.parallelCalls,
    isAlone: ({ call }: ReadyCall): boolean => isExclusive(call, context),
  }
}

function isExclusive(call: ToolCall, { toolbox }: TurnContext): boolean {
  const found = findTool(call, toolbox)
  return 'tool' in found && found.tool.exclusive
}

function refuse(
  { id, name }: ToolCall,
  index: number,
  { calls, runnable }: { readonly calls: readonly ToolCall[]; readonly runnable: number },
): ToolMessage {
  const text = index < runnable ? NOT_RUN : describeTooMany(calls.length, runnable)
  return { role: 'tool', callId: id, name, text, isError: true }
}

function describeTooMany(made: number, most: number): string {
  return `Not run: one reply may call ${most} tools, and this one called ${made}. Call the rest in your next reply.`
}

/** Runs a call of a disclosure tool and applies its opening, or keeps the opening for the next render. */
async function disclose(call: ToolCall, context: TurnContext): Promise<CallEnd> {
  const now = context.render()
  const request = readRequest(now.disclosure, { name: call.name, arguments: call.arguments })
  let pending: PendingOpening | undefined
  const review = (result: ToolResult): ToolResult => {
    if (!result.ok) return result
    const { opening, message } = result
    if (!opening) return { ...result, message: context.describeOpen(request.keys) ?? message }
    if (chooseAnswer(opening, context.canAddTools()) === 'in-place') {
      const refusal = context.refuseOpening(opening, () => message)
      if (refusal === undefined) return result
      return fail(refusal)
    }
    const waiting = context.getPending()
    const accepted = acceptOpening(opening, context.policy, { view: now.view, isFirst: waiting.length === 0 })
    const { expansion } = accepted
    if (expansion) {
      const { keys, tools } = { ...opening, ...expansion }
      const refusal = context.refuseOpening({ keys, tools }, () => getOpenedText(now.view, expansion.paths))
      if (refusal !== undefined) return fail(refusal)
      pending = { callId: call.id, ...expansion }
    }
    return { ...result, message: accepted.text }
  }
  const describe = ({ result }: CallEnd): NonNullable<ToolInvoked['disclosure']> => {
    const opening = result.ok ? result.opening : undefined
    return {
      keys: opening?.keys ?? request.keys,
      reason: opening?.reason ?? request.reason,
      full: listOpenPaths(now),
      summarized: now.summarized,
      answer: getAnswer(result, context.canAddTools()),
    }
  }
  return runCall(call, context, {
    review,
    onEnd(end) {
      context.settled({ ...end, invoked: { ...end.invoked, disclosure: describe(end) } }, pending)
      const { result } = end
      if (result.ok && result.opening && chooseAnswer(result.opening, context.canAddTools()) === 'in-place') {
        applyOpening(context.session, result.opening)
        context.showed(result.opening.paths)
      }
    },
  })
}

function getAnswer(result: ToolResult, canAddTools: boolean): NonNullable<ToolInvoked['disclosure']>['answer'] {
  if (!result.ok) return 'none'
  if (result.opening) return chooseAnswer(result.opening, canAddTools)
  return 'in-place'
}

/** Runs a call of any other tool. Its opening takes effect if that is possible without a new render. */
async function runOther(call: ToolCall, context: TurnContext, clearance: ReadyCall['clearance']): Promise<CallEnd> {
  if (clearance.type === 'run') await context.begins({ callId: call.id, tool: call.name, digest: clearance.digest })
  return runCall(call, context, {
    ...getClearedOptions(clearance),
    onEnd(end) {
      context.settled(end, undefined)
      const opening = end.result.ok ? end.result.opening : undefined
      if (!opening || !context.canAddTools() || context.refuseOpening(opening, () => '') !== undefined) return
      if (!isApplied(context.session, opening)) applyOpening(context.session, opening)
    },
  })
}

function getClearedOptions(clearance: ReadyCall['clearance']): Pick<CallOptions, 'cleared' | 'reason' | 'answer'> {
  if (clearance.type === 'run') return { cleared: clearance.cleared, reason: clearance.reason }
  return { answer: { result: clearance.type === 'unknown' ? fail(clearance.message) : clearance.result } }
}

/**
 * Finds tools that have become visible, by an opening or by any other change to the session. The session's view
 * decides.
 */
function findAdded(context: TurnContext, openings: readonly Opening[]): Pick<TurnEnd, 'added' | 'keys'> {
  const now = context.render()
  const added = context.toolbox.findNew(now)
  warnOfTaken(context, openings)
  const keys = new Set<string>()
  for (const { name } of added) {
    const opening = openings.find(({ tools }) => tools.some((tool) => tool.name === name))
    for (const key of opening?.keys ?? [now.findSection(name)]) if (key !== undefined) keys.add(key)
  }
  return { added, keys: [...keys] }
}

function warnOfTaken(context: TurnContext, openings: readonly Opening[]): void {
  for (const { keys, tools } of openings) {
    for (const tool of tools) {
      if (!context.toolbox.offered.has(tool.name) || context.isDisclosure(tool.name)) continue
      const found = context.toolbox.find(tool.name)
      if ('tool' in found && found.tool === tool) continue
      context.warn(
        `A tool named '${tool.name}' can already be called; the one that was opened with ${keys.join(', ')} is left out.`,
      )
    }
  }
}

interface ParallelOptions<Item> {
  /** The maximum number that run at the same time. */
  readonly limit: number
  /** Whether an item must not run alongside others. */
  readonly isAlone: (item: Item) => boolean
}

/** Runs work on each item, several at a time. Results are in the order of the items; the first failure is thrown at the end. */
async function runParallel<Item, Result>(
  items: readonly Item[],
  options: ParallelOptions<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  const running = new Set<Promise<unknown>>()
  const start = (item: Item): void => {
    const result = work(item)
    results.push(result)
    const ended: Promise<unknown> = result.then(
      () => running.delete(ended),
      () => running.delete(ended),
    )
    running.add(ended)
  }
  for (const item of items) {
    const isAlone = options.isAlone(item)
    // An exclusive item waits for all items before it, and all items after it wait for it.
    if (isAlone) await Promise.all(running)
    else if (running.size >= Math.max(1, options.limit)) await Promise.race(running)
    start(item)
    if (isAlone) await Promise.all(running)
  }
  await Promise.all(running)
  return Promise.all(results)
}
