import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Entry from '../../packages/foldout/src/entries/openai-agents.ts'
import type { HostAgent, HostSetup, HostTurn } from '../../packages/foldout/src/entries/testing-suites.ts'

// The packages are installed by the tests themselves, so their types are not there to check this file.
type Loose = any // oxlint-disable-line typescript/no-explicit-any

export interface OpenAiAgents {
  readonly entry: typeof Entry
  readonly sdk: Loose
}

export async function loadOpenAiAgents(folder: string): Promise<OpenAiAgents> {
  const path = join(folder, 'node_modules/@openai/agents/dist/index.mjs')
  const sdk: Loose = await import(pathToFileURL(path).href)
  sdk.setTracingDisabled(true)
  // Loaded here, because its package may have to be installed first.
  return { entry: await import('../../packages/foldout/src/entries/openai-agents.ts'), sdk }
}

/** A model that answers from a script. */
function createModel({ sdk }: OpenAiAgents, { model: script }: HostSetup): Loose {
  async function getResponse(request: Loose): Promise<Loose> {
    const reply = script(describeRequest(request))
    const text = 'text' in reply ? reply.text : undefined
    const calls = 'text' in reply ? [] : reply.calls
    const usage = new sdk.Usage({ inputTokens: 10, outputTokens: 5, totalTokens: 15 })
    return {
      usage,
      responseId: crypto.randomUUID(),
      output: [
        ...(text === undefined
          ? []
          : [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }]),
        ...calls.map(({ id, name, arguments: args }) => ({
          type: 'function_call',
          callId: id,
          name,
          status: 'completed',
          arguments: JSON.stringify(args),
        })),
      ],
    }
  }
  return {
    getResponse,
    async *getStreamedResponse(request: Loose) {
      const response = await getResponse(request)
      const { inputTokens, outputTokens, totalTokens } = response.usage
      yield {
        type: 'response_done',
        response: { id: 'r', usage: { inputTokens, outputTokens, totalTokens }, output: response.output },
      }
    },
  }
}

function describeRequest({ systemInstructions, tools, input }: Loose): Parameters<HostSetup['model']>[0] {
  const results = (Array.isArray(input) ? input : []).filter(({ type }: Loose) => type === 'function_call_result')
  return {
    system: systemInstructions ?? '',
    tools: tools.map(({ name }: Loose) => name),
    inputs: (Array.isArray(input) ? input : []).flatMap(({ role, content }: Loose) =>
      role === 'user' ? [getText(content)] : [],
    ),
    results: results.map(({ output }: Loose) => getText(output)),
    hasImage: JSON.stringify(results).includes('data:image/png;base64,iVBOR'),
  }
}

function getText(output: Loose): string {
  if (typeof output === 'string') return output
  if (Array.isArray(output)) return output.map(getText).filter(Boolean).join('\n')
  return output.text ?? ''
}

/**
 * An agent whose conversation and context are kept by the program, as plain JSON.
 *
 * @param isBare Whether the agent has no prompt, to compare it with.
 */
export function createHostAgent(
  packages: OpenAiAgents,
  setup: HostSetup,
  { isBare = false }: { readonly isBare?: boolean } = {},
): HostAgent {
  const { entry, sdk } = packages
  const lookUp = sdk.tool({
    name: 'look_up',
    description: 'Looks something up.',
    parameters: { type: 'object', properties: { what: { type: 'string' } }, required: [], additionalProperties: true },
    strict: false,
    execute: ({ what }: Loose) => `Found ${what}.`,
  })
  const options: Loose = {
    name: 'desk',
    instructions: 'You are kind.',
    model: createModel(packages, setup),
    tools: [lookUp],
    foldout: setup.options,
  }
  const agent = isBare ? new sdk.Agent(options) : entry.foldedAgent(setup.bound, options)
  const runOptions = isBare ? {} : entry.runOptions(agent)
  let { context, history, state } = structuredClone((setup.saved ?? { context: {}, history: [] }) as Loose)
  async function go(input: Loose, isStreamed = false): Promise<HostTurn> {
    const result = await sdk.run(agent, input, { ...runOptions, context, stream: isStreamed })
    if (isStreamed) await result.completed
    state = result.interruptions.length > 0 ? result.state.toString() : undefined
    history = result.history
    return { text: result.finalOutput ?? '', isWaiting: result.interruptions.length > 0 }
  }
  return {
    send: (text, { isStreamed = false } = {}) => go([...history, { role: 'user', content: text }], isStreamed),
    async answer(isApproved) {
      const restored = await sdk.RunState.fromString(agent, state)
      for (const item of restored.getInterruptions()) {
        if (isApproved) restored.approve(item)
        else restored.reject(item)
      }
      const result = await sdk.run(agent, restored, runOptions)
      history = result.history
      context = JSON.parse(restored.toString()).context.context
      return { text: result.finalOutput ?? '', isWaiting: result.interruptions.length > 0 }
    },
    save: () => JSON.parse(JSON.stringify({ context, history, state })) as unknown,
    clearResults() {
      history = history.map((item: Loose) =>
        item.type === 'function_call_result' ? { ...item, output: '[cleared]' } : item,
      )
    },
    summarize(content) {
      history = [{ role: 'user', content }]
    },
  }
}
