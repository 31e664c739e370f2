import { definePrompt, defineSection } from '../../entries/index.ts'
import { withLock } from './lock.ts'
import { createOverrideStore } from './store.ts'

/** A prompt with enough sections for several writers. */
export const shared = definePrompt({
  ns: 'test',
  key: 'shared',
  sections: Array.from({ length: 100 }, (_, i) => defineSection({ key: `s${i}`, title: 'S', template: `Text ${i}.` })),
})

// Run as a program: `write <root> <from>` rewords 25 sections on request, `hold <lock>` never releases a lock.
const [task, target, from] = process.argv.slice(2)
if (process.send && task === 'write') {
  process.once('message', () => void write(target!, Number(from)))
  process.send('ready')
}
if (process.send && task === 'hold') {
  await withLock(target!, async () => {
    process.send!('held')
    // Until the process is killed.
    await new Promise(() => setInterval(() => undefined, 60_000))
  })
}

async function write(root: string, first: number): Promise<void> {
  const store = createOverrideStore({ root })
  for (let i = first; i < first + 25; i++) {
    await store.upsert(shared, { tag: 'stable', section: { path: `s${i}`, body: `New ${i}.` } })
  }
  process.disconnect()
}
