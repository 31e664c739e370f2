// Records a run with one line of code, and continues from the middle of it, as `foldout inspect runs.jsonl` can too.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runAgent } from 'foldout'
import { recordRun, type RunLine } from 'foldout/node'
import { createPaidModel } from './inspector/paid-model.ts'
import { travelDesk } from './inspector/travel-desk.ts'

const adapter = createPaidModel([
  { calls: [['find_booking', { booking: 'QX4T2' }]] },
  { calls: [['read_section', { section_key: 'changes' }]] },
  { calls: [['read_section', { section_key: 'changes.fares' }]] },
  { calls: [['rebook_flight', { booking: 'QX4T2', flight: 'TP763', date: '2026-12-05' }]] },
  { says: 'QX4T2 is moved to TP763 on 5 December. Your Flex fare covers it, so there is nothing to pay.' },
])
const input = 'I am on QX4T2 to Lisbon on 4 December. Can I fly a day later? What does that cost?'

const folder = await mkdtemp(join(tmpdir(), 'foldout-'))
const file = process.argv[2] ?? join(folder, 'runs.jsonl')

const recorder = recordRun({ to: file })
const { text } = await runAgent(travelDesk, { adapter, input, onEvent: recorder.onEvent })
await recorder.saved()

const lines = (await readFile(file, 'utf8'))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as RunLine)
for (const { event } of lines) {
  if (event.type === 'request/sent') console.log(`request with ${event.tools.join(', ')}`)
  if (event.type === 'tool/invoked') console.log(`  ${event.name}: ${event.message.split('\n')[0]}`)
}
console.log(text)

const opened = lines.flatMap(({ event }) =>
  event.type === 'tool/invoked' && event.disclosure ? event.disclosure.keys : [],
)
assert.deepEqual(opened, ['changes', 'changes.fares'])
assert.equal(new Set(lines.map(({ run }) => run)).size, 1)
assert(lines.some(({ event }) => event.type === 'prompt/rendered' && event.toolsInFolds['rebook_flight'] === 'changes'))
await rm(folder, { recursive: true })
