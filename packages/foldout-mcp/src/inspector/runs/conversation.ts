import { estimatedTokens } from 'foldout'
import type { RunMessage } from '../protocol/protocol.ts'
import type { EventOf } from './lines.ts'

/** A message with the call that it answers, as a continued run needs it. */
export interface ModelMessage extends Omit<RunMessage, 'index' | 'calls'> {
  readonly callId: string
  readonly toolCalls: EventOf<'reply/received'>['message']['toolCalls']
  readonly names: readonly string[]
}

/** The messages of a run, put together from its events. */
export class Conversation {
  readonly messages: ModelMessage[] = []
  /** Whether the recording has texts. */
  hasTexts = false
  /** How many messages the run began with that are not in the recording, such as earlier turns of a chat. */
  earlier = 0
  /** How long the messages that requests send are, in tokens. */
  tokens = 0
  /** The last text of the model that calls no tool. */
  output = ''
  /** The input until the first request is sent. */
  #unsaid: string | undefined

  start(input: string | undefined): void {
    this.#unsaid = input
    if (input !== undefined) this.hasTexts = true
  }

  /** The input follows the system text and the results of earlier calls, as in the request that has it. */
  sayInput(request: number): void {
    const text = this.#unsaid
    this.#unsaid = undefined
    if (text !== undefined) this.say(request, { role: 'user', text })
  }

  say(request: number, message: Partial<ModelMessage> & Pick<ModelMessage, 'role'>): void {
    const whole = { name: '', text: '', callId: '', toolCalls: [], names: [], isBad: false, ...message }
    this.messages.push({ ...whole, request })
    if (whole.role !== 'system') this.tokens += estimatedTokens.count(whole.text)
  }

  saySystem(request: number, text: string | undefined): void {
    if (text === undefined) return
    this.hasTexts = true
    this.say(request, { role: 'system', text })
  }

  sayReply(request: number, { text, toolCalls }: EventOf<'reply/received'>['message']): void {
    this.say(request, { role: 'assistant', text, toolCalls })
    if (toolCalls.length === 0) this.output = text
  }

  /** Compares the recording with the number of messages in the first request. */
  countEarlier(sent: number): void {
    this.earlier = Math.max(0, sent - this.messages.filter(isSaid).length)
  }

  /** Results were folded. */
  shrink(freed: number): void {
    this.tokens = Math.max(0, this.tokens - freed)
  }
}

/** Whether a message is part of the conversation that an adapter sends. */
function isSaid({ role }: ModelMessage): boolean {
  return role !== 'system' && role !== 'tools'
}
