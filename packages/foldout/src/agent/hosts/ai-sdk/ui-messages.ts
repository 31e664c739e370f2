import type { DynamicToolUIPart, UIMessage } from 'ai'
import type { AssistantMessage, ToolMessage, UserMessage } from '../../../adapters/contract.ts'
import { readRequest } from '../../../disclosure/strategy.ts'
import { describeNews } from '../../../disclosure/opening.ts'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import type { Session } from '../../../session/session.ts'
import { agentRun, type RunState } from '../../state/run-state.ts'
import { describeForPeople } from './ui-stream.ts'

type UiPart = UIMessage['parts'][number]

/**
 * Returns the conversation of a session for the UIs of the AI SDK, such as the `messages` of `useChat`. The text of
 * sections that the model opened is replaced by a notice. Pass the prompt that the session ran.
 *
 * @example
 * ```ts
 * const messages = toUIMessages(session, bound)
 * messages.length // => 0
 * ```
 */
export function toUIMessages(session: Session, bound: Pick<BoundPrompt, 'render'>): UIMessage[] {
  const state = session.get(agentRun)
  const results = new Map<string, ToolMessage>()
  for (const message of [...state.messages, ...state.finished])
    if (message.role === 'tool') results.set(message.callId, message)
  const { disclosure } = bound.render({ session })
  const describe = (result: ToolMessage, input: unknown): string => {
    if (!disclosure.toolNames.includes(result.name)) return result.text
    return describeForPeople(readRequest(disclosure, { name: result.name, arguments: input }).keys)
  }
  const messages: UIMessage[] = []
  for (const [index, message] of state.messages.entries()) {
    const last = messages.at(-1)
    if (message.role === 'user' && !isNews(message))
      messages.push({ id: `${state.id}-${index}`, role: 'user', parts: getUserParts(message) })
    if (message.role !== 'assistant') continue
    const parts = getReplyParts(message, { results, state, describe })
    // A reply and the replies after its calls are one message there.
    if (last?.role === 'assistant') last.parts.push(...parts)
    else messages.push({ id: `${state.id}-${index}`, role: 'assistant', parts })
  }
  return messages
}

/** Whether a message tells the model about sections that the application opened, which nobody said. */
function isNews({ text }: UserMessage): boolean {
  return text.startsWith(describeNews(''))
}

function getUserParts({ text, parts }: UserMessage): UiPart[] {
  if (!parts) return [{ type: 'text', text }]
  return parts.map((part): UiPart => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    const mediaType = part.mediaType ?? 'application/octet-stream'
    const url = 'url' in part ? part.url : `data:${mediaType};base64,${part.data}`
    return { type: 'file', mediaType, url, ...(part.name !== undefined && { filename: part.name }) }
  })
}

interface ReplyContext {
  readonly results: ReadonlyMap<string, ToolMessage>
  readonly state: RunState
  readonly describe: (result: ToolMessage, input: unknown) => string
}

function getReplyParts({ text, toolCalls }: AssistantMessage, { results, state, describe }: ReplyContext): UiPart[] {
  const calls = toolCalls.map(({ id: toolCallId, name: toolName, arguments: input = {} }): DynamicToolUIPart => {
    const call = { type: 'dynamic-tool', toolName, toolCallId, input } as const
    const result = results.get(toolCallId)
    if (result?.isError) return { ...call, state: 'output-error', errorText: result.text }
    if (result) return { ...call, state: 'output-available', output: describe(result, input) }
    const waiting = state.approvals.find(({ callId, answer }) => callId === toolCallId && answer === undefined)
    if (waiting) return { ...call, state: 'approval-requested', approval: { id: waiting.digest } }
    return { ...call, state: 'input-available' }
  })
  return [{ type: 'step-start' }, ...(text === '' ? [] : [{ type: 'text', text, state: 'done' } as const]), ...calls]
}
