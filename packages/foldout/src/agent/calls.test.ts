import { describe, expect, it } from 'vitest'
import { agentRun, createSession, defineSection, defineTool, ok, runAgent, type AnyTool } from '../entries/index.ts'
import { chatAdapter, type ProviderAdapter, type ToolCall, type Usage } from '../entries/adapter.ts'
import { createMemoryStore, openSession } from '../entries/session.ts'
import { callsAll, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { flag, getError, named, prepare, show } from './run.fixtures.ts'
import { startCpuClock } from '../core/cpu.fixtures.ts'
import { takeTurns } from '../../../../test/turns.ts'

const usage: Usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, cacheWriteTokens: 1 }

/** A model that makes some calls, and then answers. */
function calling(toolCalls: readonly ToolCall[]): ProviderAdapter {
  return chatAdapter({
    name: 'test',
    model: 'test',
    complete: async ({ messages }) => {
      const isFirst = messages.every(({ role }) => role !== 'assistant')
      return {
        message: { role: 'assistant', text: isFirst ? '' : 'Done.', toolCalls: isFirst ? toolCalls : [] },
        usage,
      }
    },
  })
}

/** A tool that counts how many of its calls run at once. */
function counting(): { readonly tool: AnyTool; readonly count: { most: number; all: number } } {
  const count = { most: 0, all: 0 }
  let now = 0
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    execute: async () => {
      now += 1
      count.all += 1
      count.most = Math.max(count.most, now)
      await takeTurns(1)
      now -= 1
      return ok('Worked.')
    },
  })
  return { tool, count }
}

describe('R37 the id of a call', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', ''])('may be %o', async (id) => {
    const session = createSession({ slices: [agentRun, flag] })
    const { bound } = prepare([], { sections: [show('door', named('look'))] })
    const result = await runAgent(bound, {
      adapter: calling([{ id, name: 'look', arguments: {} }]),
      session,
      input: 'Go.',
    })
    const callId = id === '' ? 'call_1_0' : id
    expect(result.messages[2]).toMatchObject({ role: 'tool', callId, text: 'look done.', isError: false })
    expect(JSON.parse(JSON.stringify(result.state))).toMatchObject({ finished: [] })
  })

  it.each(['constructor', '__proto__'])('may be %o in an abandoned turn', async (id) => {
    const { bound } = prepare([], { sections: [show('door', named('look'))] })
    const state = {
      ...createSession({ slices: [agentRun] }).get(agentRun),
      status: 'running' as const,
      messages: [
        { role: 'user' as const, text: 'Go.' },
        {
          role: 'assistant' as const,
          text: '',
          toolCalls: [
            { id, name: 'look', arguments: {} },
            { id: 'x', name: 'look', arguments: {} },
          ],
        },
      ],
      finished: [{ role: 'tool' as const, callId: id, name: 'look', text: 'known', isError: false }],
    }
    const written = JSON.parse(JSON.stringify(state)) as typeof state
    const adapter = scriptedAdapter([says('Done.')])
    await runAgent(bound, { adapter, state: written })
    expect(adapter.requests[0]!.messages.slice(2)).toMatchObject([{ text: 'known' }, { text: 'look done.' }])
  })
})

describe('R37 the calls of one reply', () => {
  it('are not mistaken for calls of an abandoned turn with the same id', async () => {
    const { bound } = prepare([], { sections: [show('door', named('look'))] })
    const { state } = await runAgent(bound, { adapter: scriptedAdapter([says('Hello.')]), input: 'Hi.' })
    const stale = { role: 'tool' as const, callId: 'call-1-1', name: 'look', text: 'stale', isError: false }
    const adapter = scriptedAdapter([callsAll(['look', {}]), says('Done.')])
    const { messages } = await runAgent(bound, { adapter, state: { ...state, finished: [stale] }, input: 'Go.' })
    expect(messages.find(({ role }) => role === 'tool')).toMatchObject({ text: 'look done.' })
  })

  it("may have arguments that neither a tool's target nor a strategy can read", async () => {
    const through = defineTool({
      name: 'through',
      description: 'Runs another.',
      target: (params) => ({ name: (params as { name: string }).name.trim(), arguments: {} }),
      execute: () => ok('Ran.'),
    })
    const store = createMemoryStore()
    for (const args of [null, 7, 'text', [], { name: 5 }, { section_key: null }, { section_key: { a: 1 } }]) {
      const session = await openSession({ store, id: JSON.stringify(args), slices: [agentRun] })
      const fold = { summary: 's', visibility: 'summary' } as const
      const sections = [show('door', through), defineSection({ key: 'a', title: 'A', template: 'a', ...fold })]
      const { run } = prepare([callsAll(['through', args], ['read_section', args]), says('Done.')], {
        sections,
        session,
      })
      expect(await run()).toMatchObject({ status: 'completed' })
    }
  })

  it('run 16 at a time by default, or as many as configured', async () => {
    for (const [options, most] of [
      [{}, 16],
      [{ maxParallelCalls: 3 }, 3],
      [{ maxParallelCalls: 0 }, 1],
    ] as const) {
      const { tool, count } = counting()
      const script = [callsAll(...Array.from({ length: 40 }, () => ['work', {}] as const)), says('Done.')]
      await prepare(script, { sections: [show('door', tool)], ...options }).run()
      expect(count).toEqual({ most, all: 40 })
    }
  })

  it('run up to a limit, in linear time; the rest get an answer', async () => {
    const { tool, count } = counting()
    const { run, getResults, events } = prepare(
      [callsAll(...Array.from({ length: 8000 }, () => ['work', {}] as const)), says('Done.')],
      { sections: [show('door', tool)], session: createSession({ slices: [agentRun, flag] }) },
    )
    const getCpuMs = startCpuClock()
    await run()
    expect(getCpuMs()).toBeLessThan(5000)
    expect(count.all).toBe(256)
    const results = getResults()
    expect(results).toHaveLength(8000)
    expect(results.filter((text) => text === 'Worked.')).toHaveLength(256)
    expect(results[256]).toBe(
      'Not run: one reply may call 256 tools, and this one called 8000. Call the rest in your next reply.',
    )
    expect(events.filter(({ type }) => type === 'tool/called')).toHaveLength(256)
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1)
  })
})

describe('R39 a session', () => {
  const sections = [show('door', named('look'))]
  const slow = (): ProviderAdapter =>
    chatAdapter({
      name: 'slow',
      model: 'slow',
      complete: async () => {
        await takeTurns()
        return { message: { role: 'assistant', text: 'Done.', toolCalls: [] }, usage }
      },
    })

  it('has one live run: a second one is rejected and changes nothing', async () => {
    const session = createSession({ slices: [agentRun, flag] })
    const { bound } = prepare([], { sections })
    const events: string[] = []
    const options = { session, onEvent: ({ type }: { type: string }) => events.push(type) }
    const first = runAgent(bound, { adapter: slow(), input: 'One.', ...options })
    const error = await getError(runAgent(bound, { adapter: slow(), input: 'Two.', ...options }))
    expect(error).toMatchObject({
      code: 'run-busy',
      message: expect.stringContaining('Wait for it or cancel it') as string,
    })
    expect((await first).messages).toMatchObject([{ text: 'One.' }, { text: 'Done.' }])
    expect(events).not.toContain('run/failed')
    expect(await runAgent(bound, { adapter: slow(), session, input: 'Three.' })).toMatchObject({ text: 'Done.' })
  })

  it('gives a run inside a tool its own conversation', async () => {
    const inner = scriptedAdapter([says('Inner.')])
    const delegate: AnyTool = defineTool({
      name: 'delegate',
      description: 'Delegates.',
      execute: async (_, { session }) => ok((await runAgent(bound, { adapter: inner, session, input: 'Do it.' })).text),
    })
    const { bound } = prepare([], { sections: [show('door', delegate)] })
    const session = createSession()
    const adapter = scriptedAdapter([callsAll(['delegate', {}]), says('Done.')])
    const { messages } = await runAgent(bound, { adapter, session, input: 'Go.' })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages[2]).toMatchObject({ text: 'Inner.' })
    expect(session.get(agentRun).messages).toEqual(messages)
    expect(inner.requests[0]?.messages).toEqual([{ role: 'user', text: 'Do it.' }])
  })

  it('accepts a new run after one that failed or was rejected', async () => {
    const session = createSession({ slices: [flag] })
    const { bound } = prepare([], { sections })
    await getError(runAgent(bound, { adapter: scriptedAdapter([]), session }))
    await getError(runAgent(bound, { adapter: slow(), session, deadline: new Date(Number.NaN) }))
    await getError(runAgent(bound, { adapter: slow(), session, state: {} as never }))
    expect(await runAgent(bound, { adapter: slow(), session })).toMatchObject({ text: 'Done.' })
  })

  it('still has one live run if it is opened twice', async () => {
    const store = createMemoryStore()
    const { bound } = prepare([], { sections })
    const one = await openSession({ store, id: 'run', slices: [agentRun] })
    const other = await openSession({ store, id: 'run', slices: [agentRun] })
    const first = runAgent(bound, { adapter: slow(), session: one, input: 'One.' })
    await expect(runAgent(bound, { adapter: slow(), session: other, input: 'Two.' })).rejects.toMatchObject({
      code: 'run-busy',
    })
    const elsewhere = await openSession({ store, id: 'other', slices: [agentRun] })
    await expect(runAgent(bound, { adapter: slow(), session: elsewhere })).resolves.toMatchObject({ text: 'Done.' })
    await first
  })
})

describe('R33 usage', () => {
  const { bound } = prepare([], { sections: [show('door', named('look'))] })
  /** An adapter that makes one call and then answers, and reports usage in events, in its result, or both. */
  const adapter = (tells: boolean, returns: boolean): ProviderAdapter => ({
    name: 'own',
    model: 'own',
    supportsDynamicTools: true,
    async evaluate({ beforeRequest, record, emit, callTools }) {
      await beforeRequest()
      const call = { role: 'assistant' as const, text: '', toolCalls: [{ id: '1', name: 'look', arguments: {} }] }
      const none = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 }
      if (tells) emit({ type: 'reply/received', message: call, usage })
      await record(call)
      for (const result of (await callTools(call.toolCalls)).results) await record(result)
      const answer = { role: 'assistant' as const, text: 'Done.', toolCalls: [] }
      if (tells) emit({ type: 'reply/received', message: answer, usage })
      await record(answer)
      return {
        type: 'final',
        text: 'Done.',
        usage: returns
          ? { ...usage, inputTokens: 14, outputTokens: 6, cachedInputTokens: 4, cacheWriteTokens: 2 }
          : none,
      }
    },
  })

  it.each([
    [true, true],
    [true, false],
    [false, true],
  ])('is counted once, as an event: %s, returned: %s', async (tells, returns) => {
    const result = await runAgent(bound, { adapter: adapter(tells, returns), input: 'Go.' })
    const expected = { inputTokens: 14, outputTokens: 6, cachedInputTokens: 4, cacheWriteTokens: 2 }
    expect(result.usage).toEqual(expected)
    expect(result.state.totalUsage).toEqual(expected)
  })

  it('enforces limits even for an adapter that only returns it', async () => {
    const halting = { ...adapter(false, true), supportsDynamicTools: false }
    const first = await runAgent(bound, { adapter: halting, input: 'Go.' })
    const { state } = first
    const running = { ...state, messages: state.messages.slice(0, 3), status: 'stopped' as const }
    await expect(
      runAgent(bound, { adapter: halting, state: running, limits: { totalTokens: 20 } }),
    ).rejects.toMatchObject({
      kind: 'total-tokens',
    })
  })
})

describe('R39 a long run', () => {
  it('takes constant time per message, however many there are', () => {
    const session = createSession({ slices: [agentRun] })
    session.dispatch(agentRun.events.started({ messages: [] }))
    const measure = (messages: number): number => {
      const getCpuMs = startCpuClock()
      for (let i = 0; i < messages; i++) {
        session.dispatch(agentRun.events.said({ message: { role: 'user', text: String(i) } }))
      }
      return getCpuMs()
    }
    const [first] = [measure(5000), measure(40_000)]
    const last = measure(5000)
    expect(last).toBeLessThan(Math.max(first, 10) * 5)
    expect(session.get(agentRun).messages).toHaveLength(50_000)
  })
})
