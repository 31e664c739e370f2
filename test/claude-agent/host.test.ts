import { afterAll, expect, onTestFinished } from 'vitest'
import { queryClaude } from '../../packages/foldout/src/entries/claude-agent.ts'
import { createSession } from '../../packages/foldout/src/entries/index.ts'
import {
  hostSuite,
  type HostAgent,
  type HostSetup,
  type SeenRequest,
} from '../../packages/foldout/src/entries/testing-suites.ts'
import { importSdk, installSdk, runningExecutables, startProvider, type WireRequest } from './harness.ts'

installSdk()
const sdk = await importSdk()
afterAll(() => expect(runningExecutables()).toEqual([]))

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: string | readonly Block[]
}

/** The executable sorts its list, so tools are listed here as they first appear. */
function describeRequest({ system, tools = [], messages }: WireRequest, order: string[]): SeenRequest {
  const names = new Set(tools.map(({ name }) => name))
  for (const name of names) if (!order.includes(name)) order.push(name)
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly Block[]) : []))
  const results = blocks.filter(({ type }) => type === 'tool_result')
  return {
    system: system.at(-1)?.text ?? '',
    tools: order.filter((name) => names.has(name)),
    results: results.map(({ content = '' }) => {
      const text = typeof content === 'string' ? content : content.flatMap((part) => part.text ?? []).join('\n')
      // The executable says what is left of its budget.
      return text.replaceAll(/\s*<system-reminder>.*?<\/system-reminder>/gs, '')
    }),
    hasImage: JSON.stringify(results).includes('"type":"image"'),
  }
}

async function createHostAgent({ bound, options, model }: HostSetup): Promise<HostAgent> {
  const provider = await startProvider()
  onTestFinished(() => provider.stop())
  const order = ['look', 'unlock', 'show', 'read_section']
  provider.mock.on({}, () => {
    const request = provider.requests.at(-1)
    const reply = model(describeRequest(request as WireRequest, order))
    if ('text' in reply) return { content: reply.text }
    return {
      toolCalls: reply.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: JSON.stringify(args) })),
    }
  })
  const session = createSession()
  let resume: string | undefined
  return {
    async send(prompt) {
      const query = queryClaude(bound, {
        ...options,
        prompt,
        session,
        sdk,
        options: {
          model: 'claude-sonnet-4-5',
          env: provider.env,
          cwd: provider.home,
          settingSources: [],
          tools: [],
          strictMcpConfig: true,
          ...(resume !== undefined && { resume }),
        },
      })
      let text = ''
      for await (const message of query) {
        const { type, result, session_id: id } = message as { type: string; result?: string; session_id?: string }
        if (type === 'result') text = result ?? ''
        resume = id ?? resume
      }
      return { text, isWaiting: false }
    },
  }
}

hostSuite('Claude Agent SDK 0.3', {
  ownTools: [],
  skips: {
    approval: 'canUseTool answers in the same process',
    branch: 'a transcript is a file of the executable',
    clearing: 'the executable compacts by itself, and a hook says again what is open',
    hints: 'the executable answers calls of tools that are not listed',
    order: 'the executable sorts the list by name',
    'own tools': 'the executable runs them',
    restart: 'a transcript is a file of the executable',
    'system text': 'the system text of a query is fixed, so opened text is read in results',
  },
  create: createHostAgent,
})
