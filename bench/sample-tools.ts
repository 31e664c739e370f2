import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RawTool } from 'foldout/catalog'
import { DATA_FOLDER, readLines } from './search-data.ts'

/** Real tools of some two thousand MCP servers with their schemas, or invented ones if the data is missing. */
export function sampleTools(): { readonly tools: readonly RawTool[]; readonly origin: string } {
  const file = join(DATA_FOLDER, 'toucan-corpus', 'tools.jsonl')
  if (!existsSync(file)) return { tools: madeTools(2_000), origin: 'made-up tools' }
  return { tools: (readLines(file) as readonly RawTool[]).map(withSource), origin: 'real tools' }
}

/** `server/tool`, split. */
function withSource(tool: RawTool): RawTool {
  const slash = tool.name.indexOf('/')
  return slash === -1 ? tool : { ...tool, source: tool.name.slice(0, slash), name: tool.name.slice(slash + 1) }
}

const THINGS = [
  'invoice',
  'customer',
  'order',
  'ticket',
  'message',
  'calendar event',
  'file',
  'deployment',
  'contact',
  'task',
]
const ACTIONS = ['create', 'update', 'delete', 'list', 'search', 'export', 'archive', 'share', 'approve', 'summarize']

/** Every action on every thing, at as many services as it takes. */
function madeTools(count: number): RawTool[] {
  return Array.from({ length: count }, (_, i) => {
    const thing = THINGS[i % 10]!
    const action = ACTIONS[Math.floor(i / 10) % 10]!
    const service = `service-${Math.floor(i / 100) + 1}`
    return {
      source: service,
      name: `${action}_${thing.replaceAll(' ', '_')}`,
      description: `${action[0]!.toUpperCase()}${action.slice(1)} one ${thing} or several in ${service}. Returns what was done.`,
      inputSchema: {
        type: 'object',
        properties: {
          id: { type: 'string', description: `The id of the ${thing}` },
          fields: { type: 'array', items: { type: 'string' }, description: 'Which fields to return' },
          limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          dry_run: { type: 'boolean', description: 'Only say what would be done' },
        },
        required: ['id'],
      },
    }
  })
}
