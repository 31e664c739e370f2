// The same task with each of the four strategies, with and without dynamic tools, on a scripted model or, if OPENAI_API_KEY is
// set, on a real one. The instructions for the model and the cost of a restart differ; what the model has seen and can call at
// the end is the same.
import assert from 'node:assert/strict'
import { contextFiles, createSession, openOrRead, openSections, readSection, runAgent } from 'foldout'
import { createMemoryFilesystem } from 'foldout/files'
import { openai } from 'foldout/openai'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { question, refunds, supportDesk, supportDeskWithFiles } from './support/support-desk.ts'

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

const apiKey = process.env['OPENAI_API_KEY']

console.log('strategy       dynamic tools  requests  restarts')
for (const { disclosure, script } of strategies) {
  for (const supportsDynamicTools of [true, false]) {
    const scripted = scriptedAdapter(script, { supportsDynamicTools })
    const adapter = apiKey ? { ...openai({ model: 'gpt-5', apiKey }), supportsDynamicTools } : scripted
    const session = createSession({ slices: [refunds] })
    const filesystem = createMemoryFilesystem()
    const prompt = disclosure.name === 'contextFiles' ? supportDeskWithFiles : supportDesk
    const seen: string[] = []
    let requests = 0
    const result = await runAgent(prompt.bind({ shop: 'Lampworks' }), {
      adapter,
      session,
      disclosure,
      filesystem,
      input: question,
      onEvent: (event) => (requests += event.type === 'request/sent' ? 1 : 0),
    })
    console.log(
      `${disclosure.name.padEnd(13)}  ${String(supportsDynamicTools).padEnd(13)}  ${String(requests).padEnd(8)}  ${result.expansions}`,
    )
    // The behavior of a real model is not predictable.
    if (apiKey) continue
    scripted.assertDone()
    assert.deepEqual(session.get(refunds), ['A-17'])
    for (const { system } of scripted.requests) seen.push(system)
    for (const message of result.messages) if ('text' in message) seen.push(message.text)
    if (disclosure.name === 'contextFiles') seen.push(await filesystem.read('context/tone.md'))
    assert(seen.join('\n').includes('Do not apologize twice.'), 'the folded text was shown')
  }
}
