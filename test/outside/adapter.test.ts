import { describe } from 'vitest'
import {
  AdapterError,
  NO_USAGE,
  addUsage,
  chatAdapter,
  withRetries,
  type AssistantMessage,
  type ChatReply,
  type ChatRequest,
  type Evaluation,
  type Message,
  type ModelEvent,
  type ProviderAdapter,
  type ToolCall,
} from 'foldout/adapter'
import { adapterSuite, type AdapterSuiteOptions } from 'foldout/testing/suites'
import { createAcme, type Acme, type AcmeCall, type AcmeLine, type AcmeRequest, type ReceivedRequest } from './acme.ts'

// Adapters as a third party would write them, with public exports only.

function toRequest(request: Pick<ChatRequest, 'system' | 'tools' | 'addedTools' | 'messages' | 'output'>): AcmeRequest {
  const toTool = ({ name, description, inputSchema }: ChatRequest['tools'][number]) => ({
    name,
    description,
    schema: inputSchema,
  })
  const toLine = (message: Message): AcmeLine => {
    switch (message.role) {
      case 'user':
        return { role: 'user', text: message.text }
      case 'assistant':
        return { role: 'assistant', text: message.text, calls: message.toolCalls.map(toCall) }
      case 'tool':
        return { role: 'result', id: message.callId, text: message.text }
      default: {
        const added = message.names.flatMap((name) => request.addedTools.get(name) ?? [])
        return { role: 'tools', tools: added.map(toTool) }
      }
    }
  }
  return {
    system: request.system,
    tools: request.tools.map(toTool),
    ...(request.output === undefined ? {} : { schema: request.output.jsonSchema }),
    lines: request.messages.map(toLine),
  }
}

const toCall = ({ id, name, arguments: args, malformed }: ToolCall): AcmeCall => ({
  id,
  name,
  arguments: malformed ?? JSON.stringify(args),
})

function readCall({ id, name, arguments: text }: AcmeCall): ToolCall {
  try {
    return { id, name, arguments: JSON.parse(text) as unknown }
  } catch {
    return { id, name, arguments: undefined, malformed: text }
  }
}

async function ask(
  acme: Acme,
  request: AcmeRequest,
  options: { readonly signal: AbortSignal; emit(this: void, event: ModelEvent): void },
): Promise<ChatReply> {
  return withRetries(
    async (emit, signal) => {
      let text = ''
      const toolCalls: ToolCall[] = []
      for await (const event of acme.stream(request, signal)) {
        if (event.type === 'call') toolCalls.push(readCall(event.call))
        if (event.type === 'text') {
          text += event.text
          emit({ type: 'text/delta', text: event.text })
        }
        if (event.type === 'end') {
          const message: AssistantMessage = { role: 'assistant', text, toolCalls }
          return { message, usage: { ...NO_USAGE, ...event.usage } }
        }
      }
      throw new AdapterError('adapter-stream-cut', 'The reply has no end.', { adapter: 'acme' })
    },
    { adapter: 'acme', ...options },
  )
}

/** On `chatAdapter`, which runs the loop, so that only a single request is left to write. */
function createChatAdapter(acme: Acme): ProviderAdapter {
  return chatAdapter({
    name: 'acme',
    model: 'acme-1',
    complete: (request) =>
      ask(acme, toRequest(request), { signal: request.signal, emit: (event) => request.emit(event) }),
  })
}

/** An adapter with its own loop, on the contract alone. */
function createBareAdapter(acme: Acme): ProviderAdapter {
  return {
    name: 'acme',
    model: 'acme-1',
    supportsDynamicTools: true,
    async evaluate(evaluation: Evaluation) {
      const messages = [...evaluation.messages]
      const addedTools = new Map(evaluation.addedTools)
      const emit = (event: ModelEvent): void => evaluation.emit(event)
      const keep = async (message: Message): Promise<void> => {
        messages.push(message)
        await evaluation.record(message)
      }
      let usage = NO_USAGE
      for (;;) {
        await evaluation.beforeRequest()
        const tools = [...evaluation.tools.map(({ name }) => name), ...addedTools.keys()]
        emit({ type: 'request/sent', messages: messages.length, tools })
        const request = toRequest({ ...evaluation, addedTools, messages })
        const reply = await ask(acme, request, { signal: evaluation.signal, emit })
        usage = addUsage(usage, reply.usage)
        emit({ type: 'reply/received', ...reply })
        await keep(reply.message)
        if (reply.message.toolCalls.length === 0) return { type: 'final', text: reply.message.text, usage }
        const outcome = await evaluation.callTools(reply.message.toolCalls)
        for (const result of outcome.results) await keep(result)
        if (outcome.type === 'halt') return { type: 'halted', usage }
        if (outcome.added.length === 0) continue
        for (const tool of outcome.added) addedTools.set(tool.name, tool)
        await keep({ role: 'tools', names: outcome.added.map(({ name }) => name) })
      }
    },
  }
}

function createOptions(create: (acme: Acme) => ProviderAdapter): AdapterSuiteOptions<ReceivedRequest> {
  return {
    supportsDynamicTools: true,
    skips: { 'call deltas': 'the interface sends every call as a whole' },
    create({ script }) {
      const acme = createAcme(script)
      return Promise.resolve({
        adapter: create(acme),
        requests: () => acme.requests,
        isGivenUp: ({ isGivenUp }) => isGivenUp,
        stop: () => Promise.resolve(),
      })
    },
    getTools: ({ tools, lines }) =>
      [...tools, ...lines.flatMap((line) => (line.role === 'tools' ? line.tools : []))].map(({ name }) => name),
    getResults: ({ lines }) => lines.flatMap((line) => (line.role === 'result' ? [line.text] : [])),
    getPrefixes: ({ system, tools, lines }) => [
      [system, ...tools, ...lines].map((part) => JSON.stringify(part)).join('\n'),
    ],
    getOutputSchema: ({ schema }) => schema,
  }
}

describe.concurrent('at once', () => {
  adapterSuite('an adapter on chatAdapter', createOptions(createChatAdapter))
  adapterSuite('an adapter on the contract', createOptions(createBareAdapter))
})
