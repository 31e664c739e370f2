import type { AssistantMessage, Evaluation, Message, ModelEvent, UserMessage } from '../../adapters/contract.ts'
import { untilAborted } from '../../core/abort.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { getAncestors } from '../../core/text.ts'
import { NO_USAGE, hasUsage, readUsage, type Usage } from '../../adapters/usage/usage.ts'
import type { LedgerEntry } from '../refold/ledger.ts'
import type { ConversationSummary } from '../refold/projection.ts'
import type { RunCore } from './run-core.ts'
import { mayAddTools } from './take-render.ts'
import { listSentTools } from './evaluation.ts'
import { tellFold } from './fold-tools.ts'
import type { DueFold } from '../refold/refold.ts'
import { agentRun } from '../state/run-state.ts'
import { findAddedTools } from './take-render.ts'

/** The older turns of a conversation, and where the others begin. */
interface Cut {
  /** The messages of the older turns, as they are sent. */
  readonly messages: readonly Message[]
  /** How many messages of the conversation they are. */
  readonly count: number
  /** The messages that stay. */
  readonly rest: readonly LedgerEntry[]
  readonly tokens: number
}

/** What stands for the older turns, before what is open joins it. */
interface Shortened {
  readonly messages: readonly Message[]
  readonly hasTools: boolean
}

/**
 * Replaces the older turns by a summary: of the caller, of the provider, or of the run's own model. What is open stands
 * behind it word for word, with its tools. If that fails, the conversation stays as it is.
 */
export async function summarizeTurns(core: RunCore, due: DueFold): Promise<void> {
  const cut = findCut(core)
  if (!cut) return
  const { refold, signal, tell, journal } = core
  let summary: ConversationSummary | undefined
  try {
    const shortened = await untilAborted(signal.signal, () => shorten(core, cut, due.summary))
    summary = shortened && createSummary(core, cut, shortened)
    if (summary) assertShorter(core, summary, cut)
  } catch (error) {
    signal.check(journal.state)
    refold.giveUpSummary()
    tell({ type: 'warning', message: `The older turns were not summarized: ${getErrorMessage(error)}` })
    return
  }
  if (!summary) return
  const before = refold.count()
  const now = core.render()
  const closed = journal.state.read.map(([path]) => path).filter((path) => now.view.state(path) !== 'full')
  const isCold = refold.isCold
  journal.record(agentRun.events.folded({ summary, closed }))
  const after = refold.count()
  const { read, write } = refold.terms.cache
  tellFold(core, {
    callIds: [],
    reason: due.summary === undefined ? 'summary' : 'asked',
    context: before,
    freed: before - after,
    // All messages are written again.
    cost: Math.round(isCold ? -write * (before - after) : write * after - read * before),
    gain: Math.round(read * (before - after)),
    summarized: cut.count,
  })
}

function assertShorter({ context }: RunCore, { messages }: ConversationSummary, { tokens }: Cut): void {
  const needed = messages.reduce((sum, message) => sum + context.countMessage(message), 0)
  if (needed >= tokens) throw new Error(`the summary has ${needed} tokens, and what it replaces ${tokens}.`)
}

/** Cuts before a reply, so that results stay with their calls. */
function findCut({ refold }: RunCore): Cut | undefined {
  const { entries, tokens } = refold.ledger
  const { keepTurns, at } = refold.terms
  const replies = entries.flatMap(({ message, position }, index) =>
    message.role === 'assistant' && position >= 0 ? [index] : [],
  )
  for (let keep = keepTurns; keep >= 1; keep = Math.floor(keep / 2)) {
    const index = replies.at(-keep)
    const first = index === undefined ? undefined : entries[index]
    // Nothing is gained if only the summary precedes it.
    if (index === undefined || !first || entries.slice(0, index).every(({ position }) => position < 0)) continue
    if (keep > 1 && tokens - first.before > at / 2) continue
    const sent = entries.slice(0, index).map((entry) => entry.sent)
    return { messages: sent, count: first.position, rest: entries.slice(index), tokens: first.before }
  }
  return undefined
}

async function shorten(core: RunCore, cut: Cut, given: string | undefined): Promise<Shortened | undefined> {
  const { options, refold, signal } = core
  const { summarize } = refold.terms
  if (given !== undefined) return toShortened(given)
  if (summarize === 'provider') return compact(core, cut)
  if (summarize === 'model') return toShortened(await askModel(core, cut))
  if (summarize === undefined || options.adapter.ownsConversation) return undefined
  return toShortened(await summarize({ messages: cut.messages, signal: signal.signal }))
}

function toShortened(text: unknown): Shortened | undefined {
  if (typeof text !== 'string' || text.trim() === '') throw new Error('the summary is empty.')
  return { messages: [{ role: 'user', text: `The conversation so far, in short:\n\n${text}` }], hasTools: false }
}

async function compact(core: RunCore, cut: Cut): Promise<Shortened | undefined> {
  const { offer, options, signal } = core
  const compacted = await options.adapter.compact?.({
    system: offer.system,
    tools: offer.tools,
    addedTools: listSentTools(core),
    mayAddTools: mayAddTools(core),
    findToolGroup: (name) => core.rendered.view.findToolGroup(name),
    messages: cut.messages,
    signal: signal.signal,
    emit: (event) => takeEvent(core, event),
  })
  if (compacted) count(core, compacted.usage)
  return compacted
}

const INSTRUCTION =
  'Summarize this conversation for yourself: you will continue it without its older part. Keep the task, decisions, open questions, exact names, numbers and file paths, and what to do next. Answer with the summary alone, and call no tools.'

/** Whether a request asks the run's own model for a summary. */
export function isSummaryRequest({ messages }: Pick<Evaluation, 'messages'>): boolean {
  const last = messages.at(-1)
  return last?.role === 'user' && last.text === INSTRUCTION
}

/** Asks the run's own model, with the text, tools and messages that its provider has in its cache. */
async function askModel(core: RunCore, cut: Cut): Promise<string> {
  const { offer, options, signal } = core
  let reported = NO_USAGE
  let reply: AssistantMessage | undefined
  const evaluation: Evaluation = {
    system: offer.system,
    tools: offer.tools,
    addedTools: listSentTools(core),
    mayAddTools: mayAddTools(core),
    findToolGroup: (name) => core.rendered.view.findToolGroup(name),
    messages: [...cut.messages, { role: 'user', text: INSTRUCTION }],
    output: undefined,
    signal: signal.signal,
    beforeRequest: async () => core.check(),
    callTools: async () => ({ type: 'halt', results: [], isPaused: true }),
    async record(message) {
      if (message.role === 'assistant') reply = message
    },
    emit(event) {
      if (event.type === 'reply/received' || event.type === 'reply/lost') reported = event.usage
      takeEvent(core, event)
    },
  }
  const result = await options.adapter.evaluate(evaluation)
  if (!hasUsage(readUsage(reported))) count(core, result.usage)
  return result.type === 'final' ? result.text : (reply?.text ?? '')
}

/** Counts the usage of a summary. Its reply is no message of the conversation, so listeners are only told of retries. */
function takeEvent(core: RunCore, event: ModelEvent): void {
  if (event.type === 'reply/received' || event.type === 'reply/lost') count(core, event.usage)
  if (event.type === 'warning' || event.type === 'request/retried') core.tell(event)
}

function count({ journal }: RunCore, given: Usage): void {
  const usage = readUsage(given)
  if (hasUsage(usage)) journal.record(agentRun.events.used({ usage, at: Date.now() }))
}

/** Puts what is open behind a summary: the texts that the model could read only in the older turns, and all added tools. */
function createSummary(core: RunCore, cut: Cut, { messages, hasTools }: Shortened): ConversationSummary {
  const { current } = findAddedTools(core)
  const names = current.map(({ name }) => name)
  const open = [...messages, createOpenMessage(core, cut)]
  return {
    count: cut.count,
    messages: names.length === 0 || hasTools ? open : [...open, { role: 'tools', names }],
  }
}

function createOpenMessage(core: RunCore, { rest }: Cut): UserMessage {
  const { view } = core.render()
  const { start, read } = core.journal.state
  const inSystem = new Set(start?.shown.map(([path]) => path))
  const paths = new Set(read.map(([path]) => path).filter((path) => view.state(path) === 'full' && !inSystem.has(path)))
  const outermost = [...paths].filter((path) => !getAncestors(path).some((ancestor) => paths.has(ancestor)))
  const texts = outermost
    .map((path) => view.content(path))
    .filter((text) => !rest.some(({ sent }) => 'text' in sent && sent.text.includes(text)))
  const results = core.refold.ledger.results
  const kept = results === 0 ? [] : [`Every result is kept, r1 to r${results}: read_result reads any part of them.`]
  const opened = texts.length === 0 ? [] : ['These sections are open:', ...texts]
  return { role: 'user', text: [...opened, ...kept, 'The conversation continues here.'].join('\n\n') }
}
