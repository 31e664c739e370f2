// The same task with each of the four strategies, on a scripted model with and without dynamic tools. What differs is how the
// model is told and what a restart costs; what it has seen and can call in the end is the same.
import assert from 'node:assert/strict'
import { contextFiles, createSession, memoryFilesystem, openOrRead, openSections, readSection, runAgent } from 'foldout'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { question, refunds, supportDesk } from './support/support-desk.ts'

const read = [calls('read_section', { section_key: 'tone' }), calls('read_section', { section_key: 'refunds' })]
const open = [
  calls('open_sections', { section_keys: ['tone'], reason: 'How do we write?' }),
  calls('open_sections', { section_keys: ['refunds'], reason: 'The customer wants a refund.' }),
]
const end = [calls('refund_order', { order: 'A-17' }), says('Order A-17 is refunded.')]

const strategies = [
  { disclosure: readSection(), script: [...read, ...end] },
  { disclosure: openSections(), script: [...open, ...end] },
  { disclosure: openOrRead(), script: [read[0]!, open[1]!, ...end] },
  { disclosure: contextFiles(), script: [...open, ...end] },
]

console.log('strategy       dynamic tools  requests  restarts')
for (const { disclosure, script } of strategies) {
  for (const supportsDynamicTools of [true, false]) {
    const adapter = scriptedAdapter(script, { supportsDynamicTools })
    const session = createSession({ slices: [refunds] })
    const filesystem = memoryFilesystem()
    const bound = supportDesk.bind({ shop: 'Lampworks' })
    const result = await runAgent(bound, { adapter, session, disclosure, filesystem, input: question })
    console.log(
      `${disclosure.name.padEnd(13)}  ${String(supportsDynamicTools).padEnd(13)}  ${String(adapter.requests.length).padEnd(8)}  ${result.expansions}`,
    )
    adapter.assertDone()
    assert.deepEqual(session.get(refunds), ['A-17'])
    const seen = [
      ...adapter.requests.map(({ system }) => system),
      ...result.messages.map((message) => ('text' in message ? message.text : '')),
    ]
    if (disclosure.name === 'contextFiles') seen.push(await filesystem.read('context/tone.md'))
    assert(seen.join('\n').includes('Do not apologise twice.'), 'the folded text was shown')
  }
}
