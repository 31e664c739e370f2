import {
  createCatalog,
  formatSignature,
  hybrid,
  metaTool,
  readCatalogRecording,
  twoPhase,
  type RawTool,
} from 'foldout/catalog'
import { readRecording } from 'foldout/telemetry'
import { jsonDoor, textDoor, type AnyDoor } from './door.ts'

const answer = async () => ({ content: [{ type: 'text' as const, text: 'Done.' }] })
const raw = (tool: Partial<RawTool>): RawTool => ({ name: 'a', description: 'Lists orders.', call: answer, ...tool })
const catalog = createCatalog(
  Array.from({ length: 40 }, (_, index) =>
    raw({ name: `list_orders_${index}`, source: 'shop', description: 'Lists the open orders of a day.' }),
  ),
)
const client = { id: 'doors', takesListChanges: true }
const exposures = [hybrid(), metaTool(), twoPhase()].map((exposure) => exposure.expose(catalog, client))

async function callMetaTools(args: unknown): Promise<void> {
  for (const exposed of exposures) for (const { name } of exposed.list()) await exposed.call(name, args, {})
}

/** Adds a tool to a catalog, finds it and shows it, as a client's first requests do. */
async function useTool(tool: RawTool): Promise<void> {
  const own = createCatalog([tool, raw({ name: 'other' })])
  const exposed = hybrid().expose(own, client)
  exposed.list()
  await exposed.call('search_tools', { query: 'orders' }, {})
  await own.call('a', { a: 'aaaaaaaaaaaaaaaa!' })
}

/** A value whose fields all throw when they are read. */
function withThrowingGetters(json: unknown): unknown {
  const get = (): never => {
    throw new Error('A getter threw.')
  }
  const value = {}
  const names = ['name', 'description', 'type', 'properties', ...Object.keys(Object(json) as object).slice(0, 50)]
  for (const name of new Set(names)) Object.defineProperty(value, name, { get, enumerable: true })
  return value
}

export const catalogDoors: readonly AnyDoor[] = [
  textDoor('search, the query', (query) => catalog.search(query)),
  textDoor('search_tools, the query', (query) => exposures[0]?.call('search_tools', { query }, {})),
  textDoor('search_tools, the category', (category) =>
    exposures[0]?.call('search_tools', { query: 'orders', category }, {}),
  ),
  textDoor('use_tool, the name', (name) => exposures[0]?.call('use_tool', { name }, {})),
  textDoor('use_tool, arguments as text', (args) =>
    exposures[0]?.call('use_tool', { name: 'list_orders_1', arguments: args }, {}),
  ),
  textDoor('a call by name', (name) => exposures[0]?.call(name, {}, {})),
  jsonDoor('arguments of meta tools', callMetaTools),
  jsonDoor('use_tool, the arguments', (args) =>
    exposures[0]?.call('use_tool', { name: 'list_orders_1', arguments: args }, {}),
  ),
  textDoor('name of a tool', (name) => createCatalog([raw({ name }), raw({ name: `${name}b` })]).tools),
  textDoor('description of a tool', (description) => useTool(raw({ description }))),
  textDoor('title, category and tags of a tool', (text) => useTool(raw({ title: text, category: text, tags: [text] }))),
  textDoor('source of a tool', (source) => useTool(raw({ source }))),
  jsonDoor('input schema of a tool', (schema) => useTool(raw({ inputSchema: schema as Record<string, unknown> }))),
  jsonDoor('output schema of a tool', (schema) => useTool(raw({ outputSchema: schema as Record<string, unknown> }))),
  jsonDoor('a definition', (json) => createCatalog([json as RawTool]).tools),
  jsonDoor('a definition whose getters throw', (json) => createCatalog([withThrowingGetters(json) as RawTool]).tools),
  jsonDoor('a schema whose getters throw', (json) =>
    useTool(raw({ inputSchema: withThrowingGetters(json) as Record<string, unknown> })),
  ),
  jsonDoor('definitions', (json) => createCatalog((Array.isArray(json) ? json : [json]) as RawTool[]).tools),
  jsonDoor('result of a tool', (json) => createCatalog([raw({ call: async () => json as never })]).call('a', {})),
  jsonDoor('what an upstream throws', (json) =>
    createCatalog([raw({ call: () => Promise.reject(json) })]).call('a', {}),
  ),
  jsonDoor('signature', (schema) =>
    formatSignature({ name: 'a', inputSchema: schema as Record<string, unknown>, outputSchema: undefined }),
  ),
  jsonDoor('number of tools', async (json) => {
    const count = Array.isArray(json) ? json.length : 1
    const own = createCatalog(Array.from({ length: count }, (_, index) => raw({ name: `tool_${index}` })))
    hybrid().expose(own, client).list()
  }),
  jsonDoor('recording of runs', (json) => readRecording(json)),
  jsonDoor('recording of a catalog', (json) => readCatalogRecording(json)),
]
