import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Entry from '../../packages/foldout/src/entries/langchain.ts'
import type { HostAgent, HostSetup, HostTurn } from '../../packages/foldout/src/entries/testing-suites.ts'

// The packages are installed by the tests themselves, so their types are not there to check this file.
type Loose = any // oxlint-disable-line typescript/no-explicit-any

export interface LangChain {
  readonly entry: typeof Entry
  readonly langchain: Loose
  readonly langgraph: Loose
  readonly messages: Loose
  readonly models: Loose
}

export async function loadLangChain(folder: string): Promise<LangChain> {
  const load = (path: string): Promise<Loose> => import(pathToFileURL(join(folder, 'node_modules', path)).href)
  return {
    // Loaded here, because its packages may have to be installed first.
    entry: await import('../../packages/foldout/src/entries/langchain.ts'),
    langchain: await load('langchain/dist/index.js'),
    langgraph: await load('@langchain/langgraph/dist/index.js'),
    messages: await load('@langchain/core/dist/messages/index.js'),
    models: await load('@langchain/core/dist/language_models/chat_models.js'),
  }
}

/** A chat model that answers from a script. */
export function createModel({ messages, models }: LangChain, { model: script }: Pick<HostSetup, 'model'>): Loose {
  return new (class ScriptedChat extends models.BaseChatModel {
    offered: readonly Loose[] = []
    constructor() {
      super({})
    }
    _llmType(): string {
      return 'scripted'
    }
    bindTools(tools: readonly Loose[]): Loose {
      const bound = Object.create(this)
      bound.offered = tools
      return bound
    }
    async _generate(sent: readonly Loose[]): Promise<Loose> {
      const reply = script(describeRequest(sent, this.offered))
      const message = new messages.AIMessage(
        'text' in reply
          ? { content: reply.text, usage_metadata: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } }
          : { content: '', tool_calls: reply.calls.map(({ id, name, arguments: args }) => ({ id, name, args })) },
      )
      return { generations: [{ text: message.text, message }] }
    }
  })()
}

function describeRequest(sent: readonly Loose[], tools: readonly Loose[]): Parameters<HostSetup['model']>[0] {
  const results = sent.filter((message) => message.getType() === 'tool')
  return {
    system: sent
      .filter((message) => message.getType() === 'system')
      .map(({ text }) => text)
      .join('\n'),
    tools: tools.map(({ name }) => name),
    inputs: sent.filter((message) => message.getType() === 'human').map(({ text }) => text),
    results: results.map(({ text }) => text),
    hasImage: JSON.stringify(results.map(({ content }) => content)).includes('data:image/png;base64,iVBOR'),
  }
}

/** A tool of the host itself. */
export function createLookUp({ langchain }: LangChain): Loose {
  return langchain.tool(({ what }: { what: string }) => `Found ${what}.`, {
    name: 'look_up',
    description: 'Looks something up.',
    schema: { type: 'object', properties: { what: { type: 'string' } } },
  })
}

export type CreateAgent = (options: Loose, middleware: Loose) => Loose

/** An agent on a thread whose state is in a checkpointer. */
export function createHostAgent(packages: LangChain, setup: HostSetup, make?: CreateAgent): HostAgent {
  const { langchain, langgraph, messages } = packages
  const checkpointer = new langgraph.MemorySaver()
  // The checkpointer holds bytes, as a database would.
  Object.assign(checkpointer, structuredClone(setup.saved ?? {}))
  const model = createModel(packages, setup)
  const lookUp = createLookUp(packages)
  const middleware = packages.entry.foldoutMiddleware(setup.bound, setup.options)
  const create = make ?? ((options, own) => langchain.createAgent({ ...options, middleware: [own] }))
  const agent = create({ model, tools: [lookUp], checkpointer, systemPrompt: 'You are kind.' }, middleware)
  const config = { configurable: { thread_id: 'one' }, recursionLimit: 100 }
  const toTurn = (state: Loose): HostTurn => {
    const isWaiting = (state['__interrupt__'] ?? []).length > 0
    return { text: isWaiting ? '' : state.messages.at(-1).text, isWaiting }
  }
  async function stream(input: Loose): Promise<Loose> {
    let last: Loose
    for await (const state of await agent.stream(input, { ...config, streamMode: 'values' })) last = state
    return last
  }
  return {
    async send(text, { isStreamed = false } = {}) {
      const input = { messages: [new messages.HumanMessage(text)] }
      return toTurn(isStreamed ? await stream(input) : await agent.invoke(input, config))
    },
    async answer(isApproved) {
      const decisions = [{ type: isApproved ? 'approve' : 'reject' }]
      return toTurn(await agent.invoke(new langgraph.Command({ resume: { decisions } }), config))
    },
    save: () => ({ storage: checkpointer.storage, writes: checkpointer.writes }),
    async clearResults() {
      const { values } = await agent.graph.getState(config)
      const results = values.messages.filter((message: Loose) => message.getType() === 'tool')
      const cleared = results.map(
        ({ id, name, tool_call_id }: Loose) =>
          new messages.ToolMessage({ id, name, tool_call_id, content: '[cleared]' }),
      )
      await agent.graph.updateState(config, { messages: cleared })
    },
    async summarize(text) {
      const all = new messages.RemoveMessage({ id: langgraph.REMOVE_ALL_MESSAGES })
      await agent.graph.updateState(config, { messages: [all, new messages.HumanMessage(text)] })
    },
  }
}
