// Names that `@example` blocks use but do not declare. `examples-<entry>.ts` has those of one entry, and takes precedence.
// Names that are only declared belong to examples that are compiled but not run.
export { readFile, writeFile } from 'node:fs/promises'
import { PassThrough, type Duplex } from 'node:stream'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import {
  createMemoryStore,
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  fail,
  ok,
  readSection,
  runAgent,
  type AnyTool,
  type RenderedPrompt,
  type ToolContext,
} from 'foldout'
import { chatAdapter, type ProviderAdapter } from 'foldout/adapter'
import { createCatalog, type Catalog, type Embed, type RawTool } from 'foldout/catalog'
import type { DisclosureView } from 'foldout/disclosure'
import { serveMcp, type McpClient, type ServedMcp } from 'foldout/mcp'
import type { SessionStore } from 'foldout/session'
import { createRecorder, type Recording } from 'foldout/telemetry'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import * as zod from 'zod'

export const z = zod
export const myModel: { readonly embed: Embed } = { embed: async (texts) => texts.map(() => [1, 0]) }
export const role = defineSection({ key: 'role', title: 'Role', template: 'You help customers.' })
export const refund = defineTool({ name: 'refund_order', description: 'Refunds an order.', execute: () => ok('Done.') })
export const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund within 30 days.',
  summary: 'How to refund.',
  visibility: 'summary',
  tools: [refund],
})
export const guide = defineSection({
  key: 'guide',
  title: 'Guide',
  template: 'Answer in one sentence. '.repeat(40),
  summary: 'How to answer.',
  visibility: 'summary',
})
export const manual = defineSection({
  key: 'manual',
  title: 'Manual',
  template: 'Press the button.',
  summary: 'How the lamp works.',
  visibility: 'summary',
})
export const sections = [role]
export const approvedDigests = new Set<string>()
export const look = defineTool({ name: 'look', description: 'Looks around.', execute: () => ok('There is a lamp.') })
const tasks = defineSection({ key: 'tasks', title: 'Tasks', template: 'Find the lamp.', tools: [look] })
export const prompt = definePrompt({ ns: 'support', key: 'agent', sections: [role, refunds, guide, tasks] })
export const values = {}
export const bound = prompt.bind(values)
export const rendered: RenderedPrompt = bound.render()
export const cart = defineSlice({
  name: 'cart',
  initial: { items: [] as readonly string[] },
  reducers: { added: (state, item: string) => ({ items: [...state.items, item] }) },
})
export const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  params: z.object({ to: z.string() }),
  execute: ({ to }) => ok(`Sent to ${to}.`),
})
export const setLight = defineTool({ name: 'set_light', description: 'Switches a light.', execute: () => ok('On.') })
export const findUserTool = defineTool({
  name: 'find_user',
  description: 'Finds a user.',
  execute: () => fail('None.'),
})

/** Answers every request, so that any number of runs can share it. */
export const adapter: ProviderAdapter = chatAdapter({
  name: 'acme',
  model: 'acme-1',
  complete: async ({ emit }) => {
    emit({ type: 'text/delta', text: 'Done.' })
    const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 }
    return { message: { role: 'assistant', text: 'Done.', toolCalls: [] }, usage }
  },
})
export const session = createSession({ slices: [cart] })
export const store: SessionStore = createMemoryStore()
export const strategy = readSection()
export const context: ToolContext = {
  session,
  signal: new AbortController().signal,
  deadline: undefined,
  filesystem: undefined,
  prompt: undefined,
}
export const error: unknown = new Error('The network is down.')

const listRooms: RawTool = {
  name: 'list_rooms',
  source: 'home',
  description: 'Lists the rooms of the home.',
  category: 'home',
  call: async () => ({ content: [{ type: 'text', text: 'Kitchen, hall' }] }),
}
export const tools: readonly RawTool[] = [listRooms]
export const catalog: Catalog = createCatalog([sendMail, setLight, listRooms])
const [near, far] = InMemoryTransport.createLinkedPair()
const loopback = new Client({ name: 'app', version: '1.0.0' })
await serveMcp(createCatalog([sendMail]), { name: 'mail', version: '1.0.0' }).connect(far)
await loopback.connect(near)
export const client: McpClient = loopback
export const served: ServedMcp = serveMcp(catalog, { name: 'home', version: '1.0.0' })
export const socket: Duplex = new PassThrough()

export const recorder = createRecorder({ prompt: bound })
const script = [calls('read_section', { section_key: 'refunds' }), calls('refund_order'), says('Done.')]
await runAgent(bound, { adapter: scriptedAdapter(script), input: 'Refund it.', onEvent: recorder.onEvent })
export const recording: Recording = recorder.recording()
export const recordings: readonly Recording[] = [recording]

export const path = 'snapshot.json'
export const url = 'data:application/json,{"weather":"sunny"}'
export const rows: string[] = []
export const tokenize = (text: string): readonly number[] => text.split(' ').map((word) => word.length)
export const createUnfoldTool = (view: DisclosureView): AnyTool =>
  defineTool({
    name: 'unfold',
    description: 'Shows a section.',
    params: z.object({ what: z.string() }),
    execute: ({ what }) => ok(view.content(what)),
  })
export const findUser = async (token: string | null): Promise<{ readonly id: string } | undefined> =>
  token === null ? undefined : { id: 'anna' }
export const retryLater = (delayMs: number): number => delayMs
