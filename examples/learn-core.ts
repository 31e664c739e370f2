// Learns which tools to list from the start, based on what clients did with a catalog of hidden tools.
import assert from 'node:assert/strict'
import { createCatalog, hybrid, learnCore, createCatalogRecorder } from 'foldout/catalog'
import { createHome } from './home/home.ts'
import { homeMetadata } from './home/metadata.ts'
import { homeTools } from './home/tools.ts'

const catalog = createCatalog(homeTools(createHome()), { metadata: homeMetadata })
const recorder = createCatalogRecorder(catalog)

type Request = readonly [words: string, tool: string, args: Readonly<Record<string, unknown>>]
const leave: Request = ['run the flow for leaving the house', 'trigger_any_flow', { flow: 'good-night' }]
const night: Request = ['run the good night flow', 'trigger_any_flow', { flow: 'good-night' }]
const warm: Request = ['how warm is it in the bedroom', 'get_states', { zone_id: 'bedroom' }]
const heat: Request = ['turn the heating down', 'set_thermostat', { device_id: 'thermostat-bedroom', mode: 'off' }]
const apps: Request = ['which apps need an update', 'get_installed_apps', { updates_only: true }]

const days = [
  [leave, night],
  [leave, night, warm],
  [leave, night],
  [leave, night, warm, heat],
  [apps, leave, night],
  [leave, night],
]
for (const [number, requests] of days.entries()) {
  const client = hybrid().expose(catalog, { id: `day ${number + 1}`, takesListChanges: false })
  client.listed()
  for (const [words, tool, args] of requests) {
    await client.call('search_tools', { query: words }, {})
    const { isError, content } = await client.call('use_tool', { name: tool, arguments: args }, {})
    assert(!isError, String(content[0]?.['text']))
  }
}

const { core, saved, of, tools } = learnCore(recorder.recording(), { max: 4 })
console.log(`${of.clients} conversations with ${of.uses} uses spent this to find tools, counted in every request:`)
console.log(`  ${of.tokens} tokens and ${of.roundTrips} round trips`)
console.log(`With ${core.join(', ')} listed they would have saved:`)
console.log(`  ${saved.tokens} tokens and ${saved.roundTrips} round trips\n`)
console.log('tool                  uses   saves   costs  listed')
for (const { name, uses, saves, costs, core: isListed } of tools) {
  const figures = [saves.tokens, costs].map((count) => String(count).padStart(7)).join(' ')
  console.log(`${name.padEnd(20)} ${String(uses).padStart(5)} ${figures}  ${isListed ? 'yes' : 'no'}`)
}
assert.deepEqual(core, ['trigger_any_flow'], 'a tool that is used now and then costs more than it saves')
assert(saved.tokens > 0)
assert.equal(saved.roundTrips, 2 * days.length)

const next = hybrid({ core }).expose(catalog, { id: 'next', takesListChanges: false })
console.log(
  `\nhybrid({ core }) lists ${next
    .list()
    .map(({ name }) => name)
    .join(', ')}.`,
)
