import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPostgresStore } from 'foldout-fleet'
import type { SessionStore } from 'foldout/session'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { query, startPostgres, type PostgresServer } from '../postgres/server.ts'
import { killMachines } from './kills.ts'
import { startMachine, type MachineSettings, type TestMachine } from './machine.ts'
import { removeFolder } from '../remove-folder.ts'

const LONG = 120_000
const folder = mkdtempSync(join(tmpdir(), 'foldout-fleet-'))
const effects = join(folder, 'effects')
let server: PostgresServer
let url: string
let store: SessionStore
let databases = 0
const machines: TestMachine[] = []

beforeAll(async () => {
  server = await startPostgres()
}, 300_000)
beforeEach(async () => {
  url = await server.createDatabase(`fleet_${++databases}`)
  store = await createPostgresStore({ connectionString: url })
  writeFileSync(effects, '')
}, LONG)
afterEach(async () => {
  for (const machine of machines.splice(0)) {
    machine.kill('SIGKILL')
    await machine.ended
  }
  await store.close()
}, LONG)
afterAll(async () => {
  await server.stop()
  await removeFolder(folder)
}, LONG)

function start(machine: string, settings: Partial<MachineSettings> = {}): TestMachine {
  const started = startMachine({ url, effects, machine, ...settings })
  machines.push(started)
  return started
}
const readEffects = (name: string): readonly string[] =>
  readFileSync(effects, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${name} `))
const hearResult = async (
  machine: TestMachine,
  id: string,
): Promise<{ text: string; messages: { text: string }[] }> => {
  machine.order('result', { id })
  return JSON.parse(await machine.hear(`result ${id}`)) as { text: string; messages: { text: string }[] }
}

describe('R64 a fleet', { timeout: LONG }, () => {
  it('R63 R64 loses nothing and repeats nothing when machines are killed between events', async () => {
    const points = [9, 22]
    const pickPoint = (kill: number): number => points[kill] ?? 1
    const options = { url, effects, store, kills: points.length, runs: 2, log: () => undefined, pickPoint }
    const report = await killMachines(options)
    expect(report).toMatchObject({ kills: points.length, faults: [] })
    expect(report.acknowledged).toBeGreaterThan(points.length)
  })

  it('R64 takes over from a suspended machine, and refuses what it writes when it wakes up', async () => {
    const first = start('stopped', { silenceMs: 1000, pauseMs: 1000, turns: 3 })
    await first.hear('ready')
    first.order('start', { ids: ['one'], input: 'change' })
    // In the middle of a call.
    await first.hear('did change')
    first.kill('SIGSTOP')
    const second = start('awake', { silenceMs: 1000, turns: 3 })
    await second.hear('fleet {"type":"taken-over","machine":"stopped"')
    const { text, messages } = await hearResult(second, 'one')
    expect(text).toBe('Done.')
    expect(messages.filter((message) => message.text.startsWith('The outcome of this call is unknown'))).toHaveLength(1)
    const before = (await store.load('chores/one'))?.events.length
    first.kill('SIGCONT')
    expect(await first.hear('refused one')).toBe('store-conflict')
    expect((await store.load('chores/one'))?.events.length).toBe(before)
    expect(readEffects('change')).toHaveLength(3)
    // It is a normal machine again.
    first.order('start', { ids: ['two'], input: 'look' })
    await first.hear('started two')
    expect((await hearResult(first, 'two')).text).toBe('Done.')
  })

  it('R64 continues when the database is restarted, and when it crashes', async () => {
    const machine = start('one', { pauseMs: 150, turns: 12 })
    await machine.hear('ready')
    machine.order('start', { ids: ['run'], input: 'change' })
    await machine.hear('did change')
    await server.restart('fast')
    await expect.poll(() => readEffects('change').length, { timeout: LONG }).toBeGreaterThan(4)
    await server.restart('crash')
    expect((await hearResult(machine, 'run')).text).toBe('Done.')
    expect(readEffects('change')).toHaveLength(12)
    expect(new Set(readEffects('change')).size).toBe(12)
  })

  it('R64 continues when all connections of a machine are cut while another one could take over', async () => {
    const [cut, other] = [start('cut', { pauseMs: 150, turns: 12 }), start('other', { turns: 12, pauseMs: 150 })]
    await Promise.all([cut.hear('ready'), other.hear('ready')])
    cut.order('start', { ids: ['a', 'b', 'c'], input: 'change' })
    await cut.hear('started a b c')
    await expect.poll(() => readEffects('change').length, { timeout: LONG }).toBeGreaterThan(0)
    const countConnections = async () => {
      const { rowCount } = await query(url, `SELECT pid FROM pg_stat_activity WHERE application_name = 'cut'`)
      return rowCount
    }
    let ended = 0
    for (let times = 0; times < 4; times++) {
      const { rowCount } = await query(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'`,
      )
      ended += rowCount ?? 0
      await expect.poll(countConnections, { timeout: LONG }).toBeGreaterThan(0)
    }
    expect(ended).toBeGreaterThan(4)
    for (const id of ['a', 'b', 'c']) expect((await hearResult(other, id)).text).toBe('Done.')
    // A call may have been interrupted. It is not repeated, and the model is told.
    expect(new Set(readEffects('change')).size).toBe(readEffects('change').length)
    expect(readEffects('change').length).toBeLessThanOrEqual(36)
  })

  it('R62 R64 is set up once by four processes that start at the same time', async () => {
    const started = Array.from({ length: 4 }, (_, i) => start(`machine-${i}`, { turns: 1 }))
    await Promise.all(started.map((machine) => machine.hear('ready')))
    const tables = await query(url, `SELECT name FROM foldout.machines ORDER BY name`)
    expect(tables.rows).toEqual(started.map((_, i) => ({ name: `machine-${i}` })))
    started.forEach((machine, i) => machine.order('start', { ids: [`run-${i}`], input: 'look' }))
    for (const [i, machine] of started.entries()) {
      await machine.hear('started')
      expect((await hearResult(machine, `run-${i}`)).text).toBe('Done.')
    }
  })

  it('R63 works on as many runs as the limits of its queue allow, the most urgent first', async () => {
    const limits = { globalConcurrency: 1 }
    const [one, two] = [
      start('one', { pauseMs: 500, turns: 3, limits }),
      start('two', { pauseMs: 500, turns: 3, limits }),
    ]
    await Promise.all([one.hear('ready'), two.hear('ready')])
    one.order('start', { ids: ['first'], input: 'change' })
    await Promise.race([one.hear('did change'), two.hear('did change')])
    one.order('start', { ids: ['patient'], input: 'look', priority: 9 })
    await one.hear('started patient')
    two.order('start', { ids: ['urgent'], input: 'slow', priority: 1 })
    await two.hear('started urgent')
    for (const id of ['first', 'patient', 'urgent']) expect((await hearResult(one, id)).text).toBe('Done.')
    const order = readFileSync(effects, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    // One after the other, without interleaving.
    expect(order).toEqual(['change', 'slow', 'look'].flatMap((name) => [name, name, name]))
  })

  it('R63 runs one call when ten answers race from two machines, for a run of a machine that is gone', async () => {
    const first = start('asker', { turns: 1 })
    await first.hear('ready')
    first.order('start', { ids: ['one'], input: 'pay' })
    await expect
      .poll(async () => (await store.load('chores/one'))?.events.some(({ event }) => event.type === 'run/paused'), {
        timeout: LONG,
      })
      .toBe(true)
    // Whether or not the engine already knows that the run waits.
    first.kill('SIGKILL')
    // New code is deployed while the run waits: another version, and another answer.
    const [second, third] = ['left', 'right'].map((name) =>
      start(name, { turns: 1, version: '2', answer: 'Done by new code.' }),
    )
    await Promise.all([second?.hear('ready'), third?.hear('ready')])
    for (const machine of [second, third]) machine?.order('answer', { id: 'one', times: 5 })
    const heard = await Promise.all([second, third].map(async (machine) => Number(await machine?.hear('answered one'))))
    expect(heard.reduce((sum, n) => sum + n)).toBe(1)
    expect((await hearResult(second as TestMachine, 'one')).text).toBe('Done by new code.')
    expect(readEffects('pay')).toHaveLength(1)
  })
})
