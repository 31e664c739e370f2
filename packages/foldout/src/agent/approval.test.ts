import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  agentRun,
  createMemoryStore,
  createSession,
  defineSection,
  defineTool,
  fail,
  getRunState,
  ok,
  openSession,
  runAgent,
  streamAgent,
  type AgentOptions,
  type AnyTool,
  type ApprovalAnswer,
  type ApprovalRequest,
  type RunState,
} from '../entries/index.ts'
import { chatAdapter } from '../entries/adapter.ts'
import { approvalAnswered, approvalAsked, defineLog } from '../entries/session.ts'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { flag, fold, getError, named, prepare, show } from './run.fixtures.ts'

const yes = (request: ApprovalRequest): ApprovalAnswer => ({ ...request, approved: true })
const no = (request: ApprovalRequest, reason?: string): ApprovalAnswer => ({
  callId: request.callId,
  digest: request.digest,
  approved: false,
  ...(reason === undefined ? {} : { reason }),
})

/** A tool that needs approval, with a record of its calls. */
function guarded(name = 'pay', options: Partial<Parameters<typeof defineTool>[0]> = {}) {
  const done: unknown[] = []
  const tool = defineTool({
    name,
    description: `Does ${name}.`,
    params: z.object({ amount: z.number().default(1) }),
    needsApproval: true,
    execute: ({ amount }) => {
      done.push(amount)
      return ok(`${name} ${amount}.`)
    },
    ...(options as object),
  }) as AnyTool
  return { tool, done }
}

function stage(script: readonly ScriptStep[], tools: readonly AnyTool[], options: Partial<AgentOptions> = {}) {
  const prepared = prepare(script, { sections: [show('desk', ...tools)], ...options })
  const { bound, adapter, session } = prepared
  const resume = (more: Partial<AgentOptions> = {}) => runAgent(bound, { adapter, session, ...options, ...more })
  return { ...prepared, resume }
}

/** A model that makes one call, and then answers. */
function callingOnce(id: string, args: unknown) {
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
  return chatAdapter({
    name: 'test',
    model: 'test',
    complete: async ({ messages }) => {
      const isFirst = messages.every(({ role }) => role !== 'assistant')
      const toolCalls = isFirst ? [{ id, name: 'pay', arguments: args }] : []
      return { message: { role: 'assistant', text: isFirst ? '' : 'Done.', toolCalls }, usage }
    },
  })
}

afterEach(() => void vi.useRealTimers())

describe('R66 a call that needs approval', () => {
  it('pauses the run, and runs once it is approved', async () => {
    const { tool, done } = guarded()
    const { run, resume, events } = stage([calls('pay', { amount: 7 }), says('Paid.')], [tool])
    const paused = await run()
    expect(paused).toMatchObject({ status: 'waiting', text: '', output: undefined })
    expect(paused.approvals).toEqual([
      {
        callId: 'call-1-1',
        tool: 'pay',
        arguments: { amount: 7 },
        reason: '',
        section: 'desk',
        askedAt: expect.any(String),
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    expect(done).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'run/finished', status: 'waiting' })
    const ended = await resume({ approvals: paused.approvals.map(yes) })
    expect(ended).toMatchObject({ status: 'completed', text: 'Paid.', approvals: [] })
    expect(done).toEqual([7])
    expect(ended.messages[2]).toEqual({
      role: 'tool',
      callId: 'call-1-1',
      name: 'pay',
      text: 'pay 7.',
      isError: false,
    })
    expect(ended.state).toMatchObject({ approvals: [], calling: [], finished: [] })
  })

  it('continues in another process, from a state that was stored as JSON', async () => {
    const { tool, done } = guarded()
    const { run, bound } = stage([calls('pay')], [tool])
    const { state, approvals } = JSON.parse(JSON.stringify(await run())) as {
      state: RunState
      approvals: ApprovalRequest[]
    }
    const adapter = scriptedAdapter([says('Paid.')])
    const ended = await runAgent(bound, { adapter, state, approvals: approvals.map(yes) })
    expect(ended.status).toBe('completed')
    expect(done).toEqual([1])
  })

  it('is answered with the reason if it is not approved, and the run continues', async () => {
    const { tool, done } = guarded()
    const { run, resume, getResults } = stage([callsAll(['pay', {}], ['pay', {}]), says('Then not.')], [tool])
    const { approvals } = await run()
    const ended = await resume({ approvals: [no(approvals[0]!, ' Too expensive. '), no(approvals[1]!)] })
    expect(ended.status).toBe('completed')
    expect(getResults()).toEqual([
      'Not run: a person was asked and did not approve this call. The reason given: Too expensive.',
      'Not run: a person was asked and did not approve this call.',
    ])
    expect(done).toEqual([])
  })

  it('keeps waiting while others are answered, and through a run without answers', async () => {
    const { tool, done } = guarded()
    const { run, resume, adapter } = stage(
      [callsAll(['pay', { amount: 1 }], ['pay', { amount: 2 }]), says('Done.')],
      [tool],
    )
    const first = await run()
    expect(await resume()).toMatchObject({ status: 'waiting', approvals: first.approvals })
    const second = await resume({ approvals: [yes(first.approvals[1]!)] })
    expect(second).toMatchObject({ status: 'waiting', approvals: [{ arguments: { amount: 1 } }] })
    expect(second.messages).toHaveLength(2)
    expect(done).toEqual([2])
    expect(adapter.requests).toHaveLength(1)
    const ended = await resume({ approvals: second.approvals.map(yes) })
    expect(ended.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))).toEqual([
      'pay 1.',
      'pay 2.',
    ])
    expect(done).toEqual([2, 1])
  })

  it('lets the other calls of its reply run before the pause, but not a call that must be alone', async () => {
    const order: string[] = []
    const tell = (name: string, exclusive = false) =>
      defineTool({ name, description: name, exclusive, execute: () => (order.push(name), ok(name)) })
    const { tool } = guarded('pay', { execute: () => (order.push('pay'), ok('pay')) })
    const { run, resume } = stage(
      [callsAll(['a', {}], ['pay', {}], ['b', {}], ['alone', {}], ['c', {}]), says('Done.')],
      [tool, tell('a'), tell('b'), tell('c'), tell('alone', true)],
    )
    const { approvals, state } = await run()
    expect(order).toEqual(['a', 'b'])
    expect(state.finished.map(({ text }) => text)).toEqual(['a', 'b'])
    const ended = await resume({ approvals: approvals.map(yes) })
    expect(order).toEqual(['a', 'b', 'pay', 'alone', 'c'])
    expect(ended.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))).toEqual([
      'a',
      'pay',
      'b',
      'alone',
      'c',
    ])
  })

  it.each([
    ['a reason', ({ amount }: { amount: number }) => amount > 5 && `${amount} is a lot.`, '9 is a lot.'],
    ['a promise', async ({ amount }: { amount: number }) => amount > 5, ''],
  ])('can depend on a function of valid params: %s', async (_, needsApproval, reason) => {
    const { tool, done } = guarded('pay', { needsApproval: needsApproval as never })
    const { run } = stage([callsAll(['pay', { amount: 2 }], ['pay', { amount: 9 }], ['pay', { amount: 'x' }])], [tool])
    const { approvals, state } = await run()
    expect(approvals).toMatchObject([{ callId: 'call-1-2', reason }])
    expect(done).toEqual([2])
    expect(state.finished.find(({ callId }) => callId === 'call-1-3')?.text).toMatch(/^Wrong arguments/)
  })

  it('is not run if its need for approval cannot be determined, and checking changes nothing', async () => {
    const { tool, done } = guarded('pay', {
      needsApproval: (_: unknown, { session }: { session: ReturnType<typeof createSession> }) => {
        session.dispatch(flag.events.raised())
        throw new Error('no rules')
      },
    })
    const { run, getResults, session } = stage([calls('pay'), says('Done.')], [tool])
    expect(await run()).toMatchObject({ status: 'completed' })
    expect(getResults()).toEqual(["Tool 'pay' failed: no rules"])
    expect(done).toEqual([])
    expect(session.get(flag)).toBe(false)
  })

  it('can be chosen by the run, by name and by annotation', async () => {
    const seen: unknown[] = []
    const wipe = defineTool({
      name: 'wipe',
      description: 'Wipes.',
      annotations: { destructiveHint: true },
      execute: () => ok('Wiped.'),
    })
    const { run } = stage([callsAll(['look', {}], ['wipe', {}])], [wipe, named('look')], {
      needsApproval: (call) => {
        seen.push(call)
        return call.annotations?.destructiveHint === true
      },
    })
    expect((await run()).approvals).toMatchObject([{ tool: 'wipe' }])
    expect(seen).toContainEqual({
      callId: 'call-1-1',
      tool: 'look',
      arguments: {},
      annotations: undefined,
      section: 'desk',
    })
  })

  it('is never a call that opens sections', async () => {
    const { run } = prepare([calls('read_section', { section_key: 'vault' }), says('Done.')], {
      sections: [show('door'), fold('vault', named('take'))],
      needsApproval: () => true,
    })
    expect(await run()).toMatchObject({ status: 'completed' })
  })

  it.each([true, false])('waits together with openings in the same reply, dynamic tools: %s', async (dynamic) => {
    const { tool, done } = guarded()
    const reply = callsAll(['pay', {}], ['read_section', { section_key: 'vault' }], ['look', {}])
    const options = {
      sections: [show('door', tool, named('look')), fold('vault', named('take'))],
      scripted: { supportsDynamicTools: dynamic },
    }
    const { run, bound, adapter, session } = prepare([reply, calls('take'), says('Done.')], options)
    const { approvals } = await run()
    expect(approvals).toHaveLength(1)
    const ended = await runAgent(bound, { adapter, session, approvals: approvals.map(yes) })
    expect(done).toEqual([1])
    const free = {
      ...options,
      sections: [show('door', { ...tool, needsApproval: () => false }, named('look')), fold('vault', named('take'))],
    }
    const straight = await prepare([reply, calls('take'), says('Done.')], free).run()
    expect(ended.messages).toEqual(straight.messages)
    expect(ended.expansions).toBe(straight.expansions)
  })

  it.each([
    ['4 MB of arguments', 'call-1', { text: 'x'.repeat(4 * 2 ** 20) }],
    ['a call named __proto__', '__proto__', { text: '' }],
    ['arguments named __proto__', 'call-1', JSON.parse('{"text":"a","__proto__":{"admin":true}}') as object],
  ])('may have %s', async (_, id, args) => {
    const done: unknown[] = []
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      params: { type: 'object', properties: { text: { type: 'string' } } },
      needsApproval: true,
      execute: ({ text }) => (done.push(text), ok('Paid.')),
    })
    const { bound } = stage([], [tool])
    const adapter = callingOnce(id, args)
    const paused = await runAgent(bound, { adapter, input: 'Go.' })
    const { state, approvals } = JSON.parse(JSON.stringify(paused)) as typeof paused
    expect(await runAgent(bound, { adapter, state, approvals: approvals.map(yes) })).toMatchObject({
      status: 'completed',
    })
    expect(done).toHaveLength(1)
  })

  it('fails if its arguments are nested too deeply to be identified', async () => {
    let deep: unknown = {}
    for (let level = 0; level < 100_000; level++) deep = { deep }
    const { tool, done } = guarded('pay', { params: { type: 'object' }, needsApproval: false })
    const { bound } = stage([], [tool])
    const ended = await runAgent(bound, { adapter: callingOnce('call-1', { deep }), input: 'Go.' })
    expect(ended.messages[2]).toMatchObject({
      isError: true,
      text: expect.stringMatching(/nested more than 100 levels deep/),
    })
    expect(done).toEqual([])
  })

  it('is reported in events of the stream and of the session', async () => {
    const log = defineLog({ name: 'log', of: [approvalAsked, approvalAnswered] })
    const { tool } = guarded()
    const session = createSession({ slices: [log, flag] })
    const { bound, adapter } = stage([calls('pay'), says('Done.')], [tool])
    const told: string[] = []
    const stream = async (options: Partial<AgentOptions>) => {
      const run = streamAgent(bound, { adapter, session, ...options })
      for await (const { type } of run) told.push(type)
      return run.result
    }
    const { approvals } = await stream({ input: 'Go.' })
    await stream({ approvals: [{ ...yes(approvals[0]!), reason: 'Fine.' }] })
    const mine = told.filter((type) => /^(approval|tool|run)\//.test(type))
    expect(mine).toEqual([
      'run/started',
      'tool/called',
      'approval/asked',
      'run/finished',
      'run/started',
      'approval/answered',
      'tool/called',
      'tool/invoked',
      'run/finished',
    ])
    expect([...session.get(log)].map(({ payload }) => payload)).toEqual([
      approvals[0],
      { callId: 'call-1-1', tool: 'pay', approved: true, reason: 'Fine.' },
    ])
  })
})

describe('R66 an answer', () => {
  const setup = async (options: Partial<AgentOptions> = {}) => {
    const { tool, done } = guarded()
    const all = stage([callsAll(['pay', { amount: 1 }], ['pay', { amount: 2 }]), says('Done.')], [tool], options)
    const paused = await all.run()
    const refuse = async (approvals: unknown, more: Partial<AgentOptions> = {}) => {
      const before = JSON.stringify(all.session.get(agentRun))
      const error = await getError(all.resume({ approvals: approvals as ApprovalAnswer[], ...more }))
      expect(JSON.stringify(all.session.get(agentRun))).toBe(before)
      expect(done).toEqual([])
      return (error as { code: string }).code
    }
    return { ...all, tool, done, paused, refuse }
  }

  it('is rejected for another call or an earlier request', async () => {
    const { paused, refuse } = await setup()
    const [first, second] = paused.approvals
    expect(await refuse([{ ...yes(first!), digest: second!.digest }])).toBe('approval-unknown')
    expect(await refuse([{ ...yes(first!), callId: 'call-9-9' }])).toBe('approval-unknown')
    expect(await refuse([yes(first!), { ...yes(second!), digest: '' }])).toBe('approval-unknown')
    const other = await setup()
    expect(await refuse(other.paused.approvals.map(yes))).toBe('approval-unknown')
  })

  it.each([
    ['not a list', {}],
    ['a hole', [null]],
    ['no digest', [{ callId: 'call-1-1', approved: true }]],
    ['approved in words', [{ callId: 'call-1-1', digest: '', approved: 'yes' }]],
    ['a reason that is not a text', [{ callId: 'call-1-1', digest: '', approved: false, reason: 7 }]],
  ])('is rejected if it has the wrong form: %s', async (_, approvals) => {
    const { refuse } = await setup()
    expect(await refuse(approvals)).toBe('approval-invalid')
  })

  it('is rejected if it is given twice at once', async () => {
    const { paused, refuse } = await setup()
    expect(await refuse([yes(paused.approvals[0]!), no(paused.approvals[0]!)])).toBe('approval-invalid')
  })

  it('counts once', async () => {
    const { paused, resume, done } = await setup()
    const answers = paused.approvals.map(yes)
    await resume({ approvals: [answers[0]!] })
    expect(await getError(resume({ approvals: answers }))).toMatchObject({ code: 'approval-used' })
    await resume({ approvals: [answers[1]!] })
    expect(await getError(resume({ approvals: answers }))).toMatchObject({ code: 'approval-used' })
    expect(done).toEqual([1, 2])
  })

  it('is rejected if the run does not wait for one', async () => {
    const { bound, adapter } = stage([says('Done.')], [])
    const approvals = [{ callId: 'a', digest: 'b', approved: true }]
    expect(await getError(runAgent(bound, { adapter, approvals }))).toMatchObject({ code: 'approval-unknown' })
  })

  it('is rejected if it comes too late, and the next run asks again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { paused, refuse, resume, done } = await setup({ approvalTtlMs: 1000 })
    const [first] = paused.approvals
    expect(Date.parse(first!.expiresAt!) - Date.parse(first!.askedAt)).toBe(1000)
    vi.setSystemTime(Date.now() + 1000)
    expect(await refuse([yes(first!)])).toBe('approval-expired')
    const { approvals } = await resume()
    expect(approvals[0]!.digest).not.toBe(first!.digest)
    expect(await refuse([yes(first!)])).toBe('approval-unknown')
    await resume({ approvals: approvals.map(yes) })
    expect(done).toEqual([1, 2])
  })

  it('is accepted if it says no, even if it comes too late', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { paused, resume } = await setup({ approvalTtlMs: 1 })
    vi.setSystemTime(Date.now() + 5)
    expect(await resume({ approvals: paused.approvals.map((request) => no(request)) })).toMatchObject({
      status: 'completed',
    })
  })

  it.each([0, -1, Number.NaN, Infinity, '5'])('cannot have a time limit of %s milliseconds', async (ttl) => {
    const { bound, adapter } = stage([says('Done.')], [])
    const options = { adapter, approvalTtlMs: ttl as number }
    expect(await getError(runAgent(bound, options))).toMatchObject({ code: 'approval-invalid' })
  })

  it('is rejected when the arguments are not the ones that were shown', async () => {
    const { paused, bound, done } = await setup()
    const written = JSON.stringify(paused.messages).replace('{"amount":1}', '{"amount":1000}')
    const state: RunState = { ...paused.state, messages: JSON.parse(written) as RunState['messages'] }
    const adapter = scriptedAdapter([])
    const answer = { adapter, state, approvals: [yes(paused.approvals[0]!)] }
    expect(await getError(runAgent(bound, answer))).toMatchObject({ code: 'approval-changed' })
    expect(done).toEqual([])
    const asked = await runAgent(bound, { adapter, state })
    expect(asked.approvals.find(({ callId }) => callId === 'call-1-1')).toMatchObject({ arguments: { amount: 1000 } })
  })

  it.each([
    ['description', { description: 'Pays twice.' }],
    ['params', { params: z.object({ amount: z.number().default(2) }) }],
    ['annotations', { annotations: { destructiveHint: true } }],
  ])("is rejected when the tool's definition has changed: %s", async (_, change) => {
    const { paused } = await setup()
    const { tool, done } = guarded('pay', change)
    const { bound } = stage([], [tool])
    const { state, approvals } = paused
    const adapter = scriptedAdapter([says('Done.')])
    expect(await getError(runAgent(bound, { adapter, state, approvals: approvals.map(yes) }))).toMatchObject({
      code: 'approval-changed',
    })
    const asked = await runAgent(bound, { adapter, state })
    await runAgent(bound, { adapter, state: asked.state, approvals: asked.approvals.map(yes) })
    expect(done).toEqual([1, 2])
  })

  it('is rejected when the tool is gone', async () => {
    const { paused } = await setup()
    const { bound } = stage([], [named('look')])
    const { state, approvals } = paused
    const adapter = scriptedAdapter([says('Done.')])
    expect(await getError(runAgent(bound, { adapter, state, approvals: approvals.map(yes) }))).toMatchObject({
      code: 'approval-changed',
    })
    expect(await runAgent(bound, { adapter, state })).toMatchObject({ status: 'completed' })
  })

  it('runs the call once if it is given twice', async () => {
    const { paused, resume, done } = await setup()
    const answers = paused.approvals.map(yes)
    const ends = await Promise.allSettled([resume({ approvals: answers }), resume({ approvals: answers })])
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(ends.find((end) => end.status === 'rejected')).toMatchObject({ reason: { code: 'run-busy' } })
    expect(done).toEqual([1, 2])
  })

  it('runs the call once if two processes give it: the second finds that the answer was used', async () => {
    const store = createMemoryStore()
    const { tool, done } = guarded()
    const { bound } = stage([], [tool])
    const first = await openSession({ store, id: 'a' })
    const { approvals } = await runAgent(bound, {
      adapter: scriptedAdapter([calls('pay')]),
      session: first,
      input: 'Go.',
    })
    await first.saved()
    const answers = await Promise.allSettled(
      [1, 2].map(async () => {
        // A separate store object, like in another process.
        const session = await openSession({ store: { ...store }, id: 'a' })
        return runAgent(bound, { adapter: scriptedAdapter([says('Done.')]), session, approvals: approvals.map(yes) })
      }),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(answers.find((end) => end.status === 'rejected')).toMatchObject({ reason: { code: 'approval-used' } })
    expect(done).toEqual([1])
  })
})

describe('R66 new input while calls wait', () => {
  it('denies them', async () => {
    const { tool, done } = guarded()
    const alone = guarded('alone', { exclusive: true })
    const script = [callsAll(['pay', {}], ['pay', {}], ['alone', {}]), says('Fine.')]
    const { run, resume, adapter } = stage(script, [tool, alone.tool])
    const { approvals } = await run()
    const ended = await resume({ input: 'Never mind.', approvals: [yes(approvals[0]!)] })
    expect(ended).toMatchObject({ status: 'completed', text: 'Fine.' })
    expect(adapter.requests[1]!.messages.slice(2)).toMatchObject([
      { text: 'pay 1.' },
      {
        text: 'Not run: a person was asked and did not approve this call. The reason given: The user continued with something else.',
      },
      {
        text: 'Not run: a person was asked and did not approve this call. The reason given: The user continued with something else.',
      },
      { role: 'user', text: 'Never mind.' },
    ])
    expect(done).toEqual([1])
    expect(alone.done).toEqual([])
    expect(await getError(resume({ approvals: [yes(approvals[1]!)] }))).toMatchObject({ code: 'approval-used' })
  })
})

describe('R66 the limits of a run that waited', () => {
  it('still apply: turns, tokens, deadline and signal', async () => {
    const start = async () => {
      const { tool, done } = guarded()
      const all = stage([calls('pay'), says('Done.')], [tool])
      const { approvals } = await all.run()
      return { ...all, done, approvals: approvals.map(yes) }
    }
    const turns = await start()
    expect(await turns.resume({ approvals: turns.approvals, maxTurns: 1 })).toMatchObject({
      status: 'stopped',
      reason: 'max-turns',
    })
    expect(turns.done).toEqual([1])
    const tokens = await start()
    const limited = { approvals: tokens.approvals, limits: { inputTokens: 10 } }
    expect(await getError(tokens.resume(limited))).toMatchObject({ code: 'limit-reached' })
    const late = await start()
    const overdue = { approvals: late.approvals, deadline: new Date(Date.now() - 1) }
    expect(await getError(late.resume(overdue))).toMatchObject({ code: 'limit-reached', kind: 'deadline' })
    const cancelled = await start()
    const ended = { approvals: cancelled.approvals, signal: AbortSignal.abort() }
    const error = await getError(cancelled.resume(ended))
    expect(error).toMatchObject({ code: 'run-aborted' })
    for (const { done, resume } of [tokens, late, cancelled]) {
      expect(done).toEqual([])
      // The answer was accepted, so continuing needs no other.
      expect(await resume()).toMatchObject({ status: 'completed' })
      expect(done).toEqual([1])
    }
    expect(getRunState(error)?.approvals).toMatchObject([{ answer: { approved: true } }])
  })

  it('stop asking about a call again and again', async () => {
    const { tool } = guarded('pay', { needsApproval: () => new Promise(() => {}) } as never)
    const controller = new AbortController()
    const { run } = stage([calls('pay')], [tool], { signal: controller.signal })
    const running = run()
    setTimeout(() => controller.abort(), 20)
    expect(await getError(running)).toMatchObject({ code: 'run-aborted' })
    const timed = stage([calls('pay'), says('Done.')], [tool], { toolTimeoutMs: 20 })
    expect(await timed.run()).toMatchObject({ status: 'completed' })
    expect(timed.getResults()[0]).toMatch(/^Tool 'pay' failed: /)
  })
})

describe('R66 R39 a call that has begun', () => {
  it('is in the journal before its tool runs, with the hash of its arguments', async () => {
    const store = createMemoryStore()
    const written: unknown[] = []
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      execute: async () => {
        const stored = await store.load('a')
        written.push(stored!.events.at(-1)!.event)
        return ok('Seen.')
      },
    })
    const { bound } = stage([], [look])
    const session = await openSession({ store, id: 'a' })
    const { state } = await runAgent(bound, {
      adapter: scriptedAdapter([calls('look'), says('Done.')]),
      session,
      input: 'Go.',
    })
    expect(written).toEqual([
      {
        type: 'run/calling',
        payload: { callId: 'call-1-1', tool: 'look', digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ])
    expect(state.calling).toEqual([])
  })

  it('is not repeated on the same approval after an interruption: the person is asked again', async () => {
    const { tool, done } = guarded()
    const { run, bound } = stage([calls('pay')], [tool])
    const { state, approvals } = await run()
    const killed: RunState = {
      ...state,
      status: 'running',
      approvals: state.approvals.map((held) => ({ ...held, answer: { approved: true } })),
      calling: [{ callId: 'call-1-1', tool: 'pay', digest: '' }],
    }
    const adapter = scriptedAdapter([says('Done.')])
    const again = await runAgent(bound, { adapter, state: killed })
    expect(again.approvals).toMatchObject([{ reason: expect.stringMatching(/may already have taken effect/) }])
    expect(again.approvals[0]!.digest).not.toBe(approvals[0]!.digest)
    expect(done).toEqual([])
    await runAgent(bound, { adapter, state: again.state, approvals: again.approvals.map(yes) })
    expect(done).toEqual([1])
  })

  it('has a key that no other conversation has, and the same one when it runs again', async () => {
    const keys: unknown[] = []
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      execute: (_, { callId, idempotencyKey }) => {
        keys.push([callId, idempotencyKey])
        return keys.length === 1 ? fail('No.') : ok('Yes.')
      },
    })
    const once = async () => stage([calls('look'), says('Done.')], [look]).run()
    const { state } = await once()
    await once()
    const { bound } = stage([], [look])
    const left = { ...state, status: 'running' as const, messages: state.messages.slice(0, 2) }
    await runAgent(bound, { adapter: scriptedAdapter([says('Done.')]), state: left })
    expect(keys.map((pair) => (pair as string[])[0])).toEqual(['call-1-1', 'call-1-1', 'call-1-1'])
    const [first, second, again] = keys.map((pair) => (pair as string[])[1])
    expect(first).not.toBe(second)
    expect(again).toBe(first)
  })
})

describe('R66 a run that cannot pause', () => {
  it('fails a call that needs approval, with the reason', async () => {
    const { tool, done } = guarded()
    const { bound, session } = stage([], [tool])
    const adapter = { ...scriptedAdapter([calls('pay'), says('Done.')]), canPause: false }
    const { messages } = await runAgent(bound, { adapter, session, input: 'Go.' })
    expect(messages[2]).toMatchObject({
      text: "Tool 'pay' was not run: a person has to approve it first, and this call cannot wait for that.",
      isError: true,
    })
    expect(done).toEqual([])
  })

  it('does the same for calls that are not part of the conversation', async () => {
    const { tool, done } = guarded()
    const { bound } = stage([], [tool])
    const inner = scriptedAdapter([says('Done.')])
    const results: unknown[] = []
    const adapter = {
      ...inner,
      evaluate: async (evaluation: Parameters<typeof inner.evaluate>[0]) => {
        results.push(await evaluation.callTools([{ id: 'of-a-subagent', name: 'pay', arguments: {} }]))
        return inner.evaluate(evaluation)
      },
    }
    expect(await runAgent(bound, { adapter, input: 'Go.' })).toMatchObject({ status: 'completed', approvals: [] })
    expect(results).toMatchObject([{ results: [{ isError: true }] }])
    expect(done).toEqual([])
  })
})

describe('R66 R18 defineTool', () => {
  it('rejects a needsApproval that is neither a boolean nor a function', () => {
    const options = { name: 'a', description: 'a', needsApproval: 'always', execute: () => ok('') }
    expect(() => defineTool(options as never)).toThrow(/neither a boolean nor a function/)
    expect('needsApproval' in defineTool({ ...options, needsApproval: false })).toBe(false)
  })

  it('keeps a tool that needs approval from running without one elsewhere', async () => {
    const { executeTool } = await import('../entries/index.ts')
    const { tool, done } = guarded()
    const context = {
      session: createSession(),
      signal: new AbortController().signal,
      deadline: undefined,
      filesystem: undefined,
      prompt: undefined,
    }
    expect(await executeTool(tool, {}, context)).toMatchObject({ ok: false })
    expect(await executeTool(tool, {}, { ...context, clearedCall: 'x' })).toMatchObject({ ok: false })
    expect(done).toEqual([])
    expect(await executeTool(tool, {}, context, { isCleared: true })).toMatchObject({ ok: true })
  })

  it('names the section of a call by its path', async () => {
    const { tool } = guarded()
    const inner = defineSection({ key: 'inner', title: 'Inner', template: 'x', tools: [tool] })
    const outer = defineSection({ key: 'outer', title: 'Outer', template: 'x', children: [inner] })
    const { run } = prepare([calls('pay')], { sections: [outer] })
    expect((await run()).approvals).toMatchObject([{ section: 'outer.inner' }])
  })
})
