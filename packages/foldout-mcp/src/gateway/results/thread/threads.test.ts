import { afterEach, expect, it } from 'vitest'
import type { ReadingJob, ResultSource } from './job.ts'
import { ReadingThreads } from './threads.ts'

let threads: ReadingThreads
afterEach(() => threads.close())

const source: ResultSource = { text: JSON.stringify(Array.from({ length: 2_000 }, (_, i) => ({ i }))) }
const read = (path: string): ReadingJob => ({
  type: 'read',
  reading: { path, from: 1, ignoreCase: false, characters: 1_000 },
  isJson: true,
})
// For each item, looks at each item, and for each of these at everything.
const SLOW = read('$[?count($[?count($..*) < 0]) > 0]')

it('the reads of one client do not keep another one waiting', async () => {
  threads = new ReadingThreads()
  const stop = new AbortController()
  const done: string[] = []
  const slow = Array.from({ length: 4 }, async () => {
    await threads.run(source, SLOW, { reader: 'ada', signal: stop.signal })
    done.push('slow')
  })
  const answer = await threads.run(source, read('$[1999].i'), { reader: 'eve' })
  done.push('quick')
  expect(answer).toMatchObject({ entries: [{ text: '1999' }] })
  expect(done).toEqual(['quick'])
  stop.abort()
  await Promise.all(slow)
  expect(done).toHaveLength(5)
  // The next read of the same client is not affected by those that were canceled.
  expect(await threads.run(source, read('$[0].i'), { reader: 'ada' })).toMatchObject({ entries: [{ text: '0' }] })
}, 60_000)
