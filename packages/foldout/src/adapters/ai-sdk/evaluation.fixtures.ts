import type { OutputSpec } from '../../prompt/definition/output.ts'
import { createSession } from '../../session/session.ts'
import { executeTool } from '../../tools/execute.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { EvaluationResult, Message, ModelEvent, ProviderAdapter, ToolCall, ToolMessage } from '../contract.ts'

export interface EvaluationFixture {
  readonly result: EvaluationResult
  readonly messages: readonly Message[]
  readonly events: readonly ModelEvent[]
  readonly calls: readonly ToolCall[]
}

/** Evaluates with tools that run as in a real run. */
export async function evaluate(
  adapter: ProviderAdapter,
  options: {
    readonly system?: string
    readonly tools?: readonly AnyTool[]
    readonly messages?: readonly Message[]
    /** Tools to add when a tool is first called, by the name of that tool. */
    readonly adds?: Readonly<Record<string, readonly AnyTool[]>>
    readonly output?: OutputSpec<unknown>
    readonly signal?: AbortSignal
    readonly onEvent?: (event: ModelEvent) => void
  } = {},
): Promise<EvaluationFixture> {
  const { tools = [], adds = {}, signal = new AbortController().signal } = options
  const known = new Map([...tools, ...Object.values(adds).flat()].map((tool) => [tool.name, tool]))
  const messages: Message[] = [...(options.messages ?? [{ role: 'user', text: 'Hello' }])]
  const events: ModelEvent[] = []
  const calls: ToolCall[] = []
  const session = createSession()
  const execute = async (call: ToolCall): Promise<{ readonly ok: boolean; readonly message: string }> => {
    if (call.malformed !== undefined) return { ok: false, message: `No JSON: ${call.malformed}` }
    const tool = known.get(call.name)
    if (tool === undefined) return { ok: false, message: `There is no tool '${call.name}'.` }
    const context = { session, signal, deadline: undefined, filesystem: undefined, prompt: undefined }
    return executeTool(tool, call.arguments, context)
  }
  const run = async (call: ToolCall): Promise<ToolMessage> => {
    const { ok, message: text } = await execute(call)
    return { role: 'tool', callId: call.id, name: call.name, text, isError: !ok }
  }
  const result = await adapter.evaluate({
    system: options.system ?? 'System.',
    tools,
    addedTools: new Map(),
    messages: [...messages],
    output: options.output,
    signal,
    beforeRequest: async () => {},
    async callTools(turn) {
      calls.push(...turn)
      const results = await Promise.all(turn.map(run))
      return { type: 'continue', results, added: turn.flatMap(({ name }) => adds[name] ?? []) }
    },
    record: async (message) => void messages.push(message),
    emit(event) {
      events.push(event)
      options.onEvent?.(event)
    },
  })
  return { result, messages, events, calls }
}
