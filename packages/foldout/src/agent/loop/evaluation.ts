import type {
  AssistantMessage,
  Evaluation,
  EvaluationResult,
  ModelEvent,
  ToolCall,
  TurnOutcome,
} from '../../adapters/contract.ts'
import { createPartialJsonReader, type PartialJsonReader } from '../../core/json/partial-json.ts'
import { readMessage } from '../../adapters/read-reply.ts'
import { NO_USAGE, addUsage, hasUsage, readUsage, subtractUsage } from '../../adapters/usage/usage.ts'
import { withoutRefused } from '../../adapters/user-parts.ts'
import type { OutputSpec } from '../../prompt/definition/output.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { AgentEvent } from '../events.ts'
import { LimitReachedError } from '../errors.ts'
import { refuseInput } from '../input.ts'
import type { AgentOptions } from '../options.ts'
import type { Offer, Scribe } from './run-core.ts'
import { findWhole, type RunJournal } from './session/journal.ts'
import { agentRun } from '../state/run-state.ts'
import type { ContextParts } from '../refold/context-count.ts'
import type { Refold } from '../refold/refold.ts'
import type { RunSignal } from './session/run-signal.ts'
import { findAddedTools, mayAddTools } from './take-render.ts'
import type { Toolbox } from './calls/toolbox.ts'

export function createScribe(journal: RunJournal): Scribe {
  let lastReply: AssistantMessage | undefined
  return {
    get lastReply() {
      return lastReply
    },
    say(message) {
      if (message.role === 'assistant') lastReply = message
      journal.record(agentRun.events.said({ message }))
    },
  }
}

export interface EvaluationParts {
  readonly options: Pick<AgentOptions, 'adapter'>
  readonly offer: Offer
  readonly rendered: RenderedPrompt
  readonly journal: RunJournal
  readonly scribe: Scribe
  readonly toolbox: Toolbox
  readonly refold: Refold
  readonly signal: RunSignal
  /** Renders the prompt for the current state of the session. */
  render(): RenderedPrompt
  /** Throws if the run must not continue. */
  check(): void
  callTools(calls: readonly ToolCall[]): Promise<TurnOutcome>
  tell(event: AgentEvent): void
}

/** The evaluation that an adapter receives, and its outcome. */
export interface OpenEvaluation {
  readonly evaluation: Evaluation
  /** Counts usage that the adapter returns but has not reported yet. */
  count(result: EvaluationResult): void
  /** Makes an adapter that keeps running have no effect. */
  close(): void
}

/** Lists the added tools that the messages name, and those that a provider's compaction brings. */
export function listSentTools(parts: Parameters<typeof findAddedTools>[0] & Pick<EvaluationParts, 'refold'>) {
  const { added, current } = findAddedTools(parts)
  const named = new Set(current.map(({ name }) => name))
  for (const message of parts.refold.ledger.sent)
    if (message.role === 'tools') for (const name of message.names) named.add(name)
  return new Map([...added].filter(([name]) => named.has(name)))
}

/** Creates an evaluation of the conversation so far. */
export function openEvaluation(parts: EvaluationParts): OpenEvaluation {
  const { options, offer, rendered, journal, scribe, refold, signal, check, tell } = parts
  const addedTools = listSentTools(parts)
  // The conversation may have begun with a model that accepts more kinds of input.
  const { messages, refused } = withoutRefused(refold.ledger.sent, (part) => refuseInput(options.adapter, part))
  for (const reason of new Set(refused))
    tell({
      type: 'warning',
      message: `An image or file of this conversation is only described to the model. ${reason}`,
    })
  const watch = createReplyWatch(rendered.output, {
    countReplies: () => journal.state.turns + 1,
    describeContext: () => refold.describeContext(),
  })
  let told = NO_USAGE
  let isOpen = true
  const assertOpen = (): void => {
    if (!isOpen) throw signal.getError(journal.state)
  }
  const evaluation: Evaluation = {
    system: offer.system.toWellFormed(),
    tools: offer.tools,
    addedTools,
    messages,
    mayAddTools: mayAddTools(parts),
    findToolGroup: (name) => rendered.view.findToolGroup(name),
    output: rendered.output,
    signal: signal.signal,
    async beforeRequest() {
      assertOpen()
      await journal.saved()
      check()
      const misfit = refold.findMisfit()
      if (misfit !== undefined) throw new LimitReachedError('context-window', misfit, journal.state)
    },
    callTools(calls) {
      assertOpen()
      return parts.callTools(calls)
    },
    async record(message) {
      assertOpen()
      scribe.say(findWhole(journal, message) ?? readMessage(message))
    },
    emit(event) {
      if (!isOpen) return
      if (event.type === 'reply/received' || event.type === 'reply/lost') {
        const usage = readUsage(event.usage)
        told = addUsage(told, usage)
        refold.sent(usage)
        journal.record(agentRun.events.used({ usage, at: Date.now() }))
      }
      for (const each of watch(event)) tell(each)
    },
  }
  return {
    evaluation,
    count(result) {
      const rest = subtractUsage(readUsage(result.usage), told)
      if (hasUsage(rest)) journal.record(agentRun.events.used({ usage: rest }))
    },
    close() {
      isOpen = false
    },
  }
}

/** Turns an adapter's events into those of the run. They are copies, because the adapter may go on with its own. */
function createReplyWatch(
  output: OutputSpec<unknown> | undefined,
  { countReplies, describeContext }: { countReplies(): number; describeContext(): ContextParts },
): (event: ModelEvent) => readonly AgentEvent[] {
  let partial: PartialJsonReader | undefined
  let last = 0
  return (event) => {
    switch (event.type) {
      case 'reasoning/delta':
        return [{ ...event, reply: countReplies() }]
      case 'text/delta': {
        const reply = countReplies()
        if (reply !== last) partial = output && createPartialJsonReader(output.container)
        last = reply
        const value = partial?.add(event.text)
        const told: AgentEvent = { ...event, reply }
        return value === undefined ? [told] : [told, { type: 'output/partial', value, reply }]
      }
      case 'request/sent':
        return [{ ...event, tools: [...event.tools], context: describeContext() }]
      case 'reply/received':
        return [{ ...event, message: readMessage(event.message) as AssistantMessage, usage: readUsage(event.usage) }]
      case 'reply/lost':
        return [{ ...event, usage: readUsage(event.usage) }]
      default:
        return [{ ...event }]
    }
  }
}
