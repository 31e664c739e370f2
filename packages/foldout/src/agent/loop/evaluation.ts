import {
  NO_USAGE,
  addUsage,
  type AssistantMessage,
  type Evaluation,
  type EvaluationResult,
  type Message,
  type ToolCall,
  type TurnOutcome,
  type Usage,
} from '../../adapters/contract.ts'
import { readMessage, readUsage } from '../../adapters/read-reply.ts'
import { withoutRefused } from '../../adapters/user-parts.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { AgentEvent } from '../events.ts'
import { refuseInput } from '../input.ts'
import type { AgentOptions } from '../options.ts'
import type { Offer } from './core.ts'
import type { RunJournal } from './journal.ts'
import { agentRun } from './run-state.ts'
import type { RunSignal } from './run-signal.ts'
import { findAddedTools } from './take-render.ts'
import type { Toolbox } from './calls/toolbox.ts'

/**
 * Records messages of a conversation. They are stored before the next request is sent, a call begins or the run ends.
 */
export interface Scribe {
  /** The model's last reply. */
  readonly lastReply: AssistantMessage | undefined
  say(message: Message): void
}

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
  readonly rendered: Pick<RenderedPrompt, 'output'>
  readonly journal: RunJournal
  readonly scribe: Scribe
  readonly toolbox: Toolbox
  readonly signal: RunSignal
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

/** Creates an evaluation of the conversation so far. */
export function openEvaluation(parts: EvaluationParts): OpenEvaluation {
  const { options, offer, rendered, journal, scribe, toolbox, signal, check, tell } = parts
  const { added } = findAddedTools(journal.state.messages, offer.tools, toolbox)
  // The conversation may have begun with a model that accepts more kinds of input.
  const { messages, refused } = withoutRefused(journal.state.messages, (part) => refuseInput(options.adapter, part))
  for (const reason of new Set(refused))
    tell({
      type: 'warning',
      message: `An image or file of this conversation is only described to the model. ${reason}`,
    })
  let told = NO_USAGE
  let isOpen = true
  const assertOpen = (): void => {
    if (!isOpen) throw signal.getError(journal.state)
  }
  const evaluation: Evaluation = {
    system: offer.system,
    tools: offer.tools,
    addedTools: added,
    messages,
    output: rendered.output,
    signal: signal.signal,
    async beforeRequest() {
      assertOpen()
      await journal.saved()
      check()
    },
    callTools(calls) {
      assertOpen()
      return parts.callTools(calls)
    },
    async record(message) {
      assertOpen()
      scribe.say(readMessage(message))
    },
    emit(event) {
      if (!isOpen) return
      if (event.type === 'reply/received') {
        const usage = readUsage(event.usage)
        told = addUsage(told, usage)
        journal.record(agentRun.events.used({ usage }))
      }
      tell(event)
    },
  }
  return {
    evaluation,
    count(result) {
      const rest = subtractUsage(readUsage(result.usage), told)
      if (Object.values(rest).some((tokens) => tokens > 0)) journal.record(agentRun.events.used({ usage: rest }))
    },
    close() {
      isOpen = false
    },
  }
}

/** Subtracts one usage from another; no count goes below zero. */
function subtractUsage(all: Usage, part: Usage): Usage {
  const left = (field: keyof Usage): number => Math.max(0, all[field] - part[field])
  return {
    inputTokens: left('inputTokens'),
    outputTokens: left('outputTokens'),
    cachedInputTokens: left('cachedInputTokens'),
    cacheWriteTokens: left('cacheWriteTokens'),
  }
}
