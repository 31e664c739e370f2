import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Entry from '../../packages/foldout/src/entries/mastra.ts'
import type { HostAgent, HostDriver, HostSetup, HostTurn } from '../../packages/foldout/src/entries/testing-suites.ts'

// The packages are installed by the tests themselves, so their types are not there to check this file.
type Loose = any // oxlint-disable-line typescript/no-explicit-any

export interface MastraPackages {
  readonly entry: typeof Entry
  readonly agent: Loose
  readonly mastra: Loose
  readonly memory: Loose
  readonly storage: Loose
  readonly tools: Loose
}

export async function loadMastra(folder: string): Promise<MastraPackages> {
  const load = (name: string): Promise<Loose> =>
    import(pathToFileURL(join(folder, `node_modules/@mastra/core/dist/${name}/index.js`)).href)
  return {
    // Loaded here, because its package may have to be installed first.
    entry: await import('../../packages/foldout/src/entries/mastra.ts'),
    agent: await load('agent'),
    mastra: await load('mastra'),
    memory: await load('memory'),
    storage: await load('storage'),
    tools: await load('tools'),
  }
}

/** A model that answers from a script. */
function createModel({ model: script }: HostSetup): Loose {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  async function doStream(request: Loose): Promise<Loose> {
    const reply = script(describeRequest(request))
    const parts: Loose[] =
      'text' in reply
        ? [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: reply.text },
            { type: 'text-end', id: 't' },
          ]
        : reply.calls.map(({ id, name, arguments: args }) => ({
            type: 'tool-call',
            toolCallId: id,
            toolName: name,
            input: JSON.stringify(args),
          }))
    const finishReason = 'text' in reply ? 'stop' : 'tool-calls'
    const all = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }]
    return {
      stream: new ReadableStream({
        start(controller) {
          for (const part of all) controller.enqueue(part)
          controller.close()
        },
      }),
    }
  }
  return {
    specificationVersion: 'v2',
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    doStream,
    doGenerate: doStream,
  }
}

function describeRequest({ prompt, tools = [] }: Loose): Parameters<HostSetup['model']>[0] {
  const results = prompt.flatMap(({ role, content }: Loose) => (role === 'tool' ? content : []))
  return {
    system: prompt
      .filter(({ role }: Loose) => role === 'system')
      .map(({ content }: Loose) => content)
      .join('\n'),
    tools: tools.map(({ name }: Loose) => name),
    inputs: prompt.filter(({ role }: Loose) => role === 'user').map(({ content }: Loose) => getText(content)),
    results: results.map(({ output }: Loose) => getText(output.value)),
    hasImage: JSON.stringify(results).includes('iVBOR'),
  }
}

function getText(value: Loose): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(getText).filter(Boolean).join('\n')
  return value?.text ?? ''
}

function clearResult(message: Loose): Loose {
  if (message.role !== 'tool') return message
  const output = { type: 'text', value: '[cleared]' }
  return { ...message, content: message.content.map((part: Loose) => ({ ...part, output })) }
}

/** Replaces everything before the last message of the user. */
function summarizeTurns(prompt: Loose, text: string): Loose {
  const last = prompt.findLastIndex(({ role }: Loose) => role === 'user')
  const system = prompt.filter(({ role }: Loose) => role === 'system')
  return [...system, { role: 'user', content: [{ type: 'text', text }] }, ...prompt.slice(last)]
}

interface Saved {
  readonly store: Loose
  readonly thread: string
  readonly runId?: string
}

/** An agent whose threads and suspended runs are in a store. */
export async function createHostAgent(
  packages: MastraPackages,
  setup: HostSetup,
  {
    lastMessages = 100,
    isBare = false,
    isClearing = true,
  }: { readonly lastMessages?: number; readonly isBare?: boolean; readonly isClearing?: boolean } = {},
): Promise<HostAgent> {
  const { entry, agent: agents, mastra, memory: memories, storage, tools } = packages
  const saved = setup.saved as Saved | undefined
  const store = saved?.store ?? new storage.InMemoryStore()
  const memory = new memories.MockMemory({ storage: store, options: { lastMessages } })
  const lookUp = tools.createTool({
    id: 'look_up',
    description: 'Looks something up.',
    inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
    execute: async ({ what }: Loose) => `Found ${what}.`,
  })
  let isCleared = false
  let summary: string | undefined
  // As `ToolCallFilter` does, for the request only.
  const clearing = {
    id: 'clearing',
    processLLMRequest: ({ prompt }: Loose) => {
      if (summary !== undefined) return { prompt: summarizeTurns(prompt, summary) }
      return { prompt: isCleared ? prompt.map(clearResult) : prompt }
    },
  }
  const agent = new agents.Agent({
    id: 'desk',
    name: 'Desk',
    instructions: 'You are kind.',
    model: createModel(setup),
    memory,
    tools: { look_up: lookUp },
    inputProcessors: [
      ...(isClearing ? [clearing] : []),
      ...(isBare ? [] : [new entry.FoldoutProcessor(setup.bound, setup.options)]),
    ],
  })
  // Gives the agent its storage.
  void new mastra.Mastra({ agents: { desk: agent }, storage: store, logger: false })
  let runId = saved?.runId
  const thread = saved?.runId === undefined ? crypto.randomUUID() : saved.thread
  // A conversation that does not wait goes on in a copy, so that a test can branch it.
  if (saved && thread !== saved.thread) await memory.cloneThread({ sourceThreadId: saved.thread, newThreadId: thread })
  const options = { memory: { thread, resource: 'ada' }, maxSteps: 20 }
  async function end(stream: Loose): Promise<HostTurn> {
    let isWaiting = false
    for await (const chunk of stream.fullStream) if (chunk.type === 'tool-call-approval') isWaiting = true
    runId = isWaiting ? stream.runId : undefined
    return { text: isWaiting ? '' : await stream.text, isWaiting }
  }
  return {
    async send(text, { isStreamed = true } = {}) {
      if (isStreamed) return end(await agent.stream(text, options))
      const result = await agent.generate(text, options)
      return { text: result.text, isWaiting: false }
    },
    async answer(isApproved) {
      const answered = isApproved ? agent.approveToolCall({ runId }) : agent.declineToolCall({ runId })
      return end(await answered)
    },
    clearResults() {
      isCleared = true
    },
    summarize(text) {
      summary = text
    },
    save: (): Saved => ({ store, thread, ...(runId !== undefined && { runId }) }),
  }
}

/** What the host does not allow, with the reason. */
export const skips: NonNullable<HostDriver['skips']> = {
  scripts:
    'nothing is kept of what a person is asked, so another process cannot know what was approved, and asks again',
}
