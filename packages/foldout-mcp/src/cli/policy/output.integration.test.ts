import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { runCommand } from '../main.ts'
import { createReporter } from '../support/session.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')

let folder: string
let config: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-output-'))
  config = join(folder, 'servers.json')
  const serve = (...names: readonly string[]): object => ({
    command: process.execPath,
    args: [SERVER, JSON.stringify({ tools: names.map((name) => ({ name, description: name })) })],
  })
  const mcpServers = { shop: serve('refund'), warehouse: serve('count', 'move') }
  const rules = [{ action: 'ask', tool: 'shop/refund' }]
  writeFileSync(config, JSON.stringify({ mcpServers, rules, audit: join(folder, 'audit.jsonl') }))
})
afterEach(() => removeFolder(folder))

async function run(columns: number | undefined, ...args: readonly string[]): Promise<readonly string[]> {
  let written = ''
  const stream = { ...(columns === undefined ? {} : { columns }), write: (text: string) => (written += text) }
  await runCommand(['node', 'foldout', ...args, '--config', config], {
    stdout: stream,
    stderr: stream,
    env: { XDG_CACHE_HOME: join(folder, 'cache'), XDG_DATA_HOME: join(folder, 'data') },
    signal: new AbortController().signal,
    version: '1.2.3',
  })
  return written.trimEnd().split('\n')
}

it('R58 help is broken between words, also on a narrow terminal', async () => {
  const words = new Set((await run(200, 'audit', '--help')).join(' ').split(/\s+/))
  const narrow = await run(60, 'audit', '--help')
  expect(narrow.filter((line) => line.length > 60)).toEqual([])
  expect(
    narrow
      .join(' ')
      .split(/\s+/)
      .filter((word) => !words.has(word)),
  ).toEqual([])
})

it.each([40, 60, 80, 140])('R58 the costs of strategies fit %d columns', async (columns) => {
  const desk = join(import.meta.dirname, '../prompts/desk.fixtures.ts')
  const lines: string[] = []
  const stream = { columns, write: (text: string) => lines.push(...text.trimEnd().split('\n')) }
  await runCommand(['node', 'foldout', 'simulate', desk], {
    stdout: stream,
    stderr: stream,
    env: {},
    signal: new AbortController().signal,
    version: '1',
  })
  expect(lines.filter((line) => line.length > columns)).toEqual([])
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toMatch(/read-section 2 .*\b417\b/)
})

it('R58 a server that fails again for the same reason is reported once, until it has run', () => {
  let written = ''
  const stream = { write: (text: string) => (written += text) }
  const report = createReporter(
    {},
    { stdout: stream, stderr: stream, env: {}, signal: new AbortController().signal, version: '1' },
  )
  const fail = (reason: string): void =>
    report({ type: 'server/state', server: 'a', state: { type: 'failed', reason, retryAt: 0 } })
  for (const reason of ['one', 'one', 'two']) fail(reason)
  report({ type: 'server/state', server: 'a', state: { type: 'running', calls: 0 } })
  fail('two')
  expect(written).toBe('a: one\na: two\na: two\n')
})

describe('R56 what people read about calls and definitions', () => {
  it('shows the arguments of a waiting call as they are nested, and one command per line', async () => {
    await run(undefined, 'call', 'refund', '--args', '{"order": {"id": 1}}')
    const lines = await run(60, 'approvals')
    expect(lines.slice(0, -2)).toEqual([
      'shop/refund for a command',
      '  {',
      '    "order": {',
      '      "id": 1',
      '    }',
      '  }',
    ])
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(/^ {2}foldout approve --call \w+$/),
      expect.stringMatching(/^ {2}foldout deny \w+$/),
    ])
    expect(await run(60, 'fleet')).toEqual(expect.arrayContaining(['      "order": {', '        "id": 1']))
    expect(await run(200, 'audit')).toEqual([
      expect.stringMatching(/Z {2}shop\/refund {2}a command {2}not approved in \d+ ms {2}\{"order":\{"id":1\}\}$/),
    ])
    expect(await run(60, 'audit')).toEqual([
      expect.stringMatching(/Z {2}shop\/refund$/),
      '  a command',
      expect.stringMatching(/^ {2}not approved in \d+ ms$/),
      '  {"order":{"id":1}}',
    ])
  })

  it('aligns the accepted definitions', async () => {
    await run(undefined, 'tools')
    expect(await run(60, 'pins')).toEqual([
      expect.stringMatching(/^shop {7}1 tool {3}[0-9a-f]{12}$/),
      expect.stringMatching(/^warehouse {2}2 tools {2}[0-9a-f]{12}$/),
    ])
  })

  it('breaks what is wrong between words', async () => {
    const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    writeFileSync(config, JSON.stringify({ mcpServers: { broken } }))
    expect(await run(30, 'doctor')).toEqual([
      'broken: does not work',
      '  It ended with exit code 3.',
      '  Run its command in a',
      '  terminal to see more.',
    ])
    expect(await run(24, 'tools')).toEqual(['broken: It ended with', 'exit code 3.', '0 of 1 server works.'])
    const lines = await run(30, 'doctor', '--preset', 'work')
    expect(lines).toEqual(["Unknown preset 'work'. The", 'configuration has none.'])
  })
})
