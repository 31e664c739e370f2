import { NO_USAGE, type AssistantMessage, type Evaluation, type ToolCall } from '../../adapters/contract.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { agentRun, getLog } from '../../agent/loop/run-state.ts'
import { toHandle } from '../../agent/refold/projection.ts'
import type { Session } from '../../session/session.ts'
import type { SimulatedCall } from './simulate.ts'
import { createStandIns } from './stand-ins.ts'

/** What the model can still read of an earlier result, and where the rest is. */
export interface KeptResult {
  readonly isWhole: boolean
  readonly handle: string
  readonly characters: number
}

/**
 * A simulated conversation that the loop keeps like a real one, so it folds. The loop runs no tool: it continues as
 * after a process that ended when its calls had results.
 */
export interface KeptConversation {
  /** Makes calls, whose results the loop receives when the run continues. */
  call(calls: readonly SimulatedCall[], evaluation: Evaluation): Promise<void>
  say(tokens: number, evaluation: Evaluation): Promise<void>
  /** A text of a person, or a summary. */
  write(tokens: number): string
  /** The model has replied, so long ago. */
  replied(agoMs: number): void
  /** Finds the result of a call by its number; undefined if there was no such call. */
  find(call: number, evaluation: Pick<Evaluation, 'messages'>): KeptResult | undefined
}

export function createKeptConversation(session: Session, counter: TokenCounter): KeptConversation {
  const make = createStandIns(counter)
  const callIds: string[] = []
  let said = 0
  const record = (text: string, toolCalls: readonly ToolCall[], evaluation: Evaluation): Promise<void> =>
    evaluation.record({ role: 'assistant', text, toolCalls } satisfies AssistantMessage)
  return {
    async call(calls, evaluation) {
      const made = calls.map(({ name, argumentsTokens }): ToolCall => {
        const id = `simulated-${callIds.push(`simulated-${callIds.length + 1}`)}`
        return { id, name, arguments: make.arguments(`arguments of ${id}`, argumentsTokens) }
      })
      await record('', made, evaluation)
      for (const [at, { id: callId, name }] of made.entries()) {
        const text = make.text(`result of ${callId}`, calls[at]?.resultTokens ?? 0)
        session.dispatch(agentRun.events.called({ result: { role: 'tool', callId, name, text, isError: false } }))
      }
    },
    say: (tokens, evaluation) => record(make.text(`reply ${++said}`, tokens), [], evaluation),
    write: (tokens) => make.text(`message ${++said}`, Math.max(1, tokens)),
    replied(agoMs) {
      session.dispatch(agentRun.events.used({ usage: NO_USAGE, at: Date.now() - agoMs }))
    },
    find(call, { messages }) {
      const callId = callIds[call - 1]
      const results = [...getLog(session.get(agentRun))].filter((message) => message.role === 'tool')
      const at = results.findIndex((result) => result.callId === callId)
      const result = results[at]
      if (!result) return undefined
      const isWhole = messages.some((one) => one.role === 'tool' && one.callId === callId && one.text === result.text)
      return { isWhole, handle: toHandle(at + 1), characters: result.text.length }
    },
  }
}
