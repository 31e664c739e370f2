import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claudeAgent, type ClaudeAgentSdk } from '../../packages/foldout/src/entries/claude-agent.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type AgentEvent,
  type AgentInput,
} from '../../packages/foldout/src/entries/index.ts'
import { importSdk, installSdk, runningExecutables, startProvider, type Provider } from './harness.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4////fwAJ+wP9KobjigAAAABJRU5ErkJggg==',
  'base64',
)
const input: AgentInput = [
  { type: 'text', text: 'What is this?' },
  { type: 'image', data: PNG },
  { type: 'file', data: Buffer.from('Grüße'), mediaType: 'text/plain', name: 'note.txt' },
]
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } }
const note = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' }, title: 'note.txt' }

const bound = definePrompt({
  ns: 'test',
  key: 'pictures',
  sections: [
    defineSection({
      key: 'intro',
      title: 'Intro',
      template: 'You look at pictures.',
      tools: [
        defineTool({
          name: 'zoom',
          description: 'Zooms in.',
          params: { type: 'object', properties: { factor: { type: 'number' } } },
          execute: () => ok('Closer.'),
        }),
      ],
    }),
  ],
}).bind()

describe('the real executable', () => {
  let sdk: ClaudeAgentSdk
  let provider: Provider

  beforeAll(async () => {
    installSdk()
    sdk = await importSdk()
  }, 300_000)
  beforeEach(async () => {
    provider = await startProvider()
    const replies = [
      { toolCalls: [{ name: 'zoom', arguments: '{"factor":2}' }] },
      { content: 'A cat.' },
      { content: 'Yes.' },
    ]
    provider.mock.on({}, () => replies.shift() ?? { content: 'Done.' })
  })
  afterEach(() => provider.stop())
  afterAll(() => expect(runningExecutables()).toEqual([]))

  it('gets images and files, including those of earlier turns, and its calls are streamed', async () => {
    const adapter = claudeAgent({ model: 'claude-sonnet-4-5', sdk, env: provider.env, cwd: provider.home })
    const session = createSession()
    const events: AgentEvent[] = []
    const onEvent = (event: AgentEvent) => events.push(event)
    expect(await runAgent(bound, { adapter, session, input, onEvent })).toMatchObject({ text: 'A cat.' })
    const written = events.flatMap((event) => (event.type === 'call/delta' ? [event] : []))
    expect(written.map(({ text }) => text).join('')).toBe('{"factor":2}')
    expect(new Set(written.map(({ name }) => name))).toEqual(new Set(['zoom']))
    expect(await runAgent(bound, { adapter, session, input: 'Sure?' })).toMatchObject({ text: 'Yes.' })
    const contents = [0, -1].map(
      (at) => provider.requests.at(at)?.messages.find(({ role }) => role === 'user')?.content,
    )
    for (const content of contents) expect(content).toEqual(expect.arrayContaining([expect.objectContaining(image)]))
    expect(contents[0]).toEqual(expect.arrayContaining([expect.objectContaining(note)]))
    expect(JSON.stringify(contents[1])).toMatch(/<user>.*What is this\?.*<\/user>.*Sure\?/s)
  })

  it('has its own tools beside ours if the options name them', async () => {
    const options = { tools: ['WebSearch'], allowedTools: ['WebSearch'] }
    const adapter = claudeAgent({ model: 'claude-sonnet-4-5', sdk, env: provider.env, cwd: provider.home, options })
    await runAgent(bound, { adapter, input: 'Go.' })
    const names = provider.requests[0]?.tools?.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['WebSearch', 'zoom']))
  })
})
