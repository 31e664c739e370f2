import type { Message, ToolCall, ToolMessage } from '../../adapters/contract.ts'
import { untilAborted } from '../../core/abort.ts'
import { readRequest } from '../../disclosure/strategy.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import { visibility } from '../../session/visibility.ts'
import type { BeforeRequest } from '../refold/hook.ts'
import type { Ledger } from '../refold/ledger.ts'
import { toRefoldTerms } from '../refold/options.ts'
import { projectResults, type FoldedResult } from '../refold/projection.ts'
import type { RunCore } from './run-core.ts'
import { createRefold, toRecords, type DueFold, type Refold } from '../refold/refold.ts'
import { agentRun, getLog } from '../state/run-state.ts'
import { summarizeTurns } from './summarize.ts'
import { offerReadResult, removeTools, tellFold } from './fold-tools.ts'
import { takeRender } from './take-render.ts'

/** Creates the part of a run that decides what is folded. */
export function createRunRefold(core: Omit<RunCore, 'turn' | 'refold'>): Refold {
  const { options, journal, context } = core
  const { adapter, refold } = options
  const window = options.contextWindow ?? adapter.contextWindow
  const isWanted =
    refold !== false && (window !== undefined || refold !== undefined || options.beforeRequest !== undefined)
  return createRefold({
    terms: toRefoldTerms(refold || {}, { window, adapter }),
    isOn: isWanted && adapter.ownsConversation !== true,
    leavesClosed: refold !== false && adapter.ownsConversation !== true,
    window,
    adapter,
    beforeRequest: createHook(core),
    context,
    getState() {
      const { folded, summary, usage, repliedAt } = journal.state
      return { log: getLog(journal.state), folded, summary, usage, repliedAt }
    },
    isDisclosure: (name) => core.rendered.disclosure.toolNames.includes(name),
    createClosedCheck(closing) {
      const now = core.render()
      return (call) => isClosed(now, call, closing)
    },
    findUnused: (ledger) => findUnused(core, ledger),
    findClosable: (sections) => findClosable(core.render(), sections),
  })
}

/** A hook that never answers must not outlive its run. */
function createHook({
  options: { beforeRequest },
  signal,
}: Pick<RunCore, 'options' | 'signal'>): BeforeRequest | undefined {
  return beforeRequest && ((request) => untilAborted(signal.signal, async () => beforeRequest(request)))
}

/** Finds the open sections of a list that can close. One without a summary closes with the section that it is in. */
function findClosable({ view }: RenderedPrompt, sections: readonly string[]): readonly string[] {
  const paths = new Set(sections.map((section) => view.resolve(section)))
  const open = view.texts.filter(({ path }) => paths.has(path) && view.state(path) === 'full')
  return open.flatMap(({ path, summary }) => (summary === undefined ? [] : [path]))
}

/** Whether all sections that a call asked for are closed, or about to be. */
function isClosed(now: RenderedPrompt, call: ToolCall, closing: ReadonlySet<string>): boolean {
  const paths = findPaths(now, call)
  return paths.length > 0 && paths.every((path) => now.view.state(path) !== 'full' || closing.has(path))
}

function findPaths({ disclosure, view }: RenderedPrompt, { name, arguments: args }: ToolCall): readonly string[] {
  return readRequest(disclosure, { name, arguments: args }).keys.map((key) => view.resolve(key) ?? key)
}

/** Finds open sections that the model has opened, and whose tools it has not called for a number of replies. */
function findUnused(core: Omit<RunCore, 'turn' | 'refold'>, ledger: Ledger): readonly string[] {
  const { closeAfter } = toRefoldTerms(core.options.refold || {}, { window: undefined, adapter: core.options.adapter })
  if (closeAfter === undefined) return []
  const now = core.render()
  const calls = ledger.entries.flatMap(({ message, replies }) =>
    message.role === 'assistant' && replies > ledger.replies - closeAfter ? message.toolCalls : [],
  )
  const called = new Set(calls.map(({ name }) => name))
  const opened = new Set(calls.flatMap((call) => (isDisclosureCall(now, call) ? findPaths(now, call) : [])))
  const read = core.journal.state.read.map(([path]) => path)
  return findClosable(now, read).filter(
    (path) => !opened.has(path) && !now.view.toolsIn(path).some(({ name }) => called.has(name)),
  )
}

function isDisclosureCall({ disclosure }: RenderedPrompt, { name }: ToolCall): boolean {
  return disclosure.toolNames.includes(name)
}

/**
 * Folds what is due before the next request, and offers the tool that reads folded results. `next` follows the
 * conversation.
 */
export async function foldBack(core: RunCore, next: readonly Message[] = []): Promise<void> {
  const { refold } = core
  const due = core.due ?? (await refold.decide(next))
  core.due = undefined
  for (const path of due?.sections ?? []) core.session.dispatch(visibility.events.set({ path, visibility: 'summary' }))
  leaveClosed(core, next)
  const isRecorded = due !== undefined && (await applyFold(core, due, next))
  removeTools(core, due !== undefined)
  if (due && due.sections.length > 0 && !isRecorded) tellClosed(core, due, next)
  offerReadResult(core)
}

/** Returns whether results were folded. */
async function applyFold(core: RunCore, due: DueFold, next: readonly Message[]): Promise<boolean> {
  const { refold } = core
  if (due.isSummaryFirst || due.summary !== undefined) await summarizeTurns(core, due)
  const folds = due.plan !== undefined && !(due.isSummaryFirst && !refold.isTooFull(next))
  if (folds) recordFold(core, due)
  if (!due.isSummaryFirst && refold.isTooFull(next)) await summarizeTurns(core, due)
  return folds
}

/** Tells of sections that closed without a result that shows them: their text and tools precede the conversation. */
function tellClosed(core: RunCore, { sections, context, reason }: DueFold, next: readonly Message[]): void {
  const { refold } = core
  const freed = Math.max(0, context - refold.count(next))
  tellFold(core, {
    callIds: [],
    reason,
    context,
    freed,
    cost: 0,
    gain: Math.round(refold.terms.cache.read * freed),
    sections,
  })
}

/**
 * Renders again if the system text shows sections that were closed since, and nothing is lost by that: the provider's
 * cache has expired, or the next request would not fit.
 */
function leaveClosed(core: RunCore, next: readonly Message[]): void {
  const { options, refold } = core
  if (options.refold === false || !(refold.isCold || refold.findMisfit(next) !== undefined)) return
  if (!hasClosedStart(core)) return
  core.mustRender = true
  removeTools(core, true)
  takeRender(core)
}

/** Whether the system text shows a section that was closed since. */
function hasClosedStart({ journal, render }: RunCore): boolean {
  const now = render()
  return (journal.state.start?.shown ?? []).some(([path]) => now.view.state(path) === 'folded')
}

function recordFold(core: RunCore, { plan, spent, sections, context }: DueFold): void {
  if (!plan) return
  const now = core.render()
  const closed = core.journal.state.read.map(([path]) => path).filter((path) => now.view.state(path) !== 'full')
  const lost = countLostReasoning(core, plan.callIds)
  const { reason, freed, cost, gain } = plan
  const folded = toRecords({ plan, spent })
  core.journal.record(agentRun.events.folded({ folded, closed }))
  tellFold(core, {
    callIds: folded.map(({ callId }) => callId),
    reason,
    context,
    freed,
    cost: Math.round(cost),
    gain: Math.round(gain),
    ...(sections.length > 0 && { sections }),
    ...(lost > 0 && { lostReasoning: lost }),
  })
}

/** Counts the replies whose reasoning the provider no longer accepts, because the conversation before them changes. */
function countLostReasoning({ options, refold }: RunCore, callIds: readonly string[]): number {
  if (!options.adapter.bindsReasoning) return 0
  const folded = new Set(callIds)
  const { entries } = refold.ledger
  const first = entries.findIndex(({ message }) => message.role === 'tool' && folded.has(message.callId))
  return entries.slice(first).filter(({ message }) => message.role === 'assistant' && message.native).length
}

/** Folds results that are too large to be sent even once, and returns all of them as they are sent. */
export function receiveResults(core: RunCore, results: readonly ToolMessage[]): readonly ToolMessage[] {
  const { refold, context } = core
  const large = refold.findLarge(results)
  if (large.length === 0) return refold.show(results)
  const folded = large.map(({ callId }): FoldedResult => ({ callId, form: 'large' }))
  const shown = projectResults(large, refold.ledger.results, folded)
  const sum = (messages: readonly Message[]): number =>
    context.correct(messages.reduce((tokens, message) => tokens + context.countMessage(message), 0))
  const freed = sum(large) - sum(shown)
  core.journal.record(agentRun.events.folded({ folded }))
  // Nothing of these results was ever sent, so folding them costs nothing.
  tellFold(core, {
    callIds: large.map(({ callId }) => callId),
    reason: 'large',
    context: refold.count(results),
    freed,
    cost: 0,
    gain: Math.round(refold.terms.cache.read * freed),
  })
  return refold.show(results)
}
