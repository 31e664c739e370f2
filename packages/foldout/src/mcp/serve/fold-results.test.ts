import { afterEach, describe, expect, it, vi } from 'vitest'
import { all } from '../../catalog/exposures/all.ts'
import { hybrid } from '../../catalog/exposures/hybrid.ts'
import { metaTool } from '../../catalog/exposures/meta-tool.ts'
import { twoPhase } from '../../catalog/exposures/two-phase.ts'
import { createCatalog } from '../../catalog/live/catalog.ts'
import type { CallResult, RawTool } from '../../catalog/tool.ts'
import { allKinds, getText, inMemory, overHttp, type ClientKind, type TestClient } from './clients.fixtures.ts'
import type { ServeMcpOptions } from './contract/options.ts'
import { createMemoryResults } from './results/fold-results.ts'
import { serveMcp } from './serve-mcp.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const one of open.splice(0).toReversed()) await one.close()
})

const LINES = Array.from({ length: 3_000 }, (_, line) => `order ${line}: ${(line * 7_919) % 1_000} euros`)
const ORDERS = LINES.map((text, id) => ({ id, text }))

const say = (text: string): CallResult => ({ content: [{ type: 'text', text }] })
const tools: readonly RawTool[] = [
  { name: 'list_orders', description: 'Lists the orders.', call: async () => say(LINES.join('\n')) },
  { name: 'get_orders', description: 'Returns the orders.', call: async () => say(JSON.stringify(ORDERS)) },
  { name: 'count_orders', description: 'Counts the orders.', call: async () => say('3,000') },
  {
    name: 'check_orders',
    description: 'Checks the orders.',
    outputSchema: { type: 'object', properties: { orders: { type: 'array' } }, required: ['orders'] },
    call: async () => ({ content: [], structuredContent: { orders: ORDERS } }),
  },
]

const NAMES = tools.map(({ name }) => name).toSorted()

async function connect(options: Partial<ServeMcpOptions> = {}, kind: ClientKind = 'v1 client'): Promise<TestClient> {
  const served = serveMcp(createCatalog(tools), { name: 'home', version: '1.0.0', foldResults: 1_000, ...options })
  open.push(served)
  const client = await inMemory(served, kind)
  open.push(client)
  return client
}

const getHandle = (result: CallResult): string => /result: '([0-9a-f]{24})'/.exec(getText(result))?.[1] ?? ''

describe('R68 a server folds large results', () => {
  it.each(allKinds)('and the %s reads parts of them', async (kind) => {
    const client = await connect({ expose: all() }, kind)
    expect((await client.list()).tools.map(({ name }) => name)).toEqual(['read_result', ...NAMES])
    const folded = await client.call('list_orders')
    expect(getText(folded)).toMatch(/^This result is folded: text with 3,000 lines/)
    expect(getText(folded).length).toBeLessThan(4_000)
    const result = getHandle(folded)
    expect(getText(await client.call('read_result', { result, from: 2_001, count: 1 }))).toContain(LINES[2_000])
    expect(getText(await client.call('read_result', { result, grep: '^order 2718:' }))).toContain(LINES[2_718])
    const json = getHandle(await client.call('get_orders'))
    expect(getText(await client.call('read_result', { result: json, path: '$[2999].text' }))).toContain(LINES[2_999])
    expect(getText(await client.call('count_orders'))).toBe('3,000')
  })

  it.each([hybrid(), metaTool(), twoPhase()])('$name: of tools that are called through another one', async (expose) => {
    const client = await connect({ expose })
    const { tools: listed } = await client.list()
    const names = listed.map(({ name }) => name)
    expect(names[0]).toBe('read_result')
    const use = names.find((name) => name === 'use_tool' || name === 'discover_and_use_tool') ?? ''
    const inner = { action: 'execute', tool_name: 'list_orders', tool_args: {} }
    const isOneTool = use === 'discover_and_use_tool'
    const folded = await client.call(use, isOneTool ? inner : { name: 'list_orders', arguments: {} })
    const part = await client.call('read_result', { result: getHandle(folded), from: -1 })
    expect(getText(part)).toContain(LINES.at(-1))
  })

  it('a client that checks a result by its schema gets it whole', async () => {
    const client = await connect({ expose: all() })
    expect((await client.call('check_orders')).structuredContent).toEqual({ orders: ORDERS })
  })

  it('no client reads the results of another one, and unknown handles and wrong arguments are explained', async () => {
    const served = serveMcp(createCatalog(tools), {
      name: 'home',
      version: '1.0.0',
      foldResults: 1_000,
      authorize: ({ headers }) => ({ principal: headers.get('x-user') ?? 'ada' }),
    })
    open.push(served)
    const { url } = await served.http()
    const ada = await overHttp(url, 'v1 client')
    const eve = await inMemory(served, 'v1 client')
    open.push(ada, eve)
    const result = getHandle(await ada.call('list_orders'))
    expect((await ada.call('read_result', { result })).isError).toBeUndefined()
    expect(getText(await eve.call('read_result', { result }))).toContain(`There is no result '${result}' here.`)
    expect(getText(await ada.call('read_result', { result: '__proto__' }))).toContain('There is no result')
    expect(getText(await ada.call('read_result', {}))).toContain("'result' is missing")
    expect(getText(await ada.call('read_result', { result, from: 1.5 }))).toContain("'from' must be a whole number")
    expect(getText(await ada.call('read_result', { result, grep: '(a+)+$' }))).toContain('No matches')
  })

  it('a store that machines share gives the result after a restart', async () => {
    const texts = new Map<string, string>()
    const store = {
      keep: async (handle: string, text: string) => void texts.set(handle, text),
      find: async (handle: string) => texts.get(handle),
    }
    const foldResults = { tokens: 1_000, store }
    const result = getHandle(await (await connect({ foldResults })).call('list_orders'))
    const again = await connect({ foldResults })
    expect(getText(await again.call('read_result', { result, count: 1 }))).toContain(LINES[0])
  })

  it('a result that cannot be kept shows its beginning, and says why', async () => {
    const store = { keep: () => Promise.reject(new Error('the disk is full')), find: async () => undefined }
    const client = await connect({ foldResults: { tokens: 1_000, store } })
    expect(getText(await client.call('list_orders'))).toMatch(/^Only the beginning .*\(the disk is full\)[^]*order 0:/)
  })

  it('nothing is folded or listed without it, and a number that is none is refused', async () => {
    const client = await connect({ foldResults: undefined as never, expose: all() })
    expect((await client.list()).tools.map(({ name }) => name)).toEqual(NAMES)
    expect(getText(await client.call('list_orders'))).toBe(LINES.join('\n'))
    await expect(connect({ foldResults: NaN })).rejects.toThrow('foldResults')
    await expect(connect({ foldResults: { tokens: 0 } })).rejects.toThrow('foldResults')
  })
})

describe('R68 results in memory', () => {
  it('stay for half an hour after each use, and the client with the most loses the oldest', async () => {
    vi.useFakeTimers()
    const results = createMemoryResults()
    await results.keep('small', 'text', 'ada')
    for (let n = 0; n < 1_200; n++) await results.keep(`eve-${n}`, 'text', 'eve')
    expect(await results.find('small', 'ada')).toBe('text')
    expect(await results.find('small', 'eve')).toBeUndefined()
    expect(await results.find('eve-0', 'eve')).toBeUndefined()
    expect(await results.find('eve-1199', 'eve')).toBe('text')
    vi.advanceTimersByTime(1_700_000)
    expect(await results.find('small', 'ada')).toBe('text')
    vi.advanceTimersByTime(1_700_000)
    expect(await results.find('small', 'ada')).toBe('text')
    expect(await results.find('eve-1199', 'eve')).toBeUndefined()
    await expect(results.keep('large', 'x'.repeat(5_000_000), 'ada')).rejects.toThrow('too large')
  })
})
