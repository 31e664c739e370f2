import { createCatalog, hybrid, type RawTool } from 'foldout/catalog'
import { exposeThroughStages } from '../../packages/foldout-mcp/src/gateway/calls/pipeline.ts'
import { createRequestScope } from '../../packages/foldout-mcp/src/gateway/calls/requests/request.fixtures.ts'
import { Results } from '../../packages/foldout-mcp/src/gateway/results/results.ts'
import type { Page } from './page.ts'

const people = Array.from({ length: 1_204 }, (_, i) => ({
  id: i + 1,
  name: `Person ${i + 1}`,
  tags: i % 3 === 0 ? ['new', 'vip'] : [],
  ...(i % 2 === 0 ? { 'last seen': '2026-11-16' } : {}),
}))
const log = Array.from({ length: 5_000 }, (_, i) => `12:00:${i % 60} ${i % 1_000 === 7 ? 'ERROR' : 'ok'} request ${i}`)

const tools: readonly RawTool[] = [
  { name: 'list_people', description: 'Lists people.', call: () => say(JSON.stringify({ people, next: null })) },
  { name: 'read_log', description: 'Reads the log.', call: () => say(log.join('\n')) },
]

async function say(text: string) {
  return { content: [{ type: 'text', text }] }
}

/** What models read of results that are folded. */
export async function writeResults(page: Page): Promise<void> {
  const results = new Results()
  const kept = results.createView('', { getLimit: () => 8_000, getLeast: () => 8_000 })
  const view = exposeThroughStages(hybrid(), createRequestScope(kept)).expose(createCatalog(tools), {
    id: 'reader',
    takesListChanges: true,
  })
  page.heading('Folded results')
  const handles: string[] = []
  const call = async (name: string, args: object, when = JSON.stringify(args)): Promise<void> => {
    const { content, isError } = await view.call(name, args, {})
    let text = content.map((piece) => String(piece['text'])).join('\n')
    const [, handle] = /result: '(\w+)'/.exec(text) ?? []
    if (handle !== undefined) handles.unshift(handle)
    for (const known of handles) text = text.replaceAll(known, 'HANDLE')
    page.text(`${name} ${when}${isError ? ' (error)' : ''}`, text)
  }
  const read = (args: object): Promise<void> =>
    call('read_result', { result: handles[0], ...args }, JSON.stringify({ result: 'HANDLE', ...args }))
  const [listing] = view.list()
  page.text(`tool ${listing?.name}`, `${listing?.description}\n${JSON.stringify(listing?.inputSchema, undefined, 2)}`)
  try {
    await call('use_tool', { name: 'list_people', arguments: {} })
    await read({ max_tokens: 60 })
    await read({ path: '$.people[0:2]' })
    await read({ path: '$.people[?@.id > 1202].name' })
    await read({ path: '$.people[*]', from: 1_204 })
    await read({ path: '$.people[*]', from: 2_000 })
    await read({ path: '$.people[' })
    await read({ path: '$.nobody' })
    await read({ path: '$.people[0]', unit: 'lines' })
    await read({ grep: '"name": "Person 12\\d?"' })
    await read({ grep: 'nobody' })
    await read({ grep: '(' })
    await read({ grep: '(a)\\1' })
    await read({ unit: 'characters', from: -40 })
    await read({ lines: 3 })
    await read({ from: 'two' })
    await call('use_tool', { name: 'read_log', arguments: {} })
    await read({ from: 2_000, count: 2 })
    await read({ from: -2 })
    await read({ grep: 'ERROR', count: 3 })
    await read({ path: '$.people' })
    await call('read_result', { result: 'other' })
    await call('read_result', {})
  } finally {
    await results.close()
  }
}
