// One catalog with every exposure: which tools are listed, and what that costs.
import assert from 'node:assert/strict'
import { all, auto, createCatalog, hybrid, metaTool, twoPhase, type Exposure } from 'foldout/catalog'
import { code } from 'foldout/code'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { createHome } from './home/home.ts'
import { coreTools, homeMetadata } from './home/metadata.ts'
import { homeTools } from './home/tools.ts'

const home = createHome()
const tools = homeTools(home).map((tool) => ({ ...tool, source: 'home' }))
const catalog = createCatalog(tools, { metadata: homeMetadata })
const core = [...coreTools]
const counter = await gptTokenizer()

const lists = new Map<string, readonly string[]>()
console.log('exposure                   tokens  lists')
show('all()', all())
show('auto()', auto({ core }))
show('auto({ maxTools: 10 })', auto({ core, maxTools: 10 }))
show('hybrid({ core })', hybrid({ core }))
show('hybrid()', hybrid())
show('metaTool({ core })', metaTool({ core }))
show('twoPhase({ core })', twoPhase({ core }))
const programs = code()
show('code()', programs)

assert.equal(lists.get('all()')!.length, 14)
assert.deepEqual(lists.get('auto()'), lists.get('all()'), 'fourteen tools are cheap to list')
assert.deepEqual(lists.get('auto({ maxTools: 10 })'), lists.get('hybrid({ core })'))
assert.deepEqual(lists.get('hybrid()'), ['search_tools', 'use_tool'])

// With twoPhase, a tool is added to the list once the model has requested its definition, if the client's list can change.
const client = twoPhase({ core }).expose(catalog, { id: 'demo', takesListChanges: true })
client.onListChanged(() => console.log('\nThe list has changed: it ends with'))
const { content } = await client.call('get_tool_definition', { name: 'set_light' }, {})
const joined = client.list().map(({ name }) => name)
console.log(
  `${joined.slice(-4).join(', ')}\n\nget_tool_definition answered: ${String(content[0]!['text']).slice(0, 120)} …`,
)
assert(joined.includes('set_light'))

// With code, the model writes programs that run in a sandbox: three rooms in one call, and only the requested result comes back.
const program = `
  for (const zone_id of ['kitchen', 'bedroom', 'office']) await home.control_zone_lights({ zone_id, brightness: 20 })
  const states = await home.get_states({ capability: 'dim' })
  return states.split('\\n').filter((line) => line.endsWith('dim 0.2')).length + ' lights are at 20 %'`
const answer = await programs
  .expose(catalog, { id: 'demo', takesListChanges: false })
  .call('run_code', { code: program }, {})
console.log(`\nrun_code ${program}\n\nanswered: ${String(answer.content[0]!['text'])}`)
assert.equal(answer.content[0]!['text'], '5 lights are at 20 %')
assert.equal(home.device('light-office-desk')!.state['dim'], 0.2)
programs.close()

// With every exposure, approvals and recordings see the tool that is actually run.
for (const [exposure, name, args] of [
  [hybrid(), 'use_tool', { name: 'set_light', arguments: { on: true } }],
  [metaTool(), 'discover_and_use_tool', { action: 'execute', tool_name: 'set_light', tool_args: { on: true } }],
] as const) {
  const target = exposure.expose(catalog, { id: 'demo', takesListChanges: false }).target(name, args)!
  assert.deepEqual([target.entry.name, target.arguments], ['set_light', { on: true }])
}

function show(label: string, exposure: Exposure): void {
  const exposed = exposure.expose(catalog, { id: label, takesListChanges: true })
  const listed = exposed.list()
  const names = listed.map(({ name }) => name)
  const tokens = listed.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + counter.count(JSON.stringify({ name, description, inputSchema })),
    counter.count(exposed.instructions),
  )
  const text = names.length > 6 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
  console.log(`${label.padEnd(25)} ${tokens.toLocaleString('en').padStart(7)}  ${text}`)
  lists.set(label, names)
}
