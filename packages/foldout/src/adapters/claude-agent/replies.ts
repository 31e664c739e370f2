import type { AssistantMessage, ToolCall, Usage } from '../contract.ts'
import { mergeReports, readReport } from '../anthropic/usage.ts'
import { readEnding } from '../stream.ts'
import { toToolCall } from '../tool-calls.ts'
import type { SdkAssistantMessage, SdkBlock, SdkStreamMessage, SdkUsage } from './sdk.ts'
import { SERVER_NAME } from './tool-server.ts'

export interface Reply {
  readonly message: AssistantMessage
  readonly usage: Usage
}

/** Assembles replies. The SDK delivers one block at a time, and the end of a reply only in the stream. */
export interface ReplyReader {
  /** Processes an event of the stream. Returns the reply that ends with it. */
  event(event: SdkStreamMessage['event']): Reply | undefined
  /** Discards a reply whose stream was cut off. Returns what it has cost. */
  abandon(): Usage
  /**
   * Processes blocks. Returns whether they belong to a reply without a stream, which ends when something else arrives.
   */
  blocks(message: SdkAssistantMessage['message']): boolean
  /** Ends a reply that has no stream. */
  end(): Reply | undefined
}

interface Draft {
  readonly id: string
  readonly blocks: SdkBlock[]
  usage: SdkUsage
  /** Why the reply ended, if the stream says it. */
  reason?: string | undefined
}

export function createReplyReader(): ReplyReader {
  let streamed: Draft | undefined
  let whole: Draft | undefined
  return {
    event({ type, message, usage, delta }) {
      if (type === 'message_start' && message !== undefined) {
        // A reply that is still open was cut off, and the executable sends the request again.
        streamed = { id: message.id, blocks: [], usage: message.usage ?? {} }
      }
      if (streamed === undefined) return undefined
      if (type === 'message_delta') {
        streamed.usage = mergeReports(streamed.usage, usage ?? {})
        streamed.reason = delta?.stop_reason ?? streamed.reason
      }
      if (type !== 'message_stop') return undefined
      const reply = toReply(streamed)
      streamed = undefined
      return reply
    },
    abandon() {
      const usage = readReport(streamed?.usage ?? {})
      streamed = undefined
      return usage
    },
    blocks({ id, content, usage = {} }) {
      if (streamed?.id === id) {
        for (const block of content) streamed.blocks.push(block)
        return false
      }
      if (whole?.id !== id) whole = { id, blocks: [], usage }
      for (const block of content) whole.blocks.push(block)
      return true
    },
    end() {
      const reply = whole === undefined ? undefined : toReply(whole)
      whole = undefined
      return reply
    },
  }
}

function toReply({ blocks, usage, reason }: Draft): Reply {
  const ending = readEnding(reason)
  const cut = ending === 'cut-off' || ending === 'filtered' ? { cut: ending } : {}
  return { message: { ...toMessage(blocks), ...cut }, usage: readReport(usage) }
}

export function toMessage(blocks: readonly SdkBlock[]): AssistantMessage {
  const text = blocks.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('')
  return { role: 'assistant', text, toolCalls: getCalls(blocks) }
}

export function getCalls(blocks: readonly SdkBlock[]): readonly ToolCall[] {
  return blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id = '', name = '', input }) => toToolCall({ id, name: toPlainName(name), input: input ?? {} }))
}

// The executable is configured to leave names unchanged, but older versions prepend the server's name.
function toPlainName(name: string): string {
  const prefix = `mcp__${SERVER_NAME}__`
  if (name.startsWith(prefix)) return name.slice(prefix.length)
  return name
}

/** Returns the text of a tool's result as the executable reports it. */
export function getResultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly SdkBlock[]).map(({ text }) => text ?? '').join('\n')
}
