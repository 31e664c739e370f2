import type { UIMessageChunk } from 'ai'
import { describeOpened } from '../../../disclosure/opening.ts'
import type { AgentEvent } from '../../events.ts'

/**
 * Turns the events of a run into a stream for the UIs of the AI SDK, such as `useChat`. The text of sections that the
 * model opens stays on the server: the stream has a short notice instead.
 *
 * @example
 * ```ts
 * const stream = toUIMessageStream(streamAgent(bound, { adapter, session, input: 'Where is my parcel?' }))
 * const response = createUIMessageStreamResponse({ stream })
 * ```
 */
export function toUIMessageStream(events: AsyncIterable<AgentEvent>): ReadableStream<UIMessageChunk> {
  const iterator = events[Symbol.asyncIterator]()
  const chunks = toChunks(iterator)
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    // Leaving the events early cancels the run, even while the next event is awaited.
    cancel: async () => void (await iterator.return?.()),
  })
}

async function* toChunks(events: AsyncIterator<AgentEvent>): AsyncGenerator<UIMessageChunk, void, undefined> {
  const writer = createWriter()
  yield { type: 'start' }
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) yield* writer.write(next.value)
  } catch {
    // What went wrong may have details that are none of the browser's business.
    yield { type: 'error', errorText: 'The run failed.' }
  }
  yield* writer.end()
  yield { type: 'finish' }
}

type Kind = 'text' | 'reasoning'

interface Writer {
  write(event: AgentEvent): readonly UIMessageChunk[]
  end(): readonly UIMessageChunk[]
}

interface PartWriter {
  close(): UIMessageChunk[]
  say(kind: Kind, delta: string): UIMessageChunk[]
}

/** Writes texts and reasoning. A part is closed before another one begins. */
function createPartWriter(): PartWriter {
  let open: { readonly kind: Kind; readonly id: string } | undefined
  let parts = 0
  const close = (): UIMessageChunk[] => {
    if (!open) return []
    const { kind, id } = open
    open = undefined
    return [kind === 'text' ? { type: 'text-end', id } : { type: 'reasoning-end', id }]
  }
  return {
    close,
    say(kind, delta) {
      const chunks = open?.kind === kind ? [] : close()
      if (!open) {
        open = { kind, id: String((parts += 1)) }
        chunks.push(kind === 'text' ? { type: 'text-start', id: open.id } : { type: 'reasoning-start', id: open.id })
      }
      const { id } = open
      return [...chunks, kind === 'text' ? { type: 'text-delta', id, delta } : { type: 'reasoning-delta', id, delta }]
    },
  }
}

/** Writes the chunks of each event, in the order that the UIs accept. */
function createWriter(): Writer {
  const { close, say } = createPartWriter()
  let step: 'none' | 'open' | 'replied' = 'none'
  let hasText = false
  const begun = new Set<string>()
  const endStep = (): UIMessageChunk[] => {
    const chunks: UIMessageChunk[] = step === 'none' ? [] : [...close(), { type: 'finish-step' }]
    step = 'none'
    hasText = false
    return chunks
  }
  /** A step is a reply with the results of its calls. */
  const beginReply = (): UIMessageChunk[] => {
    if (step === 'open') return []
    const chunks: UIMessageChunk[] = [...endStep(), { type: 'start-step' }]
    step = 'open'
    return chunks
  }
  const beginCall = (toolCallId: string, toolName: string): UIMessageChunk[] => {
    if (begun.has(toolCallId)) return []
    begun.add(toolCallId)
    return [...close(), { type: 'tool-input-start', toolCallId, toolName, dynamic: true }]
  }
  return {
    end: endStep,
    write(event) {
      switch (event.type) {
        case 'text/delta': {
          const chunks = beginReply()
          hasText = true
          return [...chunks, ...say('text', event.text)]
        }
        case 'reasoning/delta':
          return [...beginReply(), ...say('reasoning', event.text)]
        case 'call/delta': {
          const { callId: toolCallId, name, text: inputTextDelta } = event
          return [
            ...beginReply(),
            ...beginCall(toolCallId, name),
            { type: 'tool-input-delta', toolCallId, inputTextDelta },
          ]
        }
        case 'reply/received': {
          const { text } = event.message
          const chunks = beginReply()
          // An adapter may not stream.
          if (!hasText && text !== '') chunks.push(...say('text', text))
          step = 'replied'
          return [...chunks, ...close()]
        }
        case 'reply/lost':
          hasText = false
          return close()
        case 'tool/called': {
          const { id: toolCallId, name: toolName, arguments: input = {} } = event.call
          const chunk = { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true } as const
          return [...beginCall(toolCallId, toolName), chunk]
        }
        case 'approval/asked':
          return [{ type: 'tool-approval-request', approvalId: event.digest, toolCallId: event.callId }]
        case 'tool/invoked':
          return [toOutput(event)]
        default:
          return []
      }
    },
  }
}

function toOutput(event: Extract<AgentEvent, { type: 'tool/invoked' }>): UIMessageChunk {
  const { callId: toolCallId, ok, message, disclosure } = event
  if (!ok) return { type: 'tool-output-error', toolCallId, errorText: message, dynamic: true }
  const output = disclosure ? describeForPeople(disclosure.keys) : message
  return { type: 'tool-output-available', toolCallId, output, dynamic: true }
}

/** Describes for people what a call opened, without its text. */
export function describeForPeople(keys: readonly string[]): string {
  if (keys.length === 0) return 'Nothing new was opened.'
  return describeOpened({ keys, tools: false }).replace(/\. .*$/s, '.')
}
