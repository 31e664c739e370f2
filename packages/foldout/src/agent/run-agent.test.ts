import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  contextFiles,
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  fail,
  ok,
  openSections,
  readSection,
  type AnySection,
} from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'
import { visibility } from '../entries/session.ts'
import { countedAdapter as scriptedAdapter } from '../testing/counted.fixtures.ts'
import { calls, callsAll, says, type ScriptStep } from '../testing/scripted-adapter.ts'
import { LimitReachedError, RunAbortedError, VisibilityExpansionRequired } from './errors.ts'
import type { AgentEvent } from './events.ts'
import type { AgentOptions } from './options.ts'
import { evaluatePrompt, runAgent, streamAgent } from './loop/run-agent.ts'
import { takeTurns } from '../../../../test/turns.ts'

const cart = defineSlice({
  name: 'cart',
  initial: [] as readonly string[],
  reducers: { added: (state, item: string) => [...state, item] },
})
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  params: z.object({ item: z.string() }),
  execute: ({ item }, { session }) => {
    session.dispatch(cart.events.added(item))
    return item === 'bad' ? fail('No such item.') : ok(`Added ${item}.`)
  },
})
const look = defineTool({ name: 'look', description: 'Looks.', execute: () => ok('Seen.') })
const folded = { summary: 's', visibility: 'summary' } as const
const sections = (): AnySection[] => [
  defineSection({ key: 'intro', title: 'Intro', template: 'Shop.', tools: [look] }),
  defineSection({ key: 'cart', title: 'Cart', template: 'The cart.', tools: [add], ...folded }),
  defineSection({ key: 'rules', title: 'Rules', template: 'The rules.', ...folded }),
]
const bound = (...own: AnySection[]) =>
  definePrompt({ ns: 't', key: 't', sections: own.length > 0 ? own : sections() }).bind()

interface Setup extends Partial<AgentOptions> {
  readonly dynamic?: boolean
  readonly sections?: AnySection[]
}
function setup(script: readonly ScriptStep[], options: Setup = {}) {
  const { dynamic = true, sections: own = [], ...rest } = options
  const session = options.session ?? createSession({ slices: [cart] })
  const adapter = scriptedAdapter(script, { supportsDynamicTools: dynamic })
  const events: AgentEvent[] = []
  const result = () =>
    runAgent(bound(...own), { adapter, session, input: 'Go.', onEvent: (event) => events.push(event), ...rest })
  return { session, adapter, events, run: result }
}
const types = (events: readonly AgentEvent[]) => events.map(({ type }) => type)

describe('a run', () => {
  it("R34 ends with the model's answer", async () => {
    const { run, adapter } = setup([says('Done.')])
    const result = await run()
    expect(result).toMatchObject({
      status: 'completed',
      text: 'Done.',
      expansions: 0,
      usage: { inputTokens: 10, outputTokens: 5 },
    })
    expect(adapter.requests[0]).toMatchObject({
      messages: [{ role: 'user', text: 'Go.' }],
      tools: ['look', 'read_section'],
    })
    expect(adapter.requests[0]!.system).toContain('## 1 Intro')
    adapter.assertDone()
  })

  it('R35 adds the tools of an opened section if the adapter can, and leaves the history and the prefix unchanged', async () => {
    const { run, adapter, events, session } = setup([
      calls('read_section', { section_key: 'cart' }),
      calls('add', { item: 'apple' }),
      says('Done.'),
    ])
    const result = await run()
    expect(result).toMatchObject({ status: 'completed', expansions: 0 })
    expect(result.turns.map(({ type }) => type)).toEqual(['injection', 'tools', 'answer'])
    const [first, second, third] = adapter.requests
    expect(second!.system).toBe(first!.system)
    expect(second!.tools).toEqual(['look', 'read_section', 'add'])
    expect(third!.messages.slice(0, second!.messages.length)).toEqual(second!.messages)
    expect(second!.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 'call-1-1', name: 'read_section', arguments: { section_key: 'cart' } }],
      },
      {
        role: 'tool',
        callId: 'call-1-1',
        name: 'read_section',
        text: '# Cart\n\nThe cart.\n\nCallable now: add.',
        isError: false,
      },
      { role: 'tools', names: ['add'] },
    ])
    expect(session.get(cart)).toEqual(['apple'])
    expect(session.get(visibility)).toEqual({ cart: 'full' })
    expect(types(events).filter((type) => type === 'tools/injected')).toHaveLength(1)
  })

  it('R34 R35 restarts if the adapter cannot add tools, with everything the model has learned', async () => {
    const { run, adapter, events, session } = setup(
      [
        calls('read_section', { section_key: 'rules' }),
        calls('read_section', { section_key: 'cart' }),
        calls('add', { item: 'pear' }),
        says('Done.'),
      ],
      { dynamic: false },
    )
    const result = await run()
    expect(result).toMatchObject({ status: 'completed', expansions: 1, usage: { inputTokens: 40, outputTokens: 20 } })
    expect(result.turns.map(({ type }) => type)).toEqual(['tools', 'restart', 'tools', 'answer'])
    // Sections that were read before the restart are open in the new render, and the messages are kept.
    expect(adapter.requests[2]!.system).toContain('The rules.')
    expect(adapter.requests[2]!.system).toContain('The cart.')
    expect(adapter.requests[2]!.tools).toEqual(['look', 'add'])
    expect(adapter.requests[2]!.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: 'Opened: cart. Its text is now in the system prompt, and its tools are in your tool list. Callable now: add.',
    })
    expect(adapter.requests[2]!.messages[0]).toEqual({ role: 'user', text: 'Go.' })
    expect(session.get(cart)).toEqual(['pear'])
    expect(events.find(({ type }) => type === 'run/expanded')).toMatchObject({
      keys: ['cart'],
      paths: ['cart'],
      expansions: 1,
    })
  })

  it('R33 does not run calls after a halting opening, and merges further openings', async () => {
    const { run, adapter, session } = setup(
      [
        callsAll(
          ['look', {}],
          ['open_sections', { section_keys: ['cart'], reason: 'a' }],
          ['look', {}],
          ['open_sections', { section_keys: ['rules'], reason: 'b' }],
        ),
        says('Done.'),
      ],
      { disclosure: openSections() },
    )
    const result = await run()
    expect(result.expansions).toBe(1)
    expect(session.get(visibility)).toEqual({ cart: 'full', rules: 'full' })
    const texts = adapter.requests[1]!.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
    expect(texts).toEqual([
      'Seen.',
      'Opened: cart. Its text is now in the system prompt, and its tools are in your tool list. Callable now: add.',
      'Not run, because sections were being opened. They are open now; call it again if you still need it.',
      'Opened: rules. Its text is now in the system prompt.',
    ])
  })

  it('R33 evaluatePrompt() throws an error with everything a caller needs to open the sections', async () => {
    const session = createSession({ slices: [cart] })
    const adapter = scriptedAdapter([
      calls('open_sections', { section_keys: ['cart', 'rules'], reason: 'why' }),
      says('Done.'),
    ])
    const error = await evaluatePrompt(bound(), { adapter, session, input: 'Go.', disclosure: openSections() }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(VisibilityExpansionRequired)
    expect(error).toMatchObject({
      requestedOverrides: { cart: 'full', rules: 'full' },
      reason: 'why',
      sectionKeys: ['cart', 'rules'],
      usage: { inputTokens: 10 },
    })
    expect(session.get(visibility)).toEqual({})
    for (const [path, to] of Object.entries((error as VisibilityExpansionRequired).requestedOverrides))
      session.dispatch(visibility.events.set({ path, visibility: to }))
    expect(await evaluatePrompt(bound(), { adapter, session, input: 'Go.', disclosure: openSections() })).toMatchObject(
      {
        status: 'completed',
        text: 'Done.',
      },
    )
  })

  it('R34 gives up after maxExpansions, with a state that can be resumed', async () => {
    const script = [
      calls('open_sections', { section_keys: ['cart'], reason: '' }),
      calls('open_sections', { section_keys: ['rules'], reason: '' }),
      says('x'),
    ]
    const { run } = setup(script, { disclosure: openSections(), maxExpansions: 1 })
    const error = await run().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LimitReachedError)
    expect(error).toMatchObject({
      kind: 'expansions',
      message:
        'The model has opened sections in 1 new render and asks for rules. Raise maxExpansions, or show these sections in full from the start.',
    })
  })

  it('R34 opens one section at a time under the conservative policy, and says which are left', async () => {
    const { run, adapter, session } = setup(
      [calls('open_sections', { section_keys: ['cart', 'rules'], reason: '' }), says('Done.')],
      {
        disclosure: openSections(),
        opening: 'conservative',
      },
    )
    await run()
    expect(session.get(visibility)).toEqual({ cart: 'full' })
    expect(adapter.requests[1]!.messages.at(-1)).toMatchObject({
      text: 'Opened: cart. Its text is now in the system prompt, and its tools are in your tool list. Callable now: add. Not opened yet: rules. Ask again if you still need it.',
    })
  })

  it('R34 waits under the batched policy until a turn opens nothing more', async () => {
    const { run, adapter, session } = setup(
      [
        calls('open_sections', { section_keys: ['cart'], reason: '' }),
        calls('open_sections', { section_keys: ['rules'], reason: '' }),
        calls('look'),
        says('Done.'),
      ],
      { disclosure: openSections(), opening: 'batched' },
    )
    const result = await run()
    expect(result.expansions).toBe(1)
    expect(session.get(visibility)).toEqual({ cart: 'full', rules: 'full' })
    expect(adapter.requests.map(({ system }) => system.includes('The cart.'))).toEqual([false, false, false, true])
    expect(adapter.requests[3]!.messages.at(-1)).toMatchObject({ text: 'Seen.' })
  })

  it("R32 contextFiles writes through the run's filesystem and the turn continues", async () => {
    const filesystem = createMemoryFilesystem()
    const { run } = setup([calls('open_sections', { section_keys: ['rules'], reason: '' }), says('Done.')], {
      disclosure: contextFiles({ readTool: false }),
      filesystem,
    })
    expect((await run()).expansions).toBe(0)
    expect(await filesystem.read('context/rules.md')).toBe('# Rules\n\nThe rules.')
  })
})

describe('tool calls', () => {
  const results = (adapter: ReturnType<typeof scriptedAdapter>, at = 1) =>
    adapter.requests[at]!.messages.flatMap((message) =>
      message.role === 'tool' ? [{ text: message.text, isError: message.isError }] : [],
    )

  it('R36 a call of a folded tool is answered with instructions to open it, and an unknown one with the nearest name', async () => {
    const { run, adapter } = setup([callsAll(['add', { item: 'x' }], ['lok', {}]), says('Done.')])
    await run()
    expect(results(adapter)).toEqual([
      {
        text: "Tool 'add' belongs to the section 'cart', which is not open yet. Call `read_section` with section_key \"cart\" first.",
        isError: true,
      },
      { text: "There is no tool 'lok'. Did you mean look?", isError: true },
    ])
    const opening = setup([calls('add', {}), says('Done.')], { disclosure: openSections() })
    await opening.run()
    expect(results(opening.adapter)[0]!.text).toContain('Call `open_sections` with section_keys ["cart"] first.')
  })

  it('R36 an added tool stays callable for the session', async () => {
    const session = createSession({ slices: [cart] })
    const { run } = setup([calls('read_section', { section_key: 'cart' }), says('First.')], { session })
    const first = await run()
    const again = setup([calls('add', { item: 'kiwi' }), says('Second.')], {
      session,
      state: first.state,
      input: 'And now?',
    })
    await again.run()
    expect(session.get(cart)).toEqual(['kiwi'])
  })

  it('R36 R39 opened sections stay open after the history is compacted', async () => {
    const session = createSession({ slices: [cart] })
    const first = await setup([calls('read_section', { section_key: 'cart' }), says('First.')], { session }).run()
    const compacted = { ...first.state, messages: [{ role: 'user' as const, text: 'Before: we looked at the cart.' }] }
    const again = setup([calls('add', { item: 'fig' }), says('Second.')], {
      session,
      state: compacted,
      input: 'And now?',
    })
    await again.run()
    expect(again.adapter.requests[0]!.tools).toEqual(['look', 'add', 'read_section'])
    expect(again.adapter.requests[0]!.system).toContain('The cart.')
    expect(session.get(cart)).toEqual(['fig'])
  })

  it('R37 wrong and malformed arguments are answered with the reason, and the run continues', async () => {
    const { run, adapter } = setup([
      calls('read_section', { section_key: 'cart' }),
      {
        calls: [
          { name: 'add', arguments: { item: 5 } },
          { name: 'add', arguments: undefined, malformed: '{"item": ' },
        ],
      },
      says('Done.'),
    ])
    expect(await run()).toMatchObject({ status: 'completed' })
    const [, wrong, malformed] = results(adapter, 2)
    expect(wrong!.text).toMatch(
      /^Wrong arguments for tool 'add': item must be a string, not a number\. Its arguments are: \{"type":"object"/,
    )
    expect(malformed).toEqual({
      text: 'The arguments of this call are not valid JSON: {"item": \nCall the tool again with its arguments as one JSON object.',
      isError: true,
    })
  })

  it('R20 R37 a tool that fails or throws leaves the session unchanged', async () => {
    const thrower = defineTool({
      name: 'thrower',
      description: 'Throws.',
      execute: (_, { session }) => {
        session.dispatch(cart.events.added('ghost'))
        throw new Error('no luck')
      },
    })
    const { run, adapter, session } = setup(
      [callsAll(['thrower', {}], ['add', { item: 'bad' }], ['add', { item: 'good' }]), says('Done.')],
      {
        sections: [defineSection({ key: 'a', title: 'A', template: '', tools: [thrower, add] })],
      },
    )
    await run()
    expect(results(adapter).map(({ text }) => text)).toEqual([
      "Tool 'thrower' failed: no luck",
      'No such item.',
      'Added good.',
    ])
    expect(session.get(cart)).toEqual(['good'])
  })

  it('R37 a tool that takes too long is stopped', async () => {
    const slow = defineTool({ name: 'slow', description: 'Slow.', execute: () => new Promise<never>(() => undefined) })
    const { run, adapter } = setup([calls('slow'), says('Done.')], {
      sections: [defineSection({ key: 'a', title: 'A', template: '', tools: [slow] })],
      toolTimeoutMs: 20,
    })
    await run()
    expect(results(adapter)[0]).toEqual({ text: "Tool 'slow' took too long and was stopped.", isError: true })
  })

  it('R37 calls of one turn run concurrently, with results in order; an exclusive one runs alone', async () => {
    const log: string[] = []
    const timed = (name: string, ms: number, exclusive = false) =>
      defineTool({
        name,
        description: name,
        exclusive,
        execute: async () => {
          log.push(`${name} begins`)
          await takeTurns(ms)
          log.push(`${name} ends`)
          return ok(name)
        },
      })
    const tools = [timed('slow', 30), timed('quick', 5), timed('alone', 5, true), timed('last', 1)]
    const { run, adapter } = setup(
      [callsAll(['slow', {}], ['quick', {}], ['alone', {}], ['last', {}]), says('Done.')],
      {
        sections: [defineSection({ key: 'a', title: 'A', template: '', tools })],
      },
    )
    await run()
    expect(results(adapter).map(({ text }) => text)).toEqual(['slow', 'quick', 'alone', 'last'])
    expect(log).toEqual([
      'slow begins',
      'quick begins',
      'quick ends',
      'slow ends',
      'alone begins',
      'alone ends',
      'last begins',
      'last ends',
    ])
  })
})

describe('limits', () => {
  it('R38 token limits and the deadline are checked before each request and call', async () => {
    const over = setup([calls('look'), says('x')], { limits: { totalTokens: 15 } })
    const error = await over.run().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'limit-reached',
      kind: 'total-tokens',
      message: 'The run has used 15 total tokens of the 15 it may use.',
    })
    expect(over.adapter.requests).toHaveLength(1)
    const late = await setup([says('x')], { deadline: new Date(0) })
      .run()
      .catch((thrown: unknown) => thrown)
    expect(late).toMatchObject({ kind: 'deadline' })
  })

  it('R38 an abort ends the run with a state that can be resumed', async () => {
    const controller = new AbortController()
    const stop = defineTool({
      name: 'stop',
      description: 'Stops.',
      execute: () => (controller.abort(new Error('enough')), ok('stopping')),
    })
    const own = [defineSection({ key: 'a', title: 'A', template: '', tools: [stop] })]
    const { run, session } = setup([calls('stop'), says('never')], { sections: own, signal: controller.signal })
    const error = await run().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RunAbortedError)
    const { state } = error as RunAbortedError
    const resumed = setup([says('Went on.')], {
      sections: own,
      session,
      state: JSON.parse(JSON.stringify(state)),
      input: 'Go on.',
    })
    expect(await resumed.run()).toMatchObject({ text: 'Went on.' })
  })

  it('stopWhen and maxTurns stop a run that can be resumed', async () => {
    const { run, session } = setup([calls('look'), says('x')], { stopWhen: (turns) => turns.length >= 1 })
    const stopped = await run()
    expect(stopped).toMatchObject({ status: 'stopped', reason: 'stop-when', output: undefined })
    const { adapter, run: resume } = setup([says('Resumed.')], { session, state: stopped.state, input: 'Go on.' })
    expect(await resume()).toMatchObject({ status: 'completed', text: 'Resumed.' })
    expect(adapter.requests[0]!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(await setup([calls('look'), calls('look'), says('x')], { maxTurns: 2 }).run()).toMatchObject({
      status: 'stopped',
      reason: 'max-turns',
    })
  })
})

describe('a run that was abandoned in the middle of a turn', () => {
  it('R39 finishes the turn before it accepts new input', async () => {
    const stopped = await setup([calls('look'), says('x')], { stopWhen: () => true }).run()
    const messages = stopped.state.messages.slice(0, 2)
    const { adapter, run } = setup([says('Done.')], { state: { ...stopped.state, messages }, input: 'And more.' })
    await run()
    expect(
      adapter.requests[0]!.messages.map((message) =>
        'text' in message ? `${message.role}: ${message.text}` : message.role,
      ),
    ).toEqual(['user: Go.', 'assistant: ', 'tool: Seen.', 'user: And more.'])
  })
})

describe('output', () => {
  const Answer = z.object({ verdict: z.enum(['yes', 'no']) })
  const prompt = definePrompt({
    ns: 't',
    key: 't',
    sections: [defineSection({ key: 'a', title: 'A', template: '' })],
    output: Answer,
  }).bind()

  it('R17 is parsed and typed, after repairs if needed', async () => {
    const adapter = scriptedAdapter([
      says('I think yes.'),
      says('{"verdict":"maybe"}'),
      says('```json\n{"verdict":"yes"}\n```'),
    ])
    const result = await runAgent(prompt, { adapter })
    expect(result.output?.verdict).toBe('yes')
    expect(adapter.requests[1]!.messages.at(-1)).toMatchObject({
      role: 'user',
      text: expect.stringContaining('contains no JSON'),
    })
    expect(adapter.requests[2]!.messages.at(-1)).toMatchObject({
      role: 'user',
      text: expect.stringMatching(/verdict[^]* Send the whole JSON again, not only the part that changed\.$/),
    })
  })

  it('R17 has a limited number of repairs', async () => {
    const adapter = scriptedAdapter([says('no'), says('no')])
    await expect(runAgent(prompt, { adapter, maxRepairs: 1 })).rejects.toMatchObject({
      code: 'output-parse',
      kind: 'no-json',
      raw: 'no',
    })
  })
})

describe('events', () => {
  it('R40 report render, request, calls, added tools and end, in order', async () => {
    const { run, events } = setup([calls('read_section', { section_key: 'cart' }), says('Done.')])
    await run()
    expect(types(events)).toEqual([
      'run/started',
      'prompt/rendered',
      'request/sent',
      'reply/received',
      'tool/called',
      'tool/invoked',
      'tools/injected',
      'request/sent',
      'text/delta',
      'reply/received',
      'run/finished',
    ])
    expect(events.find(({ type }) => type === 'tool/invoked')).toMatchObject({
      name: 'read_section',
      ok: true,
      disclosure: { keys: ['cart'], reason: '', full: ['intro'], summarized: ['cart', 'rules'], answer: 'in-place' },
    })
  })

  it('R40 never change a run: errors of a listener are ignored', async () => {
    const { run } = setup([says('Done.')], {
      onEvent: () => {
        throw new Error('broken listener')
      },
    })
    expect(await run()).toMatchObject({ status: 'completed' })
  })

  it('R40 do not let a session listener that throws end the run; it is reported', async () => {
    const { run, events, session } = setup([
      calls('read_section', { section_key: 'cart' }),
      calls('add', { item: 'apple' }),
      says('Done.'),
    ])
    session.subscribe((event) => {
      if (event.type === 'tool/invoked' || event.type === 'cart/added') throw new Error('broken slice listener')
    })
    expect(await run()).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(session.get(cart)).toEqual(['apple'])
    const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
    expect(warnings).toHaveLength(3)
    expect(warnings[0]).toContain('broken slice listener')
  })

  it('R40 can be streamed, and a failed run fails the stream', async () => {
    const adapter = scriptedAdapter([calls('look'), says('Done.')])
    const stream = streamAgent(bound(), { adapter, disclosure: readSection(), input: 'Go.' })
    const seen: string[] = []
    for await (const event of stream) seen.push(event.type)
    expect(seen.at(-1)).toBe('run/finished')
    expect(await stream.result).toMatchObject({ text: 'Done.' })
    const failing = streamAgent(bound(), {
      adapter: scriptedAdapter([{ throws: new Error('down') }]),
      input: 'Go.',
    })
    const read = async () => {
      for await (const event of failing) void event
    }
    await expect(read()).rejects.toThrow('down')
    await expect(failing.result).rejects.toThrow('down')
  })
})
