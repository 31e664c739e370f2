import { beforeEach, describe, expect, it } from 'vitest'
import type { RunAddress, RunEnd, RunEngine, RunFlow, RunSignal, RunWork } from '../agent/engines/contract.ts'

const DONE: RunEnd = { status: 'done', outcome: 'completed' }
const PATIENCE = { timeout: 15_000, interval: 20 }

/**
 * Tests the required behavior of every engine of durable runs, on vitest. `create` returns a serving engine, each time
 * with other runs or none.
 *
 * @example
 * ```ts
 * engineSuite('createLocalEngine', async () => createLocalEngine())
 * ```
 */
export function engineSuite(name: string, create: () => Promise<RunEngine>): void {
  describe(`${name} runs durable work`, { timeout: 60_000 }, () => {
    let engine: RunEngine
    let kind: string
    const delivered: (RunSignal | undefined)[] = []
    const define = (work: RunWork): void =>
      engine.define(kind, (flow) => {
        delivered.push(flow.wokenBy)
        return work(flow)
      })
    const at = (id: string): RunAddress => ({ kind, id })
    const send = (id: string, key: string, value: unknown = key): Promise<boolean> =>
      engine.signal(at(id), { topic: 'approval', key, value })
    const becomes = async (id: string, status: string): Promise<void> => {
      await expect.poll(async () => (await engine.getStatus(at(id)))?.status, PATIENCE).toBe(status)
    }

    beforeEach(async () => {
      engine = await create()
      kind = `kind-${crypto.randomUUID()}`
      delivered.length = 0
    })

    it('R63 starts a run once, and reports its outcome', async () => {
      define((flow) => flow.step('work', async () => DONE))
      expect(await engine.getStatus(at('one'))).toBeUndefined()
      await Promise.all([engine.start(at('one')), engine.start(at('one'))])
      await becomes('one', 'done')
      await engine.start(at('one'))
      expect(await engine.getStatus(at('one'))).toMatchObject({ id: 'one', status: 'done', outcome: 'completed' })
      expect(delivered).toEqual([undefined])
    })

    it("R63 lets a run wait, and wakes it with the signal's value", async () => {
      define(async (flow) => (flow.wokenBy ? DONE : flow.wait('approval')))
      await engine.start(at('one'))
      await becomes('one', 'waiting')
      expect(await send('one', 'a', { deep: [1, null, 'ä'] })).toBe(true)
      await becomes('one', 'done')
      expect(delivered).toEqual([undefined, { topic: 'approval', key: 'a', value: { deep: [1, null, 'ä'] } }])
    })

    it('R63 accepts the first of ten signals with the same key', async () => {
      define(async (flow) => flow.wait('approval'))
      await engine.start(at('one'))
      await becomes('one', 'waiting')
      const taken = await Promise.all(Array.from({ length: 10 }, (_, i) => send('one', 'same', i)))
      expect(taken.filter(Boolean)).toHaveLength(1)
      await expect.poll(() => delivered.length, PATIENCE).toBe(2)
      await becomes('one', 'waiting')
      expect(await send('one', 'same', 'late')).toBe(false)
      expect(delivered).toHaveLength(2)
    })

    it('R63 does the work of one run piece by piece, and of several runs concurrently', async () => {
      const under = new Map<string, number>()
      let most = 0
      let together = 0
      define(async (flow) => {
        await flow.step('work', async () => {
          under.set(flow.id, (under.get(flow.id) ?? 0) + 1)
          most = Math.max(most, under.get(flow.id) ?? 0)
          together = Math.max(
            together,
            [...under.values()].reduce((sum, n) => sum + n),
          )
          await new Promise((resolve) => setTimeout(resolve, 30))
          under.set(flow.id, (under.get(flow.id) ?? 0) - 1)
        })
        return flow.wait('approval')
      })
      await Promise.all(['one', 'two', 'three'].map((id) => engine.start(at(id))))
      for (const key of ['a', 'b', 'c']) await Promise.all([send('one', key), send('two', key)])
      await expect.poll(() => delivered.length, PATIENCE).toBe(9)
      await becomes('one', 'waiting')
      expect(most).toBe(1)
      expect(together).toBeGreaterThan(1)
    })

    it('R63 says why a run failed, and lets it continue', async () => {
      let isBroken = true
      define(async (flow) => {
        await flow.step('work', async () => {
          if (isBroken) throw new Error('the model is away')
        })
        return DONE
      })
      await engine.start(at('one'))
      await becomes('one', 'failed')
      expect((await engine.getStatus(at('one')))?.error).toContain('the model is away')
      isBroken = false
      await engine.signal(at('one'), { topic: 'resume', key: 'again', value: null })
      await becomes('one', 'done')
    })

    it('R63 cancels a working run, aborts its work, and does not wake it again', async () => {
      const aborted: unknown[] = []
      define(async (flow) => {
        await flow.step('work', (signal) => waitForAbort(signal, aborted))
        return DONE
      })
      await engine.start(at('one'))
      await expect.poll(() => delivered.length, PATIENCE).toBe(1)
      await engine.cancel(at('one'))
      await becomes('one', 'cancelled')
      await expect.poll(() => aborted.length, PATIENCE).toBe(1)
      await send('one', 'a')
      await becomes('one', 'cancelled')
      expect(delivered).toHaveLength(1)
    })

    it('R63 cancels a run that waits, and leaves one that is done', async () => {
      define(async (flow) => (flow.id === 'waits' ? flow.wait('approval') : DONE))
      await Promise.all([engine.start(at('waits')), engine.start(at('ends'))])
      await becomes('waits', 'waiting')
      await becomes('ends', 'done')
      await engine.cancel(at('waits'))
      await engine.cancel(at('ends'))
      await becomes('waits', 'cancelled')
      expect((await engine.getStatus(at('ends')))?.status).toBe('done')
    })

    it('R63 rejects signals to runs that do not exist', async () => {
      define(async () => DONE)
      await expect(send('nobody', 'a')).rejects.toMatchObject({ code: 'run-unknown' })
      await expect(engine.cancel(at('nobody'))).rejects.toMatchObject({ code: 'run-unknown' })
    })

    it('R63 lists runs page by page, whatever their ids', async () => {
      define(async () => DONE)
      const ids = ['plain', 'a/b', '%', "it's", '__proto__', 'Zoë 😀']
      for (const id of ids) await engine.start(at(id))
      for (const id of ids) await becomes(id, 'done')
      const first = await engine.list(kind, { limit: 4 })
      const rest = await engine.list(kind, { offset: 4, limit: 4 })
      expect([...first, ...rest].map(({ id }) => id).sort()).toEqual(ids.toSorted())
      expect([...first, ...rest].map(({ status }) => status)).toEqual(ids.map(() => 'done'))
    })

    it('R63 starts a run later on request', async () => {
      define(async () => DONE)
      await engine.start(at('later'), { delaySeconds: 1 })
      expect((await engine.getStatus(at('later')))?.status).toBe('active')
      expect(delivered).toEqual([])
      await becomes('later', 'done')
    })
  })
}

function waitForAbort(signal: AbortSignal, aborted: unknown[]): ReturnType<RunFlow['step']> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      aborted.push(signal.reason)
      reject(new Error('aborted'))
    })
  })
}
