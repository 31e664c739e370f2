import { defineTool, type AnyTool } from '../../tools/tool.ts'
import { ok } from '../../tools/result.ts'
import type { Evaluation, Message, ModelEvent, ToolCall, TurnOutcome } from '../contract.ts'

export function tool(name: string): AnyTool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    params: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Where.' } },
      required: ['city'],
      additionalProperties: false,
    },
    execute: () => ok('done'),
  })
}

/** Creates successful results for calls. */
export function results(calls: readonly ToolCall[], text = 'sunny'): TurnOutcome & { readonly type: 'continue' } {
  return {
    type: 'continue',
    results: calls.map(({ id, name }) => ({ role: 'tool', callId: id, name, text, isError: false })),
    added: [],
  }
}

export interface Conversation extends Evaluation {
  readonly events: ModelEvent[]
  readonly recorded: Message[]
  readonly calls: (readonly ToolCall[])[]
}

export function conversation(options: Partial<Evaluation> = {}): Conversation {
  const events: ModelEvent[] = []
  const recorded: Message[] = []
  const calls: (readonly ToolCall[])[] = []
  return {
    system: 'You tell the weather.',
    tools: [],
    addedTools: new Map(),
    messages: [{ role: 'user', text: 'Hello' }],
    output: undefined,
    signal: new AbortController().signal,
    beforeRequest: async () => undefined,
    record: async (message) => void recorded.push(message),
    emit: (event) => void events.push(event),
    ...options,
    callTools: async (called) => {
      calls.push(called)
      return options.callTools ? options.callTools(called) : results(called)
    },
    events,
    recorded,
    calls,
  }
}

export function shownText(events: readonly ModelEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'text/delta' ? [event.text] : []))
}

export function warnings(events: readonly ModelEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
}
