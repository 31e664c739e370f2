import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../packages/foldout-mcp/src/cli/main.ts'
import { openPostgresStore } from '../../packages/foldout-mcp/src/gateway/store/postgres/store.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'
import { startMachine, type TestMachine } from './machine.ts'
import { removeFolder } from '../remove-folder.ts'

const LONG = 120_000
const folder = mkdtempSync(join(tmpdir(), 'foldout-fleet-command-'))
const effects = join(folder, 'effects')
let server: PostgresServer
let url: string
let databases = 0
const machines: TestMachine[] = []
const closes: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  server = await startPostgres()
}, 300_000)
beforeEach(async () => {
  url = await server.createDatabase(`command_${++databases}`)
  writeFileSync(effects, '')
}, LONG)
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
  for (const machine of machines.splice(0)) {
    machine.kill('SIGKILL')
    await machine.ended
  }
}, LONG)
afterAll(async () => {
  await server.stop()
  await removeFolder(folder)
}, LONG)

interface Written {
  stdout: string
  stderr: string
  code: number | undefined
}

function start(args: readonly string[], { isTTY = false, stop = new AbortController() } = {}) {
  const written: Written = { stdout: '', stderr: '', code: undefined }
  const open = (name: 'stdout' | 'stderr') => ({
    ...(isTTY ? { isTTY, columns: 80 } : {}),
    write: (text: string) => (written[name] += text),
  })
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder, TERM: 'dumb' }
  const surroundings = { stdout: open('stdout'), stderr: open('stderr'), env, signal: stop.signal, version: '1.2.3' }
  const ended = runCommand(['node', 'foldout', 'fleet', ...args], surroundings).then((code) => (written.code = code))
  return { written, ended, stop }
}
async function run(...args: readonly string[]): Promise<Written> {
  const { written, ended } = start([...args, '--store', url])
  await ended
  return written
}
async function look(): Promise<Record<string, never[]> & { counts: Record<string, number> }> {
  const { code, stdout, stderr } = await run('--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as never
}
async function startWorker(machine: string): Promise<TestMachine> {
  const started = startMachine({ url, effects, machine, turns: 1 })
  machines.push(started)
  await started.hear('ready')
  return started
}
it('R65 a fleet and its command start without a warning of their packages', { timeout: LONG }, async () => {
  const warnings: Error[] = []
  const hear = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', hear)
  const machine = await startWorker('quiet')
  await look()
  process.off('warning', hear)
  expect(warnings).toEqual([])
  expect(machine.complaint).not.toContain('Warning')
})

const countPaid = (): number =>
  readFileSync(effects, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('pay ')).length

describe('R65 foldout fleet', { timeout: LONG }, () => {
  it('R65 says that the fleet is empty, and what is wrong with a URL', async () => {
    expect(await run()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Nothing here yet') as string,
    })
    const files = start(['--json'])
    await files.ended
    expect(JSON.parse(files.written.stdout)).toMatchObject({ gateways: [], machines: [], calls: [] })
    const wrong = start(['--store', 'mysql://secret:hunter22@db/x'])
    await wrong.ended
    expect(wrong.written).toMatchObject({ code: 2, stdout: '' })
    const away = start(['--store', 'postgres://someone:hunter22@127.0.0.1:1/x'])
    await away.ended
    expect(away.written.code).toBe(1)
    expect(`${wrong.written.stderr}${away.written.stderr}`).not.toContain('hunter22')
  })

  it('R65 shows machines, runs and gateways, and answers calls of both, each once', async () => {
    const worker = await startWorker('worker-1')
    worker.order('start', { ids: ['first', 'second'], input: 'pay' })
    const store = await openPostgresStore({
      url,
      schema: undefined,
      key: undefined,
      keyFile: undefined,
      onProblem: () => undefined,
    })
    closes.push(() => store.close())
    await store.gateways.join({ host: 'edge\u001B[2J-1', pid: 7, version: '0.1.0', url: 'http://127.0.0.1:1/mcp' })
    const call = { binding: 'b'.repeat(64), preset: '', tool: 'shop/refund', arguments: '{"order": 1}', client: 'desk' }
    const calls = ['0f1e2d3c4b5a6978', '1f1e2d3c4b5a6978'].map((id) => ({ ...call, id, binding: id.repeat(4) }))
    for (const one of calls) expect(await store.approvals.ask(one, 'a'.repeat(16))).toBe('waiting')
    await expect.poll(async () => (await look())['approvals']?.length, { timeout: LONG }).toBe(2)

    const shown = (await run()).stdout
    expect(shown).not.toContain('\u001B')
    expect(shown).toMatch(/^Gateways\n {2}edge-1 +7 +alive +0\.1\.0 +http:\/\/127\.0\.0\.1:1\/mcp\n/)
    expect(shown).toMatch(/\nMachines\n {2}worker-1 +alive +1 +0 runs\n/)
    expect(shown).toContain('\nQueues\n  foldout ')
    expect(shown).toContain('\nRuns: 2 waiting\n')
    const id = /foldout fleet approve '(chores\/first#[0-9a-f]{16})'/.exec(shown)?.[1] ?? ''
    const second = /foldout fleet approve '(chores\/second#[0-9a-f]{16})'/.exec(shown)?.[1] ?? ''
    expect(shown).toContain(
      '  shop/refund for the client desk\n    {"order": 1}\n    foldout fleet approve 0f1e2d3c4b5a6978\n',
    )

    // Two people answer at once: one answer counts.
    const both = await Promise.all([run('approve', id), run('approve', id)])
    expect(both.filter(({ code }) => code === 0).map(({ stdout }) => stdout)).toEqual([
      'Approved pay once, for the run chores/first. The run continues.\n',
    ])
    const denied = await run('deny', second, '--reason', 'Ask Ann.', '--json')
    expect(JSON.parse(denied.stdout)).toEqual({ id: second, approved: false, tool: 'pay' })
    await expect.poll(async () => (await look()).counts['done'], { timeout: LONG }).toBe(2)
    expect(countPaid()).toBe(1)
    worker.order('result', { id: 'second' })
    expect(await worker.hear('result second')).toContain('Ask Ann.')

    expect((await run('approve', '0f1e2d3c4b5a6978')).stdout).toContain(
      'Approved shop/refund once, for the client desk.',
    )
    expect((await run('deny', '1f1e2d3c4b5a6978')).stdout).toContain('Denied shop/refund once, for the client desk.')
    expect(await store.approvals.use('0f1e2d3c4b5a6978', '0f1e2d3c4b5a6978'.repeat(4))).toBe(true)
    expect(await store.approvals.use('1f1e2d3c4b5a6978', '1f1e2d3c4b5a6978'.repeat(4))).toBe(false)
    for (const again of [id, '0f1e2d3c4b5a6978', 'nothing', 'a/b#c', '__proto__'])
      expect(await run('approve', again)).toMatchObject({ code: 2, stdout: '' })
    expect((await look())['calls']).toEqual([])
  })

  it('R65 shows takeovers, and keeps watching while the database is unreachable', async () => {
    const worker = await startWorker('dying')
    const watched = start(['--watch', '--json', '--interval', '0.2', '--store', url])
    closes.push(async () => {
      watched.stop.abort()
      await watched.ended
    })
    const read = (): readonly { machines: { name: string; isAlive: boolean }[]; takeovers: { by: string }[] }[] =>
      watched.written.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as never]))
    await expect.poll(() => read().at(-1)?.machines[0]?.isAlive, { timeout: LONG }).toBe(true)
    worker.kill('SIGKILL')
    await expect.poll(() => read().at(-1)?.machines[0]?.isAlive, { timeout: LONG }).toBe(false)
    await server.restart('fast')
    await startWorker('heir')
    await expect.poll(() => read().at(-1)?.takeovers[0]?.by, { timeout: LONG }).toBe('heir')
    expect((await run()).stdout).toMatch(/\nTakeovers\n {2}\S+ +heir took over 0 runs of dying\n$/)
    watched.stop.abort()
    await watched.ended
    expect(watched.written.code).toBe(0)
  })

  it('R65 redraws on a terminal, and ends when it is stopped', async () => {
    await startWorker('worker-1')
    const { written, ended, stop } = start(['--watch', '--interval', '0.1', '--store', url], { isTTY: true })
    await expect.poll(() => written.stdout.split('\u001B[H\u001B[J').length, { timeout: LONG }).toBeGreaterThan(3)
    stop.abort()
    await ended
    expect(written.code).toBe(0)
    expect(written.stdout).toContain('Machines\n  worker-1')
  })
})
