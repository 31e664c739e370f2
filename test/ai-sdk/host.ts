import type * as Ai from 'ai'
import { createDisclosure } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { createSession } from '../../packages/foldout/src/entries/index.ts'
import type { Snapshot } from '../../packages/foldout/src/entries/session.ts'
import type {
  HostAgent,
  HostSetup,
  HostTurn,
  ScriptedReply,
} from '../../packages/foldout/src/entries/testing-suites.ts'

type Model = Extract<Exclude<Ai.LanguageModel, string>, { readonly specificationVersion: 'v3' }>
type Options = Parameters<Model['doGenerate']>[0]

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}

/** A model that answers from a script, for the interface of version 6, which version 7 accepts. */
export function createModel({ model: script }: Pick<HostSetup, 'model'>): Model {
  const getContent = (reply: ScriptedReply) =>
    'text' in reply
      ? [{ type: 'text', text: reply.text }]
      : reply.calls.map(({ id, name, arguments: args }) => ({
          type: 'tool-call',
          toolCallId: id,
          toolName: name,
          input: JSON.stringify(args),
        }))
  const getReason = (reply: ScriptedReply) =>
    'text' in reply ? { unified: 'stop', raw: 'stop' } : { unified: 'tool-calls', raw: 'tool-calls' }
  const model = {
    specificationVersion: 'v3',
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate(options: Options) {
      const reply = script(describeRequest(options))
      return { content: getContent(reply), finishReason: getReason(reply), usage, warnings: [] }
    },
    async doStream(options: Options) {
      const reply = script(describeRequest(options))
      const content =
        'text' in reply
          ? [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: reply.text },
              { type: 'text-end', id: '1' },
            ]
          : getContent(reply)
      const parts = [{ type: 'stream-start', warnings: [] }, ...content]
      const stream = ReadableStream.from([...parts, { type: 'finish', finishReason: getReason(reply), usage }])
      return { stream }
    },
  }
  return model as unknown as Model
}

function describeRequest({ prompt, tools = [] }: Options): Parameters<HostSetup['model']>[0] {
  const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
  const texts = results.flatMap((part) => ('output' in part ? [getText(part.output)] : []))
  return {
    system: prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n'),
    tools: tools.map(({ name }) => name),
    inputs: prompt.flatMap(({ role, content }) =>
      role === 'user' ? [content.map((part) => ('text' in part ? part.text : '')).join('\n')] : [],
    ),
    results: texts,
    hasImage: JSON.stringify(results).includes('iVBOR'),
  }
}

function getText(output: { readonly type: string; readonly value?: unknown; readonly reason?: string }): string {
  // As a provider would send it.
  const value: unknown = output.type === 'error-json' ? JSON.parse(JSON.stringify(output.value)) : output.value
  if (typeof value === 'string') return value
  if (!Array.isArray(output.value)) return output.reason ?? 'Tool execution denied.'
  return (output.value as readonly { readonly text?: string }[]).flatMap(({ text }) => text ?? []).join('\n')
}

interface Saved {
  readonly snapshot: Snapshot
  readonly messages: Ai.ModelMessage[]
}

export type AiPackage = typeof Ai

/** The SDK's own loop, with the session and the messages kept by the program. */
export function createHostAgent(
  ai: AiPackage,
  setup: HostSetup,
  { isBare = false }: { readonly isBare?: boolean } = {},
): HostAgent {
  const saved = setup.saved as Saved | undefined
  const session = createSession(saved ? { snapshot: saved.snapshot } : {})
  let messages: Ai.ModelMessage[] = saved?.messages ?? []
  const model = createModel(setup)
  const lookUp = ai.tool({
    description: 'Looks something up.',
    inputSchema: ai.jsonSchema<{ what: string }>({ type: 'object', properties: { what: { type: 'string' } } }),
    execute: ({ what }) => `Found ${what}.`,
  })
  async function go(isStreamed = false): Promise<HostTurn> {
    const { bound: prompt, options } = setup
    const tools = { look_up: lookUp }
    const disclosure = isBare ? { tools } : await createDisclosure({ ...options, prompt, session, tools, messages })
    const settings = { model, ...disclosure, messages, stopWhen: ai.stepCountIs(20) }
    const result = isStreamed ? ai.streamText(settings) : await ai.generateText(settings)
    const [text, content, response] = [await result.text, await result.content, await result.response]
    // Version 7 has the messages of all steps elsewhere.
    const { responseMessages = Promise.resolve(response.messages) } = result as {
      readonly responseMessages?: PromiseLike<Ai.ModelMessage[]>
    }
    // As a program that stores them.
    messages = JSON.parse(JSON.stringify([...messages, ...(await responseMessages)])) as Ai.ModelMessage[]
    return { text, isWaiting: content.some(({ type }) => type === 'tool-approval-request') }
  }
  return {
    send(text, { isStreamed = false } = {}) {
      messages = [...messages, { role: 'user', content: text }]
      return go(isStreamed)
    },
    answer(approved) {
      const list = (type: string): readonly string[] =>
        messages.flatMap(({ content }) =>
          typeof content === 'string'
            ? []
            : content.flatMap((part) => (part.type === type && 'approvalId' in part ? [part.approvalId] : [])),
        )
      const answered = list('tool-approval-response')
      const asked = list('tool-approval-request').filter((id) => !answered.includes(id))
      const content = asked.map((approvalId) => ({ type: 'tool-approval-response' as const, approvalId, approved }))
      messages = [...messages, { role: 'tool', content }]
      return go()
    },
    save: () => JSON.parse(JSON.stringify({ snapshot: session.snapshot(), messages })) as Saved,
    clearResults() {
      messages = messages.map((message) => {
        if (message.role !== 'tool') return message
        const output = { type: 'text' as const, value: '[cleared]' }
        return { ...message, content: message.content.map((part) => ('output' in part ? { ...part, output } : part)) }
      })
    },
    summarize(content) {
      messages = [{ role: 'user', content }]
    },
  }
}
