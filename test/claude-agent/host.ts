import { queryClaude, type ClaudeAgentSdk } from '../../packages/foldout/src/entries/claude-agent.ts'
import { createSession } from '../../packages/foldout/src/entries/index.ts'
import type {
  HostAgent,
  HostDriver,
  HostSetup,
  SeenRequest,
} from '../../packages/foldout/src/entries/testing-suites.ts'
import { startProvider, type WireRequest } from './harness.ts'

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
    inputs: messages.flatMap(({ role, content }) => (role === 'user' ? getTexts(content) : [])),
    results: results.map(({ content = '' }) => {
      const text = typeof content === 'string' ? content : content.flatMap((part) => part.text ?? []).join('\n')
      // The executable says what is left of its budget.
      return text.replaceAll(/\s*<system-reminder>.*?<\/system-reminder>/gs, '')
    }),
    hasImage: JSON.stringify(results).includes('"type":"image"'),
  }
}

/** The executable adds reminders of its own. */
function getTexts(content: unknown): readonly string[] {
  const texts = typeof content === 'string' ? [content] : (content as readonly Block[]).flatMap(({ text = '' }) => text)
  return texts.filter((text) => text !== '' && !text.startsWith('<system-reminder>'))
}

interface HostAgentOptions {
  /** Takes what ends the provider. */
  onEnd(end: () => Promise<void>): void
  /** Whether the query has no prompt, to compare it with. */
  readonly isBare?: boolean
  /** Whether tools are listed as they were sent. */
  readonly isAsSent?: boolean
}

/** An agent on the executable of an SDK, with a provider that answers from a script. */
export async function createHostAgent(
  sdk: ClaudeAgentSdk,
  { bound, options, model }: HostSetup,
  { onEnd, isBare = false, isAsSent = false }: HostAgentOptions,
): Promise<HostAgent> {
  const provider = await startProvider()
  onEnd(() => provider.stop())
  const order = ['look', 'unlock', 'lock', 'show', 'read_section']
  provider.mock.on({}, () => {
    const request = provider.requests.at(-1) as WireRequest
    const sent = isAsSent ? (request.tools ?? []).map(({ name }) => name) : order
    const reply = model(describeRequest(request, sent))
    if ('text' in reply) return { content: reply.text }
    return {
      toolCalls: reply.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: JSON.stringify(args) })),
    }
  })
  const session = createSession()
  let resume: string | undefined
  return {
    async send(prompt) {
      const settings = {
        model: 'claude-sonnet-4-5',
        env: provider.env,
        cwd: provider.home,
        settingSources: [],
        tools: [],
        strictMcpConfig: true,
        ...(resume !== undefined && { resume }),
      }
      const query = isBare
        ? iterate(sdk.query({ prompt, options: settings }))
        : queryClaude(bound, { ...options, prompt, session, sdk, options: settings })
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

async function* iterate(query: ReturnType<ClaudeAgentSdk['query']>): AsyncGenerator<object, void, undefined> {
  for (let next = await query.next(); !next.done; next = await query.next()) yield next.value
}

/** What the executable does not allow, with the reason. */
export const skips: NonNullable<HostDriver['skips']> = {
  approval: 'canUseTool answers in the same process',
  branch: 'a transcript is a file of the executable',
  clearing: 'the executable compacts by itself, and a hook says again what is open',
  folding: 'the executable keeps tools that its server no longer lists',
  hints: 'the executable answers calls of tools that are not listed',
  order: 'the executable sorts the list by name',
  'own tools': 'the executable runs them',
  restart: 'a transcript is a file of the executable',
  summarizing: 'the executable compacts by itself, and a hook says again what is open',
  'system text': 'the system text of a query is fixed, so opened text is read in results',
}
