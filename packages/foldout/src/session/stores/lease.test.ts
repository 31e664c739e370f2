import { describe, expect, it } from 'vitest'
import type { FoldoutError } from '../../core/errors.ts'
import { holdLease, type HeldLease, type LeaseOptions, type LeaseRequest } from './lease.ts'
import { createMemoryStore } from './memory-store.ts'
import type { SessionStore } from './store.ts'

/** A process with a clock of its own, which may stand still. */
function createProcess(store: SessionStore) {
  const waits = new Set<() => void>()
  const lost: FoldoutError[] = []
  const ended = new AbortController()
  const pause: LeaseRequest['pause'] = (_ms, signal) =>
    new Promise((resolve) => {
      const end = (): void => {
        waits.delete(end)
        signal.removeEventListener('abort', end)
        resolve()
      }
      waits.add(end)
      signal.addEventListener('abort', end)
    })
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    lost,
    ended,
    hold: (options: LeaseOptions = {}): Promise<HeldLease> =>
      holdLease({
        ...options,
        store,
        id: 'one',
        signal: ended.signal,
        onLost: (error) => void lost.push(error),
        pause,
      }),
    /** Lets a fifth of the time of a lease pass for this process. */
    async tick(): Promise<void> {
      await settle()
      for (const end of waits) end()
      await settle()
    },
  }
}
type Process = ReturnType<typeof createProcess>

function stage(): { readonly store: SessionStore; readonly one: Process; readonly other: Process } {
  const store = createMemoryStore()
  return { store, one: createProcess(store), other: createProcess(store) }
}
async function tick(times: number, ...processes: readonly Process[]): Promise<void> {
  for (let n = 0; n < times; n++) for (const process of processes) await process.tick()
}
const getCode = (error: { readonly code: string }): string => error.code

describe('R39 the lease of a session', () => {
  it('R39 is refused while its holder lives, as soon as it has shown that', async () => {
    const { one, other } = stage()
    await one.hold()
    const refused = other.hold().catch(getCode)
    await tick(2, one, other)
    expect(await refused).toBe('run-busy')
    expect(one.lost).toEqual([])
  })

  it('R39 is taken over when its holder is silent, and the holder stops when it wakes up', async () => {
    const { one, other } = stage()
    await one.hold()
    const taken = other.hold()
    await tick(6, other)
    expect((await taken).isTaken).toBe(true)
    await tick(1, one)
    expect(one.lost.map(getCode)).toEqual(['lease-lost'])
    await tick(5, other, one)
    expect(other.lost).toEqual([])
  })

  it('R39 is not taken over early, however fast the clock of the holder or the watcher is', async () => {
    const { one, other } = stage()
    await one.hold()
    const waiting = other.hold({ ifHeld: 'wait' })
    for (let round = 0; round < 20; round++) {
      await tick(5, other)
      await tick(1 + (round % 3), one)
    }
    other.ended.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(one.lost).toEqual([])
  })

  it('R39 goes to the one who waits once it is released', async () => {
    const { one, other } = stage()
    const held = await one.hold()
    const waiting = other.hold({ ifHeld: 'wait' })
    await tick(3, one, other)
    await held.release()
    await tick(1, other)
    expect((await waiting).isTaken).toBe(true)
    expect((await createProcess(createMemoryStore()).hold()).isTaken).toBe(false)
  })

  it('R39 is taken at once by an engine that knows better', async () => {
    const { one, other } = stage()
    await one.hold()
    await other.hold({ ifHeld: 'take' })
    await tick(1, one)
    expect(one.lost.map(getCode)).toEqual(['lease-lost'])
  })

  it('R39 is kept while the store is away for a moment, and if the answer to a renewal is lost', async () => {
    const kept = createMemoryStore()
    let fault: 'before' | 'after' | undefined
    const store: SessionStore = {
      ...kept,
      async swapLease(...given) {
        if (fault === 'before') throw new Error('away')
        const held = await kept.swapLease(...given)
        if (fault === 'after') throw new Error('answer lost')
        return held
      },
    }
    const one = createProcess(store)
    const held = await one.hold()
    for (const now of ['before', undefined, 'after', undefined] as const) {
      fault = now
      await tick(1, one)
    }
    expect(one.lost).toEqual([])
    await held.release()
    expect(await kept.swapLease('one', undefined, undefined)).toBeUndefined()
  })

  it('R39 is lost with its session', async () => {
    const { store, one } = stage()
    await one.hold()
    await store.delete('one')
    await tick(1, one)
    expect(one.lost.map(getCode)).toEqual(['lease-lost'])
  })
})
