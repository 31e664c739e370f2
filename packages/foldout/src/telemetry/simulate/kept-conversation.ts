import { NO_USAGE, type AssistantMessage, type Evaluation, type ToolCall } from '../../adapters/contract.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { agentRun, getLog } from '../../agent/state/run-state.ts'
import { toHandle } from '../../agent/refold/projection.ts'
import type { Session } from '../../session/session.ts'
import type { SimulatedCall } from './contract.ts'

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

const CHARACTERS_PER_TOKEN = 4

/** Creates a text with lines of its own that has this many tokens, as `measure` counts them, or the next possible number. */
function createStandIn(label: string, tokens: number, measure: (text: string) => number): string {
  const count = (length: number) => ({ length, tokens: measure(fill(label, length)) })
  let least = count(0)
  let most = count(tokens * CHARACTERS_PER_TOKEN)
  while (most.tokens < tokens && most.length > least.length) [least, most] = [most, count(most.length * 2)]
  while (most.tokens !== tokens && most.length - least.length > 1) {
    // Tokens grow with the length, nearly evenly.
    const share = (tokens - least.tokens) / Math.max(1, most.tokens - least.tokens)
    const step = Math.round(share * (most.length - least.length))
    const middle = count(Math.min(most.length - 1, least.length + Math.max(1, step)))
    if (middle.tokens < tokens) least = middle
    else most = middle
  }
  return fill(label, most.length)
}

/** Makes texts of simulated results, arguments and replies. */
export interface StandIns {
  text(label: string, tokens: number): string
  /** Arguments of a call that have this many tokens as JSON. */
  arguments(label: string, tokens: number): Readonly<Record<string, unknown>>
}

export function createStandIns(counter: TokenCounter): StandIns {
  const empty = counter.count('{}')
  const wrap = (text: string) => ({ simulated: text })
  return {
    text: (label, tokens) => createStandIn(label, tokens, (text) => counter.count(text)),
    arguments(label, tokens) {
      if (tokens <= empty) return {}
      return wrap(createStandIn(label, tokens, (text) => counter.count(JSON.stringify(wrap(text)))))
    },
  }
}

/** Lines with numbers, so that any part of a text differs from every other. */
function fill(label: string, characters: number): string {
  const lines: string[] = []
  for (let at = 0, line = 1; at < characters; line++) {
    const text = `${label}, line ${line}: ${(line * 7_919) % 10_007} rows were read`
    lines.push(text)
    at += text.length + 1
  }
  return lines.join('\n').slice(0, characters)
}
