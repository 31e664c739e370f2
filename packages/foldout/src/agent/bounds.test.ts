import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  agentRun,
  createSession,
  definePrompt,
  defineSection,
  evaluatePrompt,
  getRunState,
  openSections,
  runAgent,
  type AgentOptions,
  type RunState,
} from '../entries/index.ts'
import { createMemoryStore } from '../entries/session.ts'
import { openSession, visibility } from '../entries/session.ts'
import { calls, callsAll, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { flag, fold, getError, named, prepare, show } from './run.fixtures.ts'

const open = (...keys: string[]) => calls('open_sections', { section_keys: keys, reason: 'why' })
const sections = [show('door', named('look')), fold('a', named('act_a')), fold('b')]
const copy = (state: RunState | undefined): RunState => JSON.parse(JSON.stringify(state)) as RunState

describe('R38 limits and stops', () => {
  it.each([{ maxTurns: 1 }, { stopWhen: () => true }] as Partial<AgentOptions>[])(
    'are checked after replies that cause a restart: %o',
    async (bound) => {
      const { run, adapter, session } = prepare([open('a'), open('b'), says('Done.')], {
        sections,
        disclosure: openSections(),
        ...bound,
      })
      const result = await run()
      expect(result).toMatchObject({ status: 'stopped', turns: [{ type: 'restart' }] })
      expect(adapter.requests).toHaveLength(1)
      expect(session.get(visibility)).toEqual({})
      // The accepted opening is applied when the run continues.
      const again = prepare([says('Done.')], {
        sections,
        disclosure: openSections(),
        session,
        state: copy(result.state),
      })
      expect(
        await runAgent(again.bound, {
          adapter: again.adapter,
          session,
          state: copy(result.state),
          disclosure: openSections(),
        }),
      ).toMatchObject({
        status: 'completed',
        expansions: 1,
      })
      expect(again.adapter.requests[0]!.system).toContain('All of a.')
      expect(again.adapter.requests[0]!.tools).toContain('act_a')
    },
  )

  it('are checked after answers that the model has to fix', async () => {
    const bound = definePrompt({
      ns: 't',
      key: 't',
      sections: [defineSection({ key: 'a', title: 'A', template: '' })],
      output: z.object({ yes: z.boolean() }),
    }).bind()
    const adapter = scriptedAdapter([says('yes'), says('{"yes":true}')])
    const stopped = await runAgent(bound, { adapter, maxTurns: 1 })
    expect(stopped).toMatchObject({ status: 'stopped', reason: 'max-turns' })
    expect(adapter.requests).toHaveLength(1)
    const later = await runAgent(bound, { adapter, state: copy(stopped.state) })
    expect(later.output).toEqual({ yes: true })
    expect(adapter.requests[1]!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  it('are checked once per reply, and an answer still completes the run', async () => {
    const seen: number[] = []
    const { run } = prepare([calls('look'), open('a'), calls('look'), says('Done.')], {
      sections,
      disclosure: openSections(),
      stopWhen: (turns) => (seen.push(turns.length), turns.length === 4),
    })
    expect(await run()).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(seen).toEqual([1, 2, 3, 4])
  })

  it('reject a stopWhen that returns a promise', async () => {
    const { run } = prepare([calls('look'), says('Done.')], {
      sections,
      stopWhen: (() => Promise.reject(new Error('late'))) as never,
    })
    await expect(run()).rejects.toMatchObject({ code: 'stop-when-async' })
  })
})

describe('R34 R39 an opening that was accepted', () => {
  it('is not lost when no more restarts are allowed', async () => {
    const { run, session } = prepare([open('a'), says('never')], {
      sections,
      disclosure: openSections(),
      maxExpansions: 0,
    })
    const error = await getError(run())
    expect(error).toMatchObject({
      kind: 'expansions',
      message: expect.stringContaining('in 0 new renders and asks for a.') as string,
    })
    const state = copy(getRunState(error))
    expect(state.pending).toMatchObject([{ keys: ['a'], paths: ['a'], reason: 'why' }])
    const adapter = scriptedAdapter([says('Done.')])
    const bound = prepare([], { sections }).bound
    const result = await runAgent(bound, { adapter, session, state, disclosure: openSections() })
    expect(adapter.requests[0]!.system).toContain('All of a.')
    expect(result).toMatchObject({ expansions: 1, state: { pending: [] } })
  })

  it('is not lost if its batch is still pending, in a session that stores the run', async () => {
    const session = createSession({ slices: [agentRun, flag] })
    const options = { sections, disclosure: openSections(), opening: 'batched', session } as const
    await prepare([open('a'), open('b'), says('never')], { ...options, stopWhen: (turns) => turns.length === 2 }).run()
    expect(session.get(visibility)).toEqual({})
    const { bound } = prepare([], options)
    const adapter = scriptedAdapter([says('Done.')])
    await runAgent(bound, {
      adapter,
      session: createSession({ slices: [agentRun, flag], snapshot: session.snapshot() }),
      disclosure: openSections(),
      opening: 'batched',
    })
    expect(adapter.requests[0]!.system).toContain('All of a.')
    expect(adapter.requests[0]!.system).toContain('All of b.')
  })

  it('is not applied twice if the caller has applied it', async () => {
    const session = createSession({ slices: [agentRun, flag] })
    const { bound } = prepare([], { sections })
    const adapter = scriptedAdapter([open('a'), says('Done.')])
    const options = { adapter, session, disclosure: openSections() }
    const error = await getError(evaluatePrompt(bound, { ...options, input: 'Go.' }))
    expect(error).toMatchObject({ requestedOverrides: { a: 'full' } })
    expect(getRunState(error)?.pending).toHaveLength(1)
    session.dispatch(visibility.events.set({ path: 'a', visibility: 'full' }))
    expect(await evaluatePrompt(bound, options)).toMatchObject({ text: 'Done.', expansions: 0, state: { pending: [] } })
  })

  it('R33 lets later calls run under the batched policy, and says when it opens', async () => {
    const { run, getResults } = prepare(
      [callsAll(['open_sections', { section_keys: ['a'] }], ['look', {}]), says('wait'), says('Done.')],
      { sections, disclosure: openSections(), opening: 'batched' },
    )
    const result = await run()
    expect(getResults()).toEqual(['Requested: a, which opens as soon as you reply without opening more.', 'look done.'])
    expect(result.messages.at(-2)).toEqual({ role: 'user', text: 'These sections are now open: a. Continue.' })
  })
})

describe('R38 limits and usage', () => {
  it('count the cost of one input, and the totals separately', async () => {
    const session = createSession({ slices: [agentRun, flag] })
    const usage = { inputTokens: 90, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 }
    for (const turn of [1, 2, 3, 4]) {
      const { run } = prepare([says(`Answer ${turn}.`)], {
        sections,
        session,
        limits: { totalTokens: 150 },
        maxTurns: 1,
        scripted: { usage },
      })
      const result = await run()
      expect(result).toMatchObject({
        text: `Answer ${turn}.`,
        usage: { inputTokens: 90 },
        totalUsage: { inputTokens: 90 * turn, outputTokens: 10 * turn },
        state: { turns: 1, usage: { inputTokens: 90 } },
      })
    }
  })

  it('keep counting when a run is resumed without new input', async () => {
    const { run, session } = prepare([calls('look'), says('never')], { sections, maxTurns: 1 })
    const { state } = await run()
    const { bound } = prepare([], { sections })
    const error = await getError(
      runAgent(bound, { adapter: scriptedAdapter([]), session, state, limits: { totalTokens: 15 } }),
    )
    expect(error).toMatchObject({ kind: 'total-tokens' })
  })
})

describe('R39 a completed run without new input', () => {
  const output = z.object({ yes: z.boolean() })
  const bound = definePrompt({ ns: 't', key: 't', sections: [...sections], output }).bind()
  const script = () => scriptedAdapter([calls('look'), says('Sure: {"yes":true}')])
  const silent = scriptedAdapter([])

  it('returns its result again from its state, even after JSON, without a request', async () => {
    const first = await runAgent(bound, { adapter: script(), input: 'Go.' })
    const again = await runAgent(bound, { adapter: silent, state: copy(first.state) })
    expect(again).toMatchObject({
      status: 'completed',
      text: 'Sure: {"yes":true}',
      output: { yes: true },
      usage: first.usage,
      messages: first.messages,
    })
    expect(silent.requests).toEqual([])
  })

  it('returns its result again from a session, even in another process', async () => {
    const store = createMemoryStore()
    const session = await openSession({ store, id: 'run', slices: [agentRun] })
    await runAgent(bound, { adapter: script(), session, input: 'Go.' })
    await session.saved()
    const reopened = await openSession({ store, id: 'run', slices: [agentRun] })
    expect(await runAgent(bound, { adapter: silent, session: reopened })).toMatchObject({ output: { yes: true } })
    await reopened.compact()
    const compacted = await openSession({ store, id: 'run', slices: [agentRun] })
    expect(await runAgent(bound, { adapter: silent, session: compacted })).toMatchObject({ output: { yes: true } })
  })

  it('returns the answer of a run that was abandoned right after it', async () => {
    const { state } = await runAgent(bound, { adapter: script(), input: 'Go.' })
    const left = { ...copy(state), status: 'running' as const, answer: null }
    expect(await runAgent(bound, { adapter: silent, state: left })).toMatchObject({
      status: 'completed',
      output: { yes: true },
    })
  })
})

describe('R34 errors', () => {
  it.each([
    ['an error of the adapter', new Error('down')],
    ['a frozen error', Object.freeze(new Error('cold'))],
    ['something that is not an error', 'text'],
    ['an object without a prototype', Object.create(null) as object],
  ])('carry the state of the run: %s', async (_, thrown) => {
    const { run } = prepare([calls('look'), { throws: thrown }], { sections })
    const error = await getError(run())
    expect(error).toBeInstanceOf(Error)
    expect(getRunState(error)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(Object.keys(error as object)).not.toContain('messages')
  })

  it('carry the state even if a render, a stop condition or an output fails', async () => {
    const broken = defineSection({
      key: 'x',
      title: 'X',
      render: () => {
        throw new Error('no data')
      },
    })
    expect(getRunState(await getError(prepare([], { sections: [broken] }).run()))).toMatchObject({ status: 'running' })
    const stopWhen = () => {
      throw new Error('no')
    }
    expect(getRunState(await getError(prepare([calls('look')], { sections, stopWhen }).run()))).toBeDefined()
    const bound = definePrompt({ ns: 't', key: 't', sections: [...sections], output: z.object({}) }).bind()
    const failing = runAgent(bound, { adapter: scriptedAdapter([says('x')]), maxRepairs: 0 })
    expect(getRunState(await getError(failing))?.messages).toHaveLength(2)
  })
})
