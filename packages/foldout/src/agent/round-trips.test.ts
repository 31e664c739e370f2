import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createMemoryStore, defineTool, ok, openSession, runAgent } from '../entries/index.ts'
import type { SessionStore } from '../entries/session.ts'
import { calls, callsAll, says, type ScriptStep } from '../testing/scripted-adapter.ts'
import { prepare, show } from './run.fixtures.ts'

/** A store that counts the queries a database would receive. */
function countingStore() {
  const store = createMemoryStore()
  const asked: string[] = []
  const counting: SessionStore = {
    ...store,
    append: (id, events) => {
      asked.push(events.map(({ event }) => event.type).join(' '))
      return store.append(id, events)
    },
    save: (id, snapshot, sequence) => {
      asked.push('save')
      return store.save(id, snapshot, sequence)
    },
  }
  return { store: counting, asked }
}

const work = defineTool({
  name: 'work',
  description: 'Works.',
  params: z.object({ n: z.number() }),
  execute: async ({ n }) => {
    await new Promise((resolve) => setImmediate(resolve))
    return ok(`did ${n}`)
  },
})

async function countTrips(script: readonly ScriptStep[]): Promise<readonly string[]> {
  const { bound, adapter } = prepare(script, { sections: [show('desk', work)] })
  const { store, asked } = countingStore()
  const session = await openSession({ store, id: 'one' })
  await runAgent(bound, { adapter, session, input: 'Go.' })
  return asked
}

describe('R62 a turn of the model', () => {
  const turns = 6
  it.each([
    { what: 'one call', turn: (n: number) => calls('work', { n }) },
    { what: 'four calls', turn: (n: number) => callsAll(...[0, 1, 2, 3].map(() => ['work', { n }] as const)) },
  ])('R62 costs two round trips with $what: before the calls begin, and after they have ended', async ({ turn }) => {
    const fewer = await countTrips([...Array.from({ length: turns - 1 }, (_, n) => turn(n)), says('Done.')])
    const more = await countTrips([...Array.from({ length: turns }, (_, n) => turn(n)), says('Done.')])
    expect(more.length - fewer.length).toBe(2)
    // In addition to the turns: the start of the conversation, the names of the slices, and the answer.
    expect(more.length).toBeLessThanOrEqual(2 * turns + 3)
  })
})
