import { fail, defineTool, ok } from 'foldout'
import { all, createCatalog, hybrid, metaTool, native, twoPhase, type Exposure, type RawTool } from 'foldout/catalog'
import { code } from 'foldout/code'
import { fileTools } from 'foldout/files'
import * as z from 'zod'
import type { Page } from './page.ts'

const answer = async (text: string) => ({ content: [{ type: 'text', text }] })
const tools: readonly RawTool[] = [
  {
    name: 'water_garden',
    source: 'garden',
    description: 'Waters the garden. It takes a while.',
    inputSchema: {
      type: 'object',
      properties: {
        minutes: { type: 'integer', minimum: 1, maximum: 60 },
        bed: { enum: ['roses', 'herbs'] },
        region: { type: 'string' },
      },
      required: ['minutes'],
      additionalProperties: false,
    },
    call: () => answer('Watered.'),
  },
  { name: 'mow_lawn', source: 'garden', description: 'Mows the lawn.', core: true, call: () => answer('Mown.') },
  { name: 'send_letter', source: 'mail', description: 'Sends a letter.', call: () => answer('Sent.') },
  {
    name: 'rain_radar',
    source: 'weather',
    description: 'Shows where it rains.',
    call: () => Promise.reject(new Error('the radar does not answer')),
  },
]
const own = defineTool({
  name: 'feed_cat',
  description: 'Feeds the cat.',
  params: z.object({ grams: z.number() }),
  execute: ({ grams }) => (grams > 100 ? fail('That is too much for a cat.') : ok('Fed.')),
})

type Call = readonly [name: string, args: unknown]

const search = (args: unknown): Call => ['search_tools', args]
const use = (args: unknown): Call => ['use_tool', args]

const calls: Readonly<Record<string, readonly Call[]>> = {
  all: [['water_gardn', { minutes: 5 }]],
  hybrid: [
    search({ query: 'water the roses' }),
    search({ query: 'mow the lawn', limit: 1 }),
    search({ query: 'water the roses', category: 'plants' }),
    search({ query: 'send a letter', category: 'garden' }),
    search({ query: 'water', limit: 900, detail: 'everything' }),
    search({ query: 'quantum chromodynamics lattice' }),
    search({ query: '' }),
    search({}),
    search({ question: 'water' }),
    use({ name: 'water_garden', arguments: { minutes: 5 } }),
    use({ name: 'water_garden', arguments: '{"minutes": 5}' }),
    use({ name: 'water_garden', arguments: '{"minutes": ' }),
    use({ name: 'water_garden', minutes: 5 }),
    use({ name: 'water_garden', arguments: { minutes: 500, bed: 'tulips' } }),
    use({ name: 'water_garden', arguments: { minutes: 5, who: 'me' } }),
    use({ name: 'water_garden' }),
    use({ name: 'water_gardn', arguments: {} }),
    use({ name: 'xyzzy', arguments: {} }),
    use({ name: 'search_tools', arguments: { query: 'x' } }),
    use({ name: 'mow_lawn', arguments: {} }),
    use({ name: 'rain_radar', arguments: {} }),
    use({ name: 'feed_cat', arguments: { grams: 500 } }),
    use({ tool: 'mow_lawn' }),
    use({}),
    ['water_garden', { minutes: 5 }],
  ],
  metaTool: [
    ['discover_and_use_tool', { action: 'search', query: 'water the roses' }],
    ['discover_and_use_tool', { action: 'discover', query: 'water the roses' }],
    ['discover_and_use_tool', { query: 'water the roses' }],
    ['discover_and_use_tool', { action: 'execute', name: 'water_garden', arguments: { minutes: 5 } }],
    ['discover_and_use_tool', { action: 'dance' }],
    ['discover_and_use_tool', {}],
  ],
  native: [
    ['search_tools', { query: 'water the roses' }],
    ['search_tools', { query: 'water the roses' }],
    ['search_tools', { query: 'xyzzy' }],
  ],
  twoPhase: [
    ['get_tool_definition', { name: 'water_garden' }],
    ['get_tool_definition', { name: 'water_gardn' }],
    ['get_tool_definition', { tool: 'water_garden' }],
  ],
  code: [
    ['look_up_tools', {}],
    ['look_up_tools', { query: 'water the roses' }],
    ['look_up_tools', { paths: ['servers/garden'] }],
    ['look_up_tools', { paths: ['servers/gardn/water_garden.d.ts'] }],
    ['look_up_tools', { path: 'servers/garden' }],
    ['run_code', { code: 'return await garden.water_garden({ minutes: 5 })' }],
    ['run_code', { code: 'return await garden.water_gardn({ minutes: 5 })' }],
    ['run_code', { code: 'return await garden.water_garden({ minutes: 500 })' }],
    ['run_code', { code: 'throw new Error("no luck")' }],
    ['run_code', { code: 'throw Object.create(null)' }],
    ['run_code', { code: 'const x = ;' }],
    ['run_code', { code: 'console.log("hello")' }],
    ['run_code', { program: '1' }],
  ],
}

async function writeExposure(page: Page, exposure: Exposure, made: readonly Call[]): Promise<void> {
  const catalog = createCatalog([...tools, own])
  const view = exposure.expose(catalog, { id: 'reader', takesListChanges: true })
  page.heading(`Catalog, ${exposure.name}()`)
  page.text('instructions', view.instructions)
  for (const tool of view.list().filter(({ name }) => !catalog.tools.some((entry) => entry.name === name))) {
    page.text(`tool ${tool.name}`, `${tool.description}\n${JSON.stringify(tool.inputSchema, undefined, 2)}`)
  }
  for (const [name, args] of made) {
    const result = await view.call(name, args, { addsInPlace: true })
    const text = result.content.map((part) => (typeof part['text'] === 'string' ? part['text'] : `[${part.type}]`))
    page.text(`${name} ${JSON.stringify(args)}${result.isError ? ' (error)' : ''}`, text.join('\n'))
  }
}

export async function writeCatalogs(page: Page): Promise<void> {
  const coding = code()
  const exposures = [all(), hybrid(), metaTool(), native(), twoPhase(), coding]
  for (const exposure of exposures) await writeExposure(page, exposure, calls[exposure.name] ?? [])
  coding.close()
}

export function writeFileTools(page: Page): void {
  page.heading('File tools')
  for (const tool of fileTools()) {
    page.text(`tool ${tool.name}`, `${tool.description}\n${JSON.stringify(tool.inputSchema, undefined, 2)}`)
  }
}
