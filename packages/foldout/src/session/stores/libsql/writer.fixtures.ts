import { defineSlice } from '../../slice.ts'
import { openSession } from '../open-session.ts'
import { createLibsqlStore } from './libsql-store.ts'

export const counter = defineSlice({
  name: 'counter',
  initial: 0,
  reducers: { counted: (_state, payload: number) => payload },
})

/** Counts up in its own session, and waits until each number is written. */
export async function countUp(path: string, id: string, upTo: number): Promise<void> {
  const store = await createLibsqlStore({ path })
  const session = await openSession({ store, id, slices: [counter] })
  for (let n = session.get(counter) + 1; n <= upTo; n++) {
    session.dispatch(counter.events.counted(n))
    await session.saved()
    if (n % 20 === 0) await session.compact()
  }
  await store.close()
}

const [, script, path, id, upTo] = process.argv
if (script === import.meta.filename && path && id && upTo) await countUp(path, id, Number(upTo))
