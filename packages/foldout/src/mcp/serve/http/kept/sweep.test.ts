import { afterEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../../../catalog/live/catalog.ts'
import { createMemoryStore } from '../../../../session/stores/memory-store.ts'
import type { SessionStore } from '../../../../session/stores/store.ts'
import { serveMcp } from '../../serve-mcp.ts'

const closes: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

const SESSIONS = 1200
const event = { type: 'mcp-client/used', payload: null }

/** A server whose store has many sessions that nobody uses, one that somebody does, and one of another program. */
async function serve(store: SessionStore): Promise<void> {
  for (let i = 0; i < SESSIONS; i++) await store.append(`mcp/home/${i}`, [{ sequence: 1, event, scope: 'all' }])
  await store.append('mcp/home/used', [{ sequence: 1, event, scope: 'all' }])
  await store.append('notes', [{ sequence: 1, event, scope: 'all' }])
  const served = serveMcp(createCatalog([]), { name: 'home', version: '1.0.0', sessions: { store, idleMs: 400 } })
  await served.http()
  let sequence = 1
  const using = setInterval(
    () => void store.append('mcp/home/used', [{ sequence: ++sequence, event, scope: 'all' }]),
    10,
  )
  closes.push(async () => {
    clearInterval(using)
    await served.close()
  })
}

describe('R65 sessions that nobody uses', () => {
  it('are ended without loading those that are used, or all of them again and again', async () => {
    const store = createMemoryStore()
    const loaded: string[] = []
    await serve({
      ...store,
      load: (id) => {
        loaded.push(id)
        return store.load(id)
      },
    })
    await expect.poll(() => store.list(), { timeout: 30_000 }).toEqual(['mcp/home/used', 'notes'])
    expect(loaded).toHaveLength(SESSIONS)
    expect(new Set(loaded).size).toBe(SESSIONS)
  })

  it('are ended in a store that cannot say where they end', async () => {
    const { listEnds: _, ...store } = createMemoryStore()
    await serve(store)
    await expect.poll(() => store.list(), { timeout: 30_000 }).toEqual(['mcp/home/used', 'notes'])
  })

  it('are not ended if they were used while others were looked at', async () => {
    const store = createMemoryStore()
    let sweeps = 0
    let usedIn: number | undefined
    let endedIn: number | undefined
    await serve({
      ...store,
      listEnds: async (page) => {
        if (page?.after === 'mcp/home/') sweeps++
        return (await store.listEnds?.(page)) ?? []
      },
      async load(id) {
        // Another machine writes after the page was read.
        if (id === 'mcp/home/7' && usedIn === undefined) {
          usedIn = sweeps
          await store.append(id, [{ sequence: 2, event, scope: 'all' }])
        }
        return store.load(id)
      },
      async delete(id) {
        if (id === 'mcp/home/7') endedIn = sweeps
        await store.delete(id)
      },
    })
    await expect.poll(() => endedIn, { timeout: 30_000 }).toBeDefined()
    expect(endedIn).toBeGreaterThan(usedIn ?? Infinity)
  })
})
