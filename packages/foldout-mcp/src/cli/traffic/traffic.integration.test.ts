import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../main.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')
const BIN = join(import.meta.dirname, '../../../bin/foldout.js')
const READ_ONLY = { annotations: { readOnlyHint: true } }
const FORECAST = { name: 'get_forecast', description: 'Weather forecast for a city.', ...READ_ONLY }
const ORDERS = { name: 'list_orders', description: 'List the orders of a customer.', ...READ_ONLY }
const REFUND = { name: 'refund_order', description: 'Give a customer the money back.' }

let folder: string
let traffic: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-traffic-'))
  traffic = join(folder, 'traffic.jsonl')
})
afterEach(() => removeFolder(folder))

function writeConfig(...tools: readonly object[]): string {
  const file = join(folder, 'servers.json')
  const shop = {
    command: process.execPath,
    args: [SERVER, JSON.stringify({ tools })],
    env: { SHOP: 'value-of-the-shop' },
  }
  writeFileSync(file, JSON.stringify({ mcpServers: { shop }, expose: 'hybrid' }))
  return file
}

async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  const code = await runCommand(['node', 'foldout', ...args], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: { XDG_CACHE_HOME: join(folder, 'cache'), XDG_DATA_HOME: join(folder, 'data') },
    signal: new AbortController().signal,
    version: '1.2.3',
  })
  return { code, stdout, stderr }
}

/** A client that lists, searches and calls. */
async function record(config: string, file = traffic): Promise<void> {
  const client = new Client({ name: 'test', version: '1' })
  const args = [BIN, 'serve', '--config', config, '--cache', join(folder, 'cache'), '--record', file]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  await client.listTools()
  await client.callTool({ name: 'search_tools', arguments: { query: 'the weather value-of-the-shop' } })
  await client.callTool({ name: 'search_tools', arguments: { query: 'money back for a customer' } })
  const use = (name: string, given: object) =>
    client.callTool({ name: 'use_tool', arguments: { name, arguments: given } })
  await use('refund_order', { order: 'A-1', api_key: 'key-of-the-refund' })
  await Promise.all([use('get_forecast', { city: 'Oslo' }), use('get_forecast', { token: 'a-secret' })])
  await use('list_orders', {})
  await use('nothing', {})
  await client.close()
}

describe('R58 foldout serve --record', () => {
  it('writes what clients do, without secrets or results', async () => {
    await record(writeConfig(FORECAST, ORDERS, REFUND))
    const text = readFileSync(traffic, 'utf8')
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    const types = ['start', 'client', 'list', 'search', 'search', 'call', 'call', 'call', 'call', 'request']
    expect(lines.map(({ type }) => type)).toEqual(types)
    expect(lines[1]).toMatchObject({ client: 'client-1', name: 'test' })
    // read_result, search_tools and use_tool
    expect(lines[2]).toMatchObject({ exposure: 'hybrid', tools: 3, all: 3, allTokens: expect.any(Number) })
    expect(lines[3]).toMatchObject({ query: 'the weather ***', isRedacted: true, answer: { isFolded: false } })
    expect(lines[5]).toMatchObject({ tool: 'shop/refund_order', arguments: { order: 'A-1', api_key: '***' }, ok: true })
    expect(lines[9]).toMatchObject({ tool: 'use_tool', arguments: { name: 'nothing' }, ok: false })
    expect(text).not.toContain('"message"')
    expect(lines.slice(6, 8).map((line) => line['arguments'])).toEqual(
      expect.arrayContaining([{ city: 'Oslo' }, { token: '***' }]),
    )
    expect(text).not.toMatch(/key-of-the-refund|a-secret|value-of-the-shop|"pid"/)
    // Windows does not have these permissions.
    const others = process.platform === 'win32' ? 0 : statSync(traffic).mode & 0o077
    expect(others).toBe(0)
  })

  it.skipIf(process.platform !== 'linux')('keeps serving if the file can no longer be written', async () => {
    const served = record(writeConfig(FORECAST, ORDERS, REFUND), '/dev/full')
    await expect(served).resolves.toBeUndefined()
  })

  it.each([
    ['not/there.jsonl', () => `There is no folder ${join(folder, 'not')}.`],
    ['.', () => `EISDIR: illegal operation on a directory, open '${folder}'.`],
  ])('fails at the start if the file cannot be written: %s', async (name, getReason) => {
    const config = writeConfig(FORECAST)
    const file = join(folder, name)
    const failure = {
      code: 2,
      stdout: '',
      stderr: `Traffic cannot be recorded in ${file}. ${getReason()} Choose another file.\n`,
    }
    expect(await run('serve', '--config', config, '--record', file)).toEqual(failure)
    expect(await run('record', file, '--config', config)).toEqual(failure)
  })
})

describe('R58 foldout replay', () => {
  it('repeats searches, and with --calls also read-only calls', async () => {
    const config = writeConfig(FORECAST, ORDERS, REFUND)
    await record(config)
    const searches = await run('replay', traffic, '--config', config, '--json')
    expect(searches.code).toBe(0)
    expect(JSON.parse(searches.stdout)).toMatchObject({
      searches: [{ query: 'money back for a customer', isSame: true }],
      calls: [],
      skippedSearches: 1,
    })
    const { stdout } = await run('replay', traffic, '--config', config, '--calls', '--json')
    const { calls } = JSON.parse(stdout) as { calls: readonly { tool: string; outcome: string; reason?: string }[] }
    expect(calls.map(({ tool, outcome }) => `${tool} ${outcome}`).toSorted()).toEqual([
      'shop/get_forecast different',
      'shop/get_forecast skipped',
      'shop/list_orders different',
      'shop/refund_order skipped',
    ])
    expect(calls[0]?.reason).toBe('the tool may change something')
  })

  it('fails if a tool is no longer found', async () => {
    await record(writeConfig(FORECAST, ORDERS, REFUND))
    const { code, stdout } = await run('replay', traffic, '--config', writeConfig(FORECAST, ORDERS), '--calls')
    expect(code).toBe(1)
    expect(stdout).toMatch(/before: shop\/refund_order/)
    expect(stdout).toMatch(/shop\/refund_order: skipped, the tool no longer exists/)
  })

  it('leaves out a last line that was cut off, and refuses other files', async () => {
    const config = writeConfig(FORECAST)
    writeFileSync(traffic, '{"type":"start","version":1,"run":"a","at":"","foldout":"1"}\n{"type":"sea')
    expect((await run('replay', traffic, '--config', config)).code).toBe(0)
    writeFileSync(traffic, '{"runs": []}\n\n')
    const { code, stderr } = await run('replay', traffic, '--config', config)
    expect(code).toBe(2)
    expect(stderr).toMatch(/Line 1 of .* is not gateway traffic/)
  })

  it('lets advise learn core tools, with each start of the gateway counted separately', async () => {
    const config = writeConfig(FORECAST, ORDERS, REFUND)
    for (let i = 0; i < 3; i++) await record(config)
    const { code, stdout } = await run('advise', traffic, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ evidence: { clients: 3, uses: 12, isEnough: true } })
    expect((await run('advise', traffic)).stdout).toMatch(/shop\/refund_order +used 3 times by 3 clients/)
  })
})

describe('R58 foldout eval', () => {
  const write = (text: string): string => {
    const file = join(folder, 'queries.jsonl')
    writeFileSync(file, text)
    return file
  }

  it('scores searches and lists what they missed', async () => {
    const config = writeConfig(FORECAST, ORDERS, REFUND)
    const queries = write(
      [
        { query: 'money back', tools: ['refund_order'] },
        { query: 'forecast of the weather', tools: { 'shop/get_forecast': 2, list_orders: 0 } },
        { query: 'forecast', tools: ['refund_order'] },
        { query: 'anything', tools: ['gone'] },
      ]
        .map((query) => JSON.stringify(query))
        .join('\n'),
    )
    const { code, stdout } = await run('eval', queries, '--config', config, '--json')
    expect(code).toBe(0)
    const result = JSON.parse(stdout) as { scores: { ndcg10: number; mrr: number } }
    expect(result).toMatchObject({
      queries: 3,
      misses: [{ query: 'forecast', expected: ['shop/refund_order'] }],
      unknown: ['gone'],
    })
    expect(result.scores.ndcg10).toBeCloseTo(2 / 3)
    const poor = await run('eval', queries, '--config', config, '--min-ndcg', '0.9')
    expect(poor.code).toBe(1)
    expect(poor.stderr).toMatch(/^nDCG@10 is 0\.\d{3}, which is lower than 0\.9\.$/m)
  })

  it('knows tools by any name', async () => {
    const queries = write('[{"query": "proto", "tools": {"__proto__": 1}}]')
    const config = writeConfig({ name: '__proto__', description: 'The proto.' }, FORECAST)
    const { stdout } = await run('eval', queries, '--config', config, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ queries: 1, scores: { mrr: 1, refused: null } })
  })

  it.each([
    ['', /has no queries/],
    ['[]', /has no queries/],
    ['{"query": "a"}', /Query 1 of .* is wrong at "tools"/],
    ['{"query": "a", "tools": {"get_forecast": -1}}', /Query 1 of .* is wrong at "tools"/],
    ['{"query": "a", "tools": []}\n{', /Line 2 of .* is not valid JSON/],
    ['{"query": "a", "tools": ["gone"]}', /None of the tools in .* exist: gone/],
  ])('refuses %j', async (text, message) => {
    const { code, stdout, stderr } = await run('eval', write(text), '--config', writeConfig(FORECAST))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
