import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  AdapterError,
  createMemoryStore,
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  fail,
  ok,
  openSession,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type AnySection,
  type AnyTool,
  type ApprovalRequest,
  type RunState,
} from '../entries/index.ts'
import { createLocalEngine, defineRun, getRun, startRun } from '../entries/durable.ts'
import { countedAdapter as scriptedAdapter } from '../testing/counted.fixtures.ts'
import { calls, callsAll, says, type ScriptStep } from '../testing/scripted-adapter.ts'
import { createHost } from '../entries/disclosure.ts'
import { getError } from './run.fixtures.ts'

const paid = defineSlice({
  name: 'paid',
  initial: [] as readonly number[],
  reducers: { added: (state, amount: number) => [...state, amount] },
})

const RATES = { input: 1, output: 10 }

function makeRefund(world: string[], options: object = {}): AnyTool {
  return defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    params: z.object({ amount: z.number() }),
    execute: ({ amount }, { session, idempotencyKey }) => {
      world.push(`refund ${amount} ${idempotencyKey !== undefined}`)
      session.dispatch(paid.events.added(amount))
      return ok(`Refunded ${amount}.`)
    },
    ...options,
  })
}

const role = defineSection({ key: 'role', title: 'Role', template: 'You help customers.' })
const makeRefunds = (tools: readonly AnyTool[], delegate: string | boolean = true): AnySection =>
  defineSection({
    key: 'refunds',
    title: 'Refunds',
    template: 'Refund within ${days} days.',
    summary: 'How to refund.',
    delegate,
    tools,
  })

function stage(
  script: readonly ScriptStep[],
  {
    tool = {},
    delegate = true,
    ...options
  }: Partial<AgentOptions> & { tool?: object; delegate?: string | boolean } = {},
) {
  const world: string[] = []
  const sections = [role, makeRefunds([makeRefund(world, tool)], delegate)]
  const bound = definePrompt({ ns: 'shop', key: 'clerk', sections }).bind({ days: 30 })
  const adapter = scriptedAdapter(script)
  const events: AgentEvent[] = []
  const session = options.session ?? createSession({ slices: [paid] })
  const run = (more: Partial<AgentOptions> = {}) =>
    runAgent(bound, { adapter, session, onEvent: (event) => events.push(event), ...options, ...more })
  return { world, bound, adapter, events, session, run }
}

const ask = (question = 'Refund 5 for order 7.', path = 'refunds'): ScriptStep =>
  calls('ask_section', { path, question })
const approve = ({ callId, digest }: ApprovalRequest) => ({ callId, digest, approved: true })

describe('R83 a delegated section', () => {
  it('R83 says how to ask it, and never shows its text or tools to the model that asks', async () => {
    const { bound, adapter, run } = stage([ask(), calls('refund', { amount: 5 }), says('Refunded 5.'), says('Done.')])
    const { text, tools, summarized } = bound.render({ delegation: true })
    expect(text).toContain(
      'How to refund.\n\n---\n[This section is summarized. To use it, call `ask_section` with path "refunds" and a question or a task.]',
    )
    expect(summarized).toEqual(['refunds'])
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      [
        'ask_section',
        'Ask a question about a summarized section, or give it a task. An agent of its own reads the section, uses its tools and answers. It knows nothing but what you write.',
      ],
    ])
    const result = await run({ input: 'Refund me.' })
    expect(result.text).toBe('Done.')
    const [first, inside, , last] = adapter.requests
    expect(first?.tools).toEqual(['ask_section'])
    expect(last?.tools).toEqual(['ask_section'])
    expect(last?.system).toBe(first?.system)
    expect(JSON.stringify(last?.messages)).not.toContain('30 days')
    expect(last?.messages.at(-1)).toMatchObject({ name: 'ask_section', text: 'Refunded 5.', isError: false })
    expect(inside?.system).toBe(
      '## 1 Your task\n\nAnother agent asks you a question or gives you a task. Do it with the section below and its tools. It reads only your final answer: put everything into it that was asked for, and say what you could not find or do.\n\n## 2 Refunds\n\nRefund within 30 days.',
    )
    expect(inside?.messages).toEqual([{ role: 'user', text: 'Refund 5 for order 7.' }])
    expect(inside?.tools).toEqual(['refund'])
  })

  it('R83 changes the session of the run that asks, which counts its tokens and sees its events', async () => {
    const { session, events, run } = stage([ask(), calls('refund', { amount: 5 }), says('Refunded 5.'), says('Done.')])
    const { usage, state } = await run({ input: 'Refund me.' })
    expect(session.get(paid)).toEqual([5])
    expect(usage).toMatchObject({ inputTokens: 40, outputTokens: 20 })
    expect(state.delegated).toMatchObject({ inputTokens: 20, outputTokens: 10 })
    expect(state.delegates).toEqual([])
    const inner = events.flatMap((event) => (event.type === 'section/delegated' ? [event.event.type] : []))
    expect(inner).toContain('run/started')
    expect(inner).toContain('tool/invoked')
    expect(inner.at(-1)).toBe('run/finished')
    expect(events.find((event) => event.type === 'tool/invoked')).toMatchObject({
      name: 'ask_section',
      delegated: { path: 'refunds', usage: { inputTokens: 20, outputTokens: 10 } },
    })
    // Its answer is the only trace of what it has done.
    expect(state.folded).toEqual([{ callId: 'call-1-1', form: 'kept' }])
  })

  it.each([
    ['ask_section', { path: 'nothing', question: 'x' }, "Section 'nothing' does not exist in this prompt."],
    ['ask_section', { path: 'role', question: 'x' }, "Section 'role' is open: its text and tools are yours to use."],
    ['ask_section', { path: 'refunds', question: ' ' }, 'The question is empty. Ask again with a question or a task.'],
    ['ask_section', { path: 'refunds' }, /^Wrong arguments for tool 'ask_section': question is required/],
    ['ask_section', { path: '__proto__', question: 'x' }, "Section '__proto__' does not exist in this prompt."],
    [
      'refund',
      { amount: 1 },
      "Tool 'refund' belongs to the section 'refunds', which is not open yet. Call `ask_section` with path \"refunds\" and a question or a task instead.",
    ],
  ])('R83 answers a wrong call of %s with %o by what to do', async (name, args, message) => {
    const { adapter, run, world } = stage([calls(name, args), says('Oh.')])
    await run({ input: 'Go.' })
    const result = adapter.requests[1]?.messages.at(-1)
    expect(result).toMatchObject({ isError: true })
    expect((result as { text: string }).text).toMatch(
      message instanceof RegExp ? message : new RegExp(`^${escape(message)}`),
    )
    expect(world).toEqual([])
  })

  it('R83 cannot be opened, also not by a section around it or by its parts', async () => {
    const rules = defineSection({
      key: 'rules',
      title: 'Rules',
      template: 'All.',
      summary: 'Rules.',
      visibility: 'summary',
    })
    const inner = defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Text.',
      summary: 'S.',
      delegate: true,
      children: [rules],
    })
    const outer = defineSection({
      key: 'desk',
      title: 'Desk',
      template: 'Desk.',
      summary: 'D.',
      visibility: 'summary',
      children: [inner],
    })
    const adapter = scriptedAdapter([
      calls('read_section', { section_key: 'desk' }),
      callsAll(
        ['read_section', { section_key: 'desk.refunds' }],
        ['read_section', { section_key: 'desk.refunds.rules' }],
      ),
      ask('What are the rules?', 'desk.refunds.rules'),
      says('No rules.'),
      says('Done.'),
    ])
    await runAgent(definePrompt({ ns: 't', key: 't', sections: [outer] }).bind(), { adapter, input: 'Go.' })
    const texts = adapter.requests
      .at(-1)
      ?.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
    const refusal =
      'Section \'desk.refunds\' cannot be opened. Call `ask_section` with path "desk.refunds" and a question or a task instead.'
    expect(texts?.slice(1)).toEqual([refusal, refusal, 'No rules.'])
    expect(adapter.requests[3]?.system).toContain('## 2 Refunds\n\nText.')
    expect(adapter.requests[3]?.tools).toEqual(['read_section'])
  })

  it('R83 is an open section if the application opens it', async () => {
    const { adapter, run } = stage([says('Done.')], { visibility: { refunds: 'full' } as never })
    await run({ input: 'Go.' })
    expect(adapter.requests[0]).toMatchObject({ tools: ['refund'] })
  })

  it('R83 answers on a model of its own, at its own price', async () => {
    const small = scriptedAdapter([says('Within 30 days.')])
    const { adapter, events, run } = stage([ask('When?'), says('Done.')], {
      delegate: 'small',
      delegates: { small: { adapter: small, rates: RATES } },
      limits: { cost: { usd: 1, rates: { input: 10, output: 100 } } },
    })
    const { usage, state } = await run({ input: 'Go.' })
    expect(small.requests).toHaveLength(1)
    expect(adapter.requests).toHaveLength(2)
    expect(usage.inputTokens).toBe(30)
    expect(state.delegated.costUsd).toBeCloseTo(60e-6, 12)
    const invoked = events.find((event) => event.type === 'tool/invoked')
    expect(invoked?.type === 'tool/invoked' && invoked.delegated?.usage.costUsd).toBeCloseTo(60e-6, 12)
  })

  it('R83 shares the limits of the run that asks: money at its own price, tokens, and the deadline', async () => {
    const stageSmall = (limits: NonNullable<AgentOptions['limits']>, script = [says('Soon.')]) =>
      stage([ask('When?'), says('Done.')], {
        delegate: 'small',
        delegates: { small: { adapter: scriptedAdapter(script), rates: RATES } },
        limits,
      })
    // 20 + 10 tokens at 10 and 100, and 10 + 5 at 1 and 10.
    const rates = { input: 10, output: 100 }
    expect((await stageSmall({ cost: { usd: 0.000_661, rates } }).run({ input: 'Go.' })).status).toBe('completed')
    expect(await getError(stageSmall({ cost: { usd: 0.000_65, rates } }).run({ input: 'Go.' }))).toMatchObject({
      kind: 'cost',
    })
    expect(
      await getError(stageSmall({ totalTokens: 25 }, [calls('refund', { amount: 5 })]).run({ input: 'Go.' })),
    ).toMatchObject({
      kind: 'total-tokens',
      state: {
        delegates: [
          { path: 'refunds', state: { status: 'running', messages: [{ text: 'When?' }, { role: 'assistant' }] } },
        ],
      },
    })
    const { run } = stage([ask(), calls('refund', { amount: 5 })], {
      tool: { execute: () => new Promise(() => undefined) },
      deadline: new Date(Date.now() + 50),
    })
    expect(await getError(run({ input: 'Go.' }))).toMatchObject({ kind: 'deadline', state: { turns: 1 } })
  })

  it('R83 rejects delegates that the run does not have, before anything is asked', async () => {
    const { run } = stage([ask()], { delegate: 'small' })
    expect(await getError(run({ input: 'Go.' }))).toMatchObject({
      code: 'run-options',
      message:
        "The section 'refunds' is answered by 'small', which this run does not have. Pass delegates: { 'small': { adapter } }.",
    })
    expect(() => makeRefunds([], '')).toThrow("its delegate is ''")
    expect(await getError(stage([], { delegates: { small: {} } as never }).run({ input: 'Go.' }))).toMatchObject({
      code: 'run-options',
    })
  })

  it('R83 failures and stops of its agent are results that the model reads', async () => {
    const broken = scriptedAdapter([{ throws: new Error('down') }])
    const { run, adapter } = stage([ask(), says('Done.')], {
      delegate: 'small',
      delegates: { small: { adapter: scriptedAdapter([calls('refund', { amount: 1 })]), maxTurns: 1 } },
    })
    await run({ input: 'Go.' })
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: "The agent for 'refunds' stopped before it was done (max-turns).",
    })
    const lost = new AdapterError('adapter-unavailable', 'The server is busy.', { adapter: 'small' })
    const away = stage([ask(), says('Done.')], {
      delegate: 'small',
      delegates: { small: { adapter: scriptedAdapter([{ throws: lost }]) } },
    })
    await away.run({ input: 'Go.' })
    expect(away.adapter.requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: "The agent for 'refunds' failed: The server is busy.",
    })
    const second = stage([ask(), says('Done.')], { delegate: 'small', delegates: { small: { adapter: broken } } })
    expect(await getError(second.run({ input: 'Go.' }))).toMatchObject({ message: 'down' })
  })
})

describe('R83 approvals inside a delegated section', () => {
  const script = [ask(), calls('refund', { amount: 5 }), says('Refunded.'), says('Done.')]

  it('R83 pause the run that asks, and continue in another process with what was done', async () => {
    const { run, world, events, session, bound } = stage(script.slice(0, 2), { tool: { needsApproval: true } })
    const waiting = await run({ input: 'Go.' })
    expect(waiting.status).toBe('waiting')
    expect(waiting.approvals).toMatchObject([
      { callId: 'call-1-1/call-2-1', tool: 'refund', arguments: { amount: 5 }, delegate: 'refunds' },
    ])
    expect(events.filter(({ type }) => type === 'approval/asked')).toMatchObject([{ callId: 'call-1-1/call-2-1' }])
    expect(world).toEqual([])
    const snapshot = JSON.parse(JSON.stringify(session.snapshot())) as ReturnType<typeof session.snapshot>
    const later = createSession({ slices: [paid], snapshot })
    const adapter = scriptedAdapter([says('Refunded.'), says('Done.')])
    const [request] = waiting.approvals
    const answers = { approvals: [approve(request!)] }
    const wrong = { approvals: [{ ...approve(request!), digest: 'x' }] }
    expect(await getError(runAgent(bound, { adapter, session: later, ...wrong }))).toMatchObject({
      code: 'approval-unknown',
    })
    const result = await runAgent(bound, { adapter, session: later, ...answers })
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(world).toEqual(['refund 5 true'])
    expect(later.get(paid)).toEqual([5])
    expect(await getError(runAgent(bound, { adapter, session: later, ...answers }))).toMatchObject({
      code: 'approval-used',
    })
  })

  it('R83 continue from a plain state, too', async () => {
    const { run, world, bound } = stage(script.slice(0, 2), { tool: { needsApproval: true } })
    const { state, approvals } = await run({ input: 'Go.' })
    const kept = JSON.parse(JSON.stringify(state)) as RunState
    const adapter = scriptedAdapter([says('Refunded.'), says('Done.')])
    const result = await runAgent(bound, { adapter, state: kept, approvals: approvals.map(approve) })
    expect(result.text).toBe('Done.')
    expect(world).toEqual(['refund 5 true'])
    expect(result.totalUsage.inputTokens).toBe(40)
  })

  it('R83 are denied if the user goes on with something else', async () => {
    const { run, world, adapter } = stage(script, { tool: { needsApproval: true } })
    await run({ input: 'Go.' })
    const result = await run({ input: 'Forget it.' })
    expect(result.text).toBe('Done.')
    expect(world).toEqual([])
    expect(adapter.requests[2]?.messages.at(-1)).toMatchObject({
      name: 'refund',
      text: 'Not run: a person was asked and did not approve this call. The reason given: The user continued with something else.',
    })
    expect(adapter.requests[3]?.messages.at(-1)).toEqual({ role: 'user', text: 'Forget it.' })
  })

  it('R83 R63 wait in a durable run, for days and on any machine', async () => {
    const world: string[] = []
    const sections = [role, makeRefunds([makeRefund(world, { needsApproval: true })])]
    const prompt = definePrompt({ ns: 'shop', key: 'clerk', sections }).bind({ days: 30 })
    const store = createMemoryStore()
    const define = (steps: readonly ScriptStep[]) =>
      defineRun({
        name: 'd',
        engine: createLocalEngine(),
        store,
        slices: [paid],
        prompt,
        adapter: scriptedAdapter(steps),
      })
    const first = define(script.slice(0, 2))
    await startRun(first, { id: 'one', input: 'Go.' })
    await expect.poll(async () => (await getRun(first, 'one').status()).status).toBe('waiting')
    const second = define(script.slice(2))
    const handle = await startRun(second, { id: 'one' })
    await expect.poll(async () => (await handle.status()).status).toBe('waiting')
    const [request] = await handle.approvals()
    await handle.signal('approval', approve(request!))
    expect((await handle.result()).text).toBe('Done.')
    expect(world).toEqual(['refund 5 true'])
  })
})

describe('R83 a run that was killed while a section answered', () => {
  it('R83 goes on inside it, and repeats no finished call', async () => {
    const store = createMemoryStore()
    const open = () => openSession({ store: { ...store }, id: 'one', slices: [paid] })
    const world: string[] = []
    const sections = [role, makeRefunds([makeRefund(world)])]
    const bound = definePrompt({ ns: 'shop', key: 'clerk', sections }).bind({ days: 30 })
    const dying = scriptedAdapter([ask(), calls('refund', { amount: 5 }), { throws: new Error('killed') }])
    expect(await getError(runAgent(bound, { adapter: dying, session: await open(), input: 'Go.' }))).toMatchObject({
      message: 'killed',
    })
    const adapter = scriptedAdapter([says('Refunded.'), says('Done.')])
    const session = await open()
    const result = await runAgent(bound, { adapter, session })
    expect(result.text).toBe('Done.')
    expect(world).toEqual(['refund 5 true'])
    expect(session.get(paid)).toEqual([5])
    expect(adapter.requests[0]?.messages.map(({ role: who }) => who)).toEqual(['user', 'assistant', 'tool'])
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({ text: 'Refunded.' })
    expect(result.totalUsage.inputTokens).toBe(40)
  })
})

describe('R83 several questions', () => {
  it('R83 run in parallel, each in its own conversation', async () => {
    let running = 0
    let most = 0
    const seen: string[] = []
    const slow = {
      ...scriptedAdapter([]),
      async evaluate(evaluation: Parameters<ReturnType<typeof scriptedAdapter>['evaluate']>[0]) {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        const [first] = evaluation.messages
        const text = first?.role === 'user' ? `About ${first.text}.` : ''
        seen.push(text)
        const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
        await evaluation.record({ role: 'assistant', text, toolCalls: [] })
        return { type: 'final' as const, text, usage }
      },
    }
    const asks = ['one', 'two', 'three'].map((question) => ['ask_section', { path: 'refunds', question }] as const)
    const { run, adapter } = stage([callsAll(...asks), says('Done.')], {
      delegate: 'small',
      delegates: { small: { adapter: slow } },
    })
    const { usage } = await run({ input: 'Go.' })
    expect(most).toBe(3)
    expect(adapter.requests[1]?.messages.slice(-3)).toMatchObject(
      ['one', 'two', 'three'].map((question) => ({ text: `About ${question}.` })),
    )
    expect(usage.inputTokens).toBe(23)
  })

  it('R83 are passed on only so far', async () => {
    const nest = (depth: number): AnySection =>
      defineSection({
        key: `s${depth}`,
        title: `S${depth}`,
        template: `Level ${depth}.`,
        summary: 'Deeper.',
        delegate: true,
        ...(depth < 6 ? { children: [nest(depth + 1)] } : {}),
      })
    const down = Array.from({ length: 5 }, (_, depth) => ask('Deeper?', depth === 0 ? 's0' : `s${depth - 1}.s${depth}`))
    const adapter = scriptedAdapter([...down, ...Array.from({ length: 5 }, () => says('Up.'))])
    const bound = definePrompt({ ns: 't', key: 't', sections: [nest(0)] }).bind()
    await runAgent(bound, { adapter, input: 'Go.' })
    expect(adapter.requests[5]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: 'This question cannot be passed on any further. Answer it with what you have.',
    })
    adapter.assertDone()
  })
})

describe('R83 a delegated section in a host', () => {
  it('R83 answers with the models of the host, and its changes are events of the call', async () => {
    const { bound, world } = stage([])
    const adapter = scriptedAdapter([calls('refund', { amount: 5 }), says('Refunded 5.')])
    const events: AgentEvent[] = []
    const host = createHost(bound, { slices: [paid], adapter, onEvent: (event) => events.push(event) })
    const call = { id: 'c1', name: 'ask_section', arguments: { path: 'refunds', question: 'Refund 5.' } }
    const result = await host.at([]).call(call)
    expect(result).toMatchObject({ text: 'Refunded 5.', isError: false })
    expect(world).toHaveLength(1)
    expect(host.at(result.events).session.get(paid)).toEqual([5])
    expect(host.at(result.events).tools.map(({ name }) => name)).toEqual(['ask_section'])
    expect(events.map(({ type }) => type)).toContain('section/delegated')
  })

  it('R83 is opened like others if the host has no model', async () => {
    const host = createHost(stage([]).bound, { slices: [paid] })
    const now = host.at([])
    expect(now.tools.map(({ name }) => name)).toEqual(['read_section'])
    expect(now.rendered.text).toContain('call `read_section` with key "refunds"')
    const result = await now.call({ id: 'c1', name: 'read_section', arguments: { section_key: 'refunds' } })
    expect(result.added.map(({ name }) => name)).toEqual(['refund'])
  })

  it('R83 runs nothing that a person would have to approve', async () => {
    const call = { id: 'c1', name: 'ask_section', arguments: { path: 'refunds', question: 'Refund 5.' } }
    const { bound, world } = stage([], { tool: { needsApproval: true } })
    const adapter = scriptedAdapter([calls('refund', { amount: 5 }), says('It was not approved.')])
    const result = await createHost(bound, { slices: [paid], adapter })
      .at([])
      .call(call)
    expect(result.text).toBe('It was not approved.')
    expect(world).toEqual([])
  })
})

/** What a model does with sections: asks or opens one, and calls its tools with these numbers. */
const workArbitrary = fc.array(
  fc.record({ section: fc.nat({ max: 2 }), amounts: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }) }),
  { minLength: 1, maxLength: 4 },
)
type Work = readonly { readonly section: number; readonly amounts: readonly number[] }[]

/** Does the work in sections that are asked or opened, and returns everything that it changed. */
async function work(tasks: Work, way: 'ask' | 'open' | 'shown', supportsDynamicTools: boolean) {
  const world: string[] = []
  const texts: string[] = []
  const sections = [0, 1, 2].map((at) => {
    const execute: AnyTool['execute'] = (params, { session }) => {
      const { amount } = params as { readonly amount: number }
      if (amount === 9) return fail('Too much.')
      world.push(`${at}: ${amount}`)
      session.dispatch(paid.events.added(amount * 10 + at))
      return ok(`Paid ${amount}.`)
    }
    return defineSection({
      key: `s${at}`,
      title: `S${at}`,
      template: `Text of ${at}.`,
      summary: `S ${at}.`,
      visibility: way === 'shown' ? 'full' : 'summary',
      delegate: way === 'ask',
      tools: [{ ...makeRefund([]), name: `pay_${at}`, execute }],
    })
  })
  const script = tasks.flatMap(({ section, amounts }): readonly ScriptStep[] => {
    const pays = amounts.map((amount) => calls(`pay_${section}`, { amount }))
    if (way === 'ask') return [ask('Pay.', `s${section}`), ...pays, says(`Paid by ${section}.`)]
    return [...(way === 'open' ? [calls('read_section', { section_key: `s${section}` })] : []), ...pays]
  })
  const adapter = scriptedAdapter([...script, says('Done.')], { supportsDynamicTools })
  const session = createSession({ slices: [paid] })
  const bound = definePrompt({ ns: 't', key: 't', sections }).bind()
  const onEvent = (event: AgentEvent): void => {
    const inner = event.type === 'section/delegated' ? event.event : event
    if (inner.type === 'tool/invoked' && inner.name.startsWith('pay_')) texts.push(`${inner.name}: ${inner.message}`)
  }
  const { text } = await runAgent(bound, { adapter, session, input: 'Go.', onEvent, maxExpansions: 100 })
  adapter.assertDone()
  return { text, world, texts, paid: session.get(paid) }
}

describe('R31 delegation', () => {
  it('R31 R83 does the same as opening or showing the sections, on adapters of both kinds', async () => {
    await fc.assert(
      fc.asyncProperty(workArbitrary, fc.boolean(), async (tasks, isDynamic) => {
        const asked = await work(tasks, 'ask', isDynamic)
        expect(await work(tasks, 'open', isDynamic)).toEqual(asked)
        expect(await work(tasks, 'shown', isDynamic)).toEqual(asked)
      }),
      { numRuns: 40 },
    )
  })
})

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
