import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createMemoryStore,
  createSession,
  definePrompt,
  defineSection,
  openSections,
  openSession,
  readSection,
  runAgent,
  type AgentEvent,
  type AgentOptions,
} from '../entries/index.ts'
import { visibility } from '../entries/session.ts'
import { calls, says, scriptedAdapter, type ScriptedRequest, type ScriptStep } from '../testing/scripted-adapter.ts'
import { flag, fold, named, show } from './run.fixtures.ts'

const role = defineSection({ key: 'role', title: 'Role', template: 'You serve ${shop}.', tools: [named('look')] })
const vault = defineSection({
  key: 'vault',
  title: 'Vault',
  template: 'All of vault.',
  summary: 'Some of vault.',
  visibility: 'summary',
  tools: [named('take')],
  children: [show('shelf', named('dust')), fold('chest', named('unlock'))],
})
const state = defineSection({
  key: 'state',
  title: 'State',
  render: (_, { session }) => `The flag is ${session.get(flag) ? 'up' : 'down'}.`,
})
const bySelector = defineSection({
  key: 'tower',
  title: 'Tower',
  template: 'All of tower.',
  summary: 'Some of tower.',
  visibility: (_, { session }) => (session.get(flag) ? 'full' : 'summary'),
  tools: [named('climb')],
})
const prompt = definePrompt({
  ns: 'test',
  key: 'chat',
  sections: [role, vault, fold('garden', named('dig')), fold('cellar')],
  output: z.object({ answer: z.string() }),
})
const bound = prompt.bind({ shop: 'Lampworks' })
const answer = (text: string): ScriptStep => says(JSON.stringify({ answer: text }))
const read = (key: string): ScriptStep => calls('read_section', { section_key: key })
const set = (path: string, wanted: 'full' | 'summary') => visibility.events.set({ path, visibility: wanted })

/** Each request begins with the bytes of the one before. */
function expectAppended(requests: readonly ScriptedRequest[]): void {
  const [first] = requests
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1] ?? request
    expect(request.system).toBe(first?.system)
    expect(request.tools.slice(0, before.tools.length)).toEqual(before.tools)
    expect(JSON.stringify(request.messages.slice(0, before.messages.length))).toBe(JSON.stringify(before.messages))
  }
}

function count(text: string, { system, messages }: ScriptedRequest): number {
  return JSON.stringify([system, messages]).split(text).length - 1
}

/** Two runs on one session, with a change in between. */
async function chat(options: {
  readonly first: readonly ScriptStep[]
  readonly between?: (session: ReturnType<typeof createSession>) => void
  readonly second?: Partial<AgentOptions>
  readonly bound?: Parameters<typeof runAgent>[0]
  readonly boundLater?: Parameters<typeof runAgent>[0]
}) {
  const session = createSession({ slices: [flag] })
  const adapter = scriptedAdapter([...options.first, answer('Second.')])
  const before = (options.bound ?? bound) as never
  const events: AgentEvent[] = []
  await runAgent(before, { adapter, session, input: 'One.' })
  options.between?.(session)
  const onEvent = (event: AgentEvent): void => void events.push(event)
  const later = (options.boundLater ?? before) as never
  const result = await runAgent(later, { adapter, session, input: 'Two.', onEvent, ...options.second })
  return { adapter, result, session, events, last: adapter.requests.at(-1)! }
}

describe('R42 a conversation', () => {
  it('R42 is append-only across user turns with openings, a repaired output and a resume in another process', async () => {
    const store = createMemoryStore()
    const adapter = scriptedAdapter([
      read('vault'),
      calls('take'),
      answer('First.'),
      read('garden'),
      says('Not JSON.'),
      calls('dig'),
      answer('Second.'),
      read('vault.chest'),
      calls('unlock'),
      answer('Third.'),
    ])
    const run = async (options: Partial<AgentOptions>) => {
      const session = await openSession({ store, id: 'chat' })
      const result = await runAgent(prompt.bind({ shop: 'Lampworks' }), { adapter, session, ...options })
      await session.saved()
      return result
    }
    await run({ input: 'One.' })
    await run({ input: 'Two.' })
    const stopped = await run({ input: 'Three.', stopWhen: () => true })
    expect(stopped.status).toBe('stopped')
    const { messages } = await run({})
    adapter.assertDone()
    expectAppended(adapter.requests)
    const last = adapter.requests.at(-1)!
    expect(last.tools).toEqual(['look', 'read_section', 'take', 'dust', 'dig', 'unlock'])
    expect(['All of vault.', 'All of garden.', 'All of chest.'].map((text) => count(text, last))).toEqual([1, 1, 1])
    expect(messages.flatMap((message) => (message.role === 'tool' && message.isError ? [message] : []))).toEqual([])
  })

  it('R42 R39 continues from a given state in a session that has nothing open', async () => {
    const adapter = scriptedAdapter([read('vault'), answer('First.'), calls('take'), answer('Second.')])
    const first = await runAgent(bound, { adapter, input: 'One.' })
    const given = JSON.parse(JSON.stringify(first.state)) as typeof first.state
    await runAgent(bound, { adapter, state: given, input: 'Two.' })
    expectAppended(adapter.requests)
    expect(adapter.requests.at(-1)!.messages.at(-1)).toMatchObject({ role: 'tool', text: 'take done.' })
  })

  it.each([
    ['the application', [role, vault], (path: string) => set(path, 'full'), 'vault', ['take', 'dust']],
    ['a selector over state', [role, bySelector], () => flag.events.raised(), 'tower', ['climb']],
  ] as const)('R42 includes a section that %s opened between runs', async (_, sections, open, key, tools) => {
    const grown = definePrompt({ ns: 'test', key: 'chat', sections: [...sections] }).bind({ shop: 'Lampworks' })
    const { adapter, last, events, session } = await chat({
      bound: grown,
      first: [says('First.')],
      between: (between) => between.dispatch(open(key)),
    })
    expectAppended(adapter.requests)
    expect(last.tools).toEqual(['look', 'read_section', ...tools])
    expect(count(`All of ${key}.`, last)).toBe(1)
    expect(last.messages.map(({ role: who }) => who)).toEqual(['user', 'assistant', 'user', 'tools', 'user'])
    expect(last.messages.at(-1)).toMatchObject({ text: 'Two.' })
    expect(events.find(({ type }) => type === 'tools/injected')).toMatchObject({ names: tools })
    // It is shown only once.
    const third = scriptedAdapter([says('Third.')])
    await runAgent(grown, { adapter: third, session, input: 'Three.' })
    expectAppended([...adapter.requests, ...third.requests])
    expect(count(`All of ${key}.`, third.requests[0]!)).toBe(1)
  })

  it('R42 names the folded sections inside a section that was opened between runs', async () => {
    const { last } = await chat({
      first: [answer('First.')],
      between: (session) => session.dispatch(set('vault', 'full')),
    })
    expect(last.messages[2]).toEqual({
      role: 'user',
      text: expect.stringMatching(
        /^Your instructions have changed\. These sections now read:\n\n# Vault\n\nAll of vault\.\n\n## The shelf\n\nAll of shelf\.\n\n## The chest\n\nSome of chest\./,
      ) as string,
    })
  })

  it('R42 includes the new text of a section that has changed with the session', async () => {
    const { adapter, last } = await chat({
      bound: definePrompt({ ns: 'test', key: 'chat', sections: [role, state] }).bind({ shop: 'Lampworks' }),
      first: [says('First.')],
      between: (session) => session.dispatch(flag.events.raised()),
    })
    expectAppended(adapter.requests)
    expect([count('The flag is down.', last), count('The flag is up.', last)]).toEqual([1, 1])
  })

  it('R42 is rendered again if tools cannot be added', async () => {
    const session = createSession()
    const adapter = scriptedAdapter([answer('First.'), answer('Second.')], { supportsDynamicTools: false })
    await runAgent(bound, { adapter, session, input: 'One.' })
    session.dispatch(set('garden', 'full'))
    await runAgent(bound, { adapter, session, input: 'Two.' })
    expect(adapter.requests[1]!.system).toContain('All of garden.')
    expect(adapter.requests[1]!.tools).toEqual(['look', 'dig', 'read_section'])
    expect(adapter.requests[1]!.messages).toHaveLength(3)
  })

  const overrides = (text: string) => ({ ns: 'test', key: 'chat', tag: text, sections: {}, tools: {} }) as never
  it.each<[string, Parameters<typeof chat>[0]]>([
    ['the caller asks', { first: [], second: { rerender: true } }],
    ['values change', { first: [], boundLater: prompt.bind({ shop: 'Other' }) }],
    ['the strategy changes', { first: [], second: { disclosure: readSection({ showCost: true }) } }],
    ['overrides change', { first: [], second: { overrides: overrides('other') } }],
  ])('R42 is rendered again when %s, with the open sections', async (_, options) => {
    const { adapter, last } = await chat({ ...options, first: [read('garden'), answer('First.')] })
    expect(last.system).not.toBe(adapter.requests[0]!.system)
    expect(last.system).toContain('All of garden.')
    expect(last.tools).toEqual(['look', 'dig', 'read_section'])
    expect(last.messages.map(({ role: who }) => who)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
  })

  it('R42 continues with equal values of any kind', async () => {
    const params = z.object({
      since: z.date(),
      list: z.array(z.string()),
      of: z.object({ a: z.number(), b: z.number() }),
    })
    const text = defineSection({ key: 'text', title: 'Text', params, render: ({ list }) => list.join() })
    const own = definePrompt({ ns: 'test', key: 'values', sections: [text, fold('garden', named('dig'))] })
    const bind = (of: { a: number; b: number }) => own.bind({ since: new Date(0), list: ['x'], of })
    const { adapter } = await chat({
      bound: bind({ a: 1, b: 2 }),
      boundLater: bind({ b: 2, a: 1 }),
      first: [read('garden'), says('First.')],
    })
    expect(adapter.requests).toHaveLength(3)
    expectAppended(adapter.requests)
  })

  it('R42 is rendered again when an opening restarts the run, and continues from there', async () => {
    const disclosure = openSections()
    const open = (key: string) => calls('open_sections', { section_keys: [key], reason: 'Needed.' })
    const session = createSession()
    const adapter = scriptedAdapter([open('vault'), answer('First.'), answer('Second.')])
    await runAgent(bound, { adapter, session, disclosure, input: 'One.' })
    await runAgent(bound, { adapter, session, disclosure, input: 'Two.' })
    expect(adapter.requests[1]!.system).toContain('All of vault.')
    expectAppended(adapter.requests.slice(1))
  })

  it('R42 is rendered again when a section that it showed is disabled', async () => {
    const gate = defineSection({
      key: 'gate',
      title: 'Gate',
      template: 'The gate.',
      enabled: (_, { session }) => !session.get(flag),
      tools: [named('pass')],
    })
    const { last } = await chat({
      bound: definePrompt({ ns: 'test', key: 'chat', sections: [role, gate] }).bind({ shop: 'Lampworks' }),
      first: [says('First.')],
      between: (session) => session.dispatch(flag.events.raised()),
    })
    expect(last.system).not.toContain('The gate.')
    expect(last.tools).toEqual(['look'])
  })

  it('R42 is rendered again when the caller has cleared the result that showed a section', async () => {
    const first = await runAgent(bound, { adapter: scriptedAdapter([read('garden'), answer('First.')]), input: 'One.' })
    const messages = first.state.messages.map((message) =>
      message.role === 'tool' ? { ...message, text: '(cleared)' } : message,
    )
    const adapter = scriptedAdapter([answer('Second.')])
    const session = createSession({ slices: [visibility.seed({ garden: 'full' })] })
    await runAgent(bound, { adapter, session, state: { ...first.state, messages }, input: 'Two.' })
    expect(adapter.requests[0]!.system).toContain('All of garden.')
  })

  it('R42 leaves out an added tool that no longer exists, with a warning', async () => {
    const first = await runAgent(bound, { adapter: scriptedAdapter([read('garden'), answer('First.')]), input: 'One.' })
    const messages = first.state.messages.map((message) =>
      message.role === 'tools' ? { ...message, names: [...message.names, 'gone'] } : message,
    )
    const adapter = scriptedAdapter([answer('Second.')])
    const warnings: string[] = []
    const onEvent = (event: AgentEvent): void => void (event.type === 'warning' && warnings.push(event.message))
    await runAgent(bound, { adapter, state: { ...first.state, messages }, input: 'Two.', onEvent })
    expect(adapter.requests[0]!.tools).toEqual(['look', 'read_section', 'dig'])
    expect(warnings).toEqual([expect.stringContaining("The tool 'gone'")])
  })

  it('R39 without new input is run again for another prompt or other values, instead of returning the old result', async () => {
    const session = createSession()
    const adapter = scriptedAdapter([answer('First.'), answer('Second.')])
    await runAgent(bound, { adapter, session })
    expect(await runAgent(bound, { adapter, session })).toMatchObject({ output: { answer: 'First.' } })
    const other = await runAgent(prompt.bind({ shop: 'Other' }), { adapter, session })
    expect(other.output).toEqual({ answer: 'Second.' })
    expect(adapter.requests[1]!.messages.map(({ role: who }) => who)).toEqual(['user', 'assistant', 'user'])
  })
})
