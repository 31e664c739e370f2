import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSession, defineTool, getRunState, ok, runAgent, streamAgent, type AnyTool } from '../entries/index.ts'
import { chatAdapter } from '../entries/adapter.ts'
import type { ProviderAdapter } from '../entries/adapter.ts'
import { calls, callsAll, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { LimitReachedError, RunAbortedError } from './errors.ts'
import { flag, fold, getError, named, prepare, show } from './run.fixtures.ts'
import { takeTurns } from '../../../../test/turns.ts'

const never = (): Promise<never> => new Promise<never>(() => undefined)
const deaf: AnyTool = defineTool({ name: 'deaf', description: 'Never ends.', execute: never })
const sections = [show('door', named('look'), deaf), fold('vault', named('take'))]
const soon = (ms = 30): Date => new Date(Date.now() + ms)
const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }

const deafModel = chatAdapter({ name: 'deaf', model: 'deaf', complete: never })
const deafAdapter: ProviderAdapter = { name: 'deaf', model: 'deaf', supportsDynamicTools: true, evaluate: never }
const halfDeaf = chatAdapter({
  name: 'streams',
  model: 'streams',
  complete: ({ emit }) =>
    new Promise(() => {
      const timer = setInterval(() => emit({ type: 'text/delta', text: 'a' }), 5)
      onTestFinished(() => clearInterval(timer))
    }),
})

describe.each([
  ['a tool that ignores its signal', scriptedAdapter([calls('deaf'), says('never')])],
  ['a chat model that ignores its signal', deafModel],
  ['an adapter that ignores its signal', deafAdapter],
  ['a stream without end', halfDeaf],
])('R38 %s', (_, adapter) => {
  const { bound } = prepare([], { sections })

  it('ends at the deadline, with its own reason', async () => {
    const own = 'requests' in adapter ? scriptedAdapter([calls('deaf'), says('never')]) : adapter
    const error = await getError(runAgent(bound, { adapter: own, input: 'Go.', deadline: soon() }))
    expect(error).toBeInstanceOf(LimitReachedError)
    expect(error).toMatchObject({ kind: 'deadline', state: { status: 'running' } })
  })

  it('ends after an abort, with its own reason', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    setTimeout(() => controller.abort(reason), 20)
    const own = 'requests' in adapter ? scriptedAdapter([calls('deaf'), says('never')]) : adapter
    const error = await getError(runAgent(bound, { adapter: own, input: 'Go.', signal: controller.signal }))
    expect(error).toBeInstanceOf(RunAbortedError)
    expect((error as Error).cause).toBe(reason)
  })
})

describe('R38 a deadline', () => {
  it.each([new Date('nonsense'), 'tomorrow', 17])('is rejected if it is not a date: %s', async (deadline) => {
    await expect(prepare([], { sections, deadline: deadline as Date }).run()).rejects.toMatchObject({
      code: 'deadline-invalid',
      message: expect.stringContaining('Pass a Date') as string,
    })
  })

  it('does not overflow a timer if it is in the far future', async () => {
    const { run } = prepare([calls('look'), says('Done.')], { sections, deadline: new Date(8.64e15) })
    expect(await run()).toMatchObject({ status: 'completed' })
  })

  it('aborts tools when it passes, and the state contains their results', async () => {
    let reason: unknown
    const listening = defineTool({
      name: 'listening',
      description: 'Waits.',
      execute: (_, { signal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            reject(new Error('stopped'))
          })
        }),
    })
    const { run } = prepare([callsAll(['listening', {}], ['look', {}])], {
      sections: [show('door', named('look'), listening)],
      deadline: soon(1_000),
    })
    const state = getRunState(await getError(run()))
    expect(reason).toMatchObject({ name: 'TimeoutError' })
    expect(state?.finished.map(({ name, text }) => `${name}: ${text}`)).toEqual([
      'look: look done.',
      "listening: Tool 'listening' took too long and was stopped.",
    ])
  })

  it('does not end a later run', async () => {
    let wake: (value: unknown) => void = () => undefined
    const late = chatAdapter({
      name: 'late',
      model: 'late',
      complete: async () => {
        await new Promise((resolve) => (wake = resolve))
        return {
          message: { role: 'assistant', text: '', toolCalls: [{ id: '1', name: 'look', arguments: {} }] },
          usage,
        }
      },
    })
    const events: string[] = []
    const { bound } = prepare([], { sections })
    const error = await getError(
      runAgent(bound, { adapter: late, deadline: soon(), onEvent: ({ type }) => events.push(type) }),
    )
    const told = events.length
    wake(undefined)
    await takeTurns()
    expect(events).toHaveLength(told)
    expect(getRunState(error)?.messages).toHaveLength(1)
  })
})

describe('R39 a stream', () => {
  it('cancels the run and its tools if it is abandoned early', async () => {
    const done: string[] = []
    const refund = defineTool({
      name: 'refund',
      description: 'Refunds.',
      execute: async (_, { signal }) => {
        await takeTurns()
        if (!signal.aborted) done.push('refund')
        return ok('Refunded.')
      },
    })
    const { bound } = prepare([], { sections: [show('door', refund)] })
    const session = createSession({ slices: [flag] })
    const adapter = scriptedAdapter([calls('refund'), calls('refund'), says('Done.')])
    const stream = streamAgent(bound, { adapter, session, input: 'Go.' })
    for await (const event of stream) if (event.type === 'tool/called') break
    await takeTurns(80)
    expect(done).toEqual([])
    expect(adapter.requests).toHaveLength(1)
    const error = await getError(stream.result)
    expect(error).toBeInstanceOf(RunAbortedError)
    expect((error as Error).cause).toMatchObject({ message: 'The reader left the stream before the run ended.' })
    // The session is free again.
    const again = scriptedAdapter([says('Went on.')])
    expect(await runAgent(bound, { adapter: again, session, state: getRunState(error)! })).toMatchObject({
      text: 'Went on.',
    })
  })

  it('also cancels the run if it is abandoned by an error or before the first event', async () => {
    const { bound } = prepare([], { sections })
    const stream = streamAgent(bound, { adapter: deafModel, input: 'Go.' })
    await expect(
      (async () => {
        for await (const event of stream) if (event.type === 'request/sent') throw new Error('reader broke')
      })(),
    ).rejects.toThrow('reader broke')
    await expect(stream.result).rejects.toBeInstanceOf(RunAbortedError)
    const unread = streamAgent(bound, { adapter: deafModel, input: 'Go.' })
    await unread[Symbol.asyncIterator]().return?.()
    await expect(unread.result).rejects.toBeInstanceOf(RunAbortedError)
  })

  it('does not affect the result if it is read to its end', async () => {
    const { bound } = prepare([], { sections })
    const stream = streamAgent(bound, { adapter: scriptedAdapter([says('Done.')]), input: 'Go.' })
    for await (const event of stream) if (event.type === 'run/finished') break
    expect(await stream.result).toMatchObject({ text: 'Done.' })
  })
})

describe('R40 a listener', () => {
  it('does not end the run if it rejects', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    const { run } = prepare([calls('look'), says('Done.')], {
      sections,
      onEvent: async () => {
        await Promise.resolve()
        throw new Error('broken listener')
      },
    })
    expect(await run()).toMatchObject({ status: 'completed' })
    await takeTurns()
    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe('R38 abort listeners', () => {
  it('do not accumulate on the signal of a long run, whatever tools leave behind', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const careless = defineTool({
      name: 'careless',
      description: 'Listens and forgets.',
      execute: (_, { signal }) => {
        signal.addEventListener('abort', () => undefined)
        return ok('Done.')
      },
    })
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const turns = Array.from({ length: 50 }, () =>
      callsAll(...Array.from({ length: 20 }, () => ['careless', {}] as const)),
    )
    const { run } = prepare([...turns, says('Done.')], {
      sections: [show('door', careless)],
      signal,
      toolTimeoutMs: 1000,
    })
    expect(await run()).toMatchObject({ status: 'completed' })
    await takeTurns(5)
    expect(added.mock.calls.length).toBe(1)
    expect(removed.mock.calls.length).toBe(1)
    expect(warnings).toEqual([])
  })
})
