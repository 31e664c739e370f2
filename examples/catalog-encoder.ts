// A catalog with an encoder: tools are embedded in the background, vectors are kept in a file, and no search waits for them. The encoder
// here is a toy that runs anywhere; use `createMiniLm()` from foldout/minilm instead.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalog, type Encoder, type RawTool } from 'foldout/catalog'
import { createVectorFile } from 'foldout/node'

const tools: readonly RawTool[] = [
  { name: 'thermostat_set', description: 'Sets the target temperature of a room.' },
  { name: 'invoice_send', description: 'Sends an invoice to a customer.' },
  { name: 'calendar_add', description: 'Creates an appointment.' },
]

/** Texts about the same topic are close. A real encoder has hundreds of dimensions and needs no word list. */
const TOPICS = [/warm|cold|freez|temperature/i, /bill|charge|invoice/i, /meet|appointment|calendar/i]
let embedded = 0
const folder = mkdtempSync(join(tmpdir(), 'foldout-example-'))
const encoder: Encoder = {
  model: 'topics 1',
  embed: async (texts, { kind }) => {
    if (kind === 'tool') embedded += texts.length
    return texts.map((text) => TOPICS.map((topic) => (topic.test(text) ? 1 : 0.1)))
  },
  cache: createVectorFile(join(folder, 'vectors')),
}

title('A search does not wait for vectors')
const catalog = createCatalog(tools, { embed: encoder })
const early = await catalog.search('temperature of a room')
console.log(`${early.hits[0]?.tool.name}, by ${early.meaning}: ${early.withoutEncoder}`)
assert.equal(early.hits[0]?.tool.name, 'thermostat_set')
assert.equal(early.meaning, 'word-vectors')

title('With vectors, it finds tools by meaning')
const readiness = await catalog.ready()
const { hits, meaning } = await catalog.search('I am freezing')
console.log(`${hits[0]?.tool.name}, by ${meaning}`)
assert.deepEqual(readiness, { meaning: 'encoder', withoutEncoder: undefined })
assert.equal(hits[0]?.tool.name, 'thermostat_set')

title('Each text is embedded once')
catalog.add([{ name: 'mail_send', description: 'Sends a letter.' }])
await catalog.ready()
await createCatalog(tools, { embed: encoder }).ready()
console.log(`${embedded} texts were embedded for 7 tools in two catalogs`)
assert.equal(embedded, 4)

title('Without its encoder, a search still works')
const broken = createCatalog(tools, { embed: () => Promise.reject(new Error('no network')) })
broken.subscribe((event) => event.type === 'search/problem' && console.log(`reported once: ${event.message}`))
await broken.ready()
const late = await broken.search('temperature of a room')
assert.equal(late.hits[0]?.tool.name, 'thermostat_set')
assert.match(late.withoutEncoder ?? '', /no network/)

rmSync(folder, { recursive: true })

function title(text: string): void {
  console.log(`\n━━ ${text} ━━\n`)
}
