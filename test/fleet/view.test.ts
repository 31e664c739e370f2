import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFleet, type Fleet } from 'foldout-fleet'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { query, startPostgres, type PostgresServer } from '../postgres/server.ts'
import { startMachine, type MachineSettings, type TestMachine } from './machine.ts'
import { removeFolder } from '../remove-folder.ts'

const LONG = 120_000
const folder = mkdtempSync(join(tmpdir(), 'foldout-view-'))
const effects = join(folder, 'effects')
let server: PostgresServer
let url: string
let fleet: Fleet | undefined
let databases = 0
const machines: TestMachine[] = []

beforeAll(async () => {
  server = await startPostgres()
}, 300_000)
beforeEach(async () => {
  url = await server.createDatabase(`view_${++databases}`)
  writeFileSync(effects, '')
}, LONG)
afterEach(async () => {
  await fleet?.close()
  fleet = undefined
  for (const machine of machines.splice(0)) {
    machine.kill('SIGKILL')
    await machine.ended
  }
}, LONG)
afterAll(async () => {
  await server.stop()
  await removeFolder(folder)
}, LONG)

async function start(machine: string, settings: Partial<MachineSettings> = {}): Promise<TestMachine> {
  const started = startMachine({ url, effects, machine, ...settings })
  machines.push(started)
  await started.hear('ready')
  return started
}
async function open(): Promise<Fleet> {
  fleet = await openFleet({ connectionString: url })
  return fleet
}
const countEffects = (name: string): number =>
  readFileSync(effects, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${name} `)).length

describe('R64 the view of a fleet', { timeout: LONG }, () => {
  it('R64 shows nothing if nothing has run, and creates no tables', async () => {
    const view = await open()
    expect(await view.look()).toEqual({
      machines: [],
      queues: [],
      counts: { active: 0, waiting: 0, done: 0, failed: 0, cancelled: 0 },
      runs: [],
      approvals: [],
      takeovers: [],
      isComplete: true,
    })
    const tables = await query(url, `SELECT FROM pg_tables WHERE schemaname IN ('foldout', 'dbos')`)
    expect(tables.rowCount).toBe(0)
    await expect(view.answer('chores/one#00', { approved: true })).rejects.toMatchObject({ code: 'approval-unknown' })
    await expect(openFleet({ connectionString: 'postgresql://nobody@127.0.0.1:1/none' })).rejects.toMatchObject({
      code: 'store-failed',
    })
  })

  it('R63 R64 shows machines, runs and approvals, and answers exactly the call shown, once', async () => {
    const one = await start('one', { turns: 1 })
    await start('two', { turns: 1, version: '1' })
    one.order('start', { ids: ['first', 'second', 'a/b#c'], input: 'pay' })
    one.order('start', { ids: ['harmless'], input: 'look' })
    const view = await open()
    await expect.poll(async () => (await view.look()).approvals.length, { timeout: LONG }).toBe(3)
    await expect.poll(async () => (await view.look()).counts.done, { timeout: LONG }).toBe(1)
    const picture = await view.look()
    expect(picture.machines).toEqual(
      ['one', 'two'].map((name) => ({
        name,
        isAlive: true,
        version: '1',
        joinedAt: expect.stringMatching(/^\d{4}-/) as string,
        runs: 0,
      })),
    )
    expect(picture).toMatchObject({ counts: { waiting: 3, done: 1, active: 0 }, isComplete: true, takeovers: [] })
    expect(picture.queues[0]).toEqual({ name: 'foldout', waiting: 0, delayed: 0, active: 0 })
    expect(picture.runs.find(({ id }) => id === 'harmless')).toMatchObject({ kind: 'chores', status: 'done' })
    const odd = picture.approvals.find(({ run }) => run.id === 'a/b#c')
    const first = picture.approvals.find(({ run }) => run.id === 'first')
    const second = picture.approvals.find(({ run }) => run.id === 'second')
    expect(first).toMatchObject({ run: { kind: 'chores', id: 'first' }, request: { tool: 'pay', arguments: {} } })
    // Ten at a time, from here and from a machine.
    one.order('answer', { id: 'first', times: 5 })
    const ends = await Promise.allSettled(
      Array.from({ length: 5 }, () => view.answer(first?.id ?? '', { approved: true })),
    )
    const here = ends.filter(({ status }) => status === 'fulfilled').length
    expect(here + Number(await one.hear('answered first'))).toBe(1)
    await view.answer(odd?.id ?? '', { approved: true })
    await view.answer(second?.id ?? '', { approved: false, reason: 'Not today.' })
    await expect.poll(async () => (await view.look()).counts.done, { timeout: LONG }).toBe(4)
    expect(countEffects('pay')).toBe(2)
    one.order('result', { id: 'second' })
    expect(await one.hear('result second')).toContain('Not today.')
    // One was already answered; the other never existed.
    await expect(view.answer(first?.id ?? '', { approved: true })).rejects.toMatchObject({ code: 'approval-unknown' })
    for (const id of [
      '',
      'x',
      'chores/first',
      'chores/first#',
      '%/%#%',
      `chores/${'x'.repeat(100_000)}#1`,
      '__proto__/a#b',
    ])
      await expect(view.answer(id, { approved: true })).rejects.toMatchObject({ code: 'approval-unknown' })
  })

  it('R64 shows machines that died, and which machines took over their runs', async () => {
    const dying = await start('dying', { isSlow: true, turns: 1 })
    dying.order('start', { ids: ['run'], input: 'slow' })
    await dying.hear('did slow')
    const view = await open()
    const before = await view.look()
    expect(before).toMatchObject({ machines: [{ name: 'dying', runs: 1, isAlive: true }], counts: { active: 1 } })
    expect(before.queues).toMatchObject([{ active: 1 }])
    dying.kill('SIGKILL')
    await dying.ended
    await expect.poll(async () => (await view.look()).machines[0]?.isAlive, { timeout: LONG }).toBe(false)
    await start('heir', { turns: 1 })
    await expect.poll(async () => (await view.look()).counts.done, { timeout: LONG }).toBe(1)
    const { machines: left, takeovers } = await view.look()
    expect(left.map(({ name }) => name)).toEqual(['heir'])
    expect(takeovers).toEqual([
      { machine: 'dying', by: 'heir', runs: 1, at: expect.stringMatching(/^\d{4}-.*Z$/) as string },
    ])
  })

  it('R64 reads as many runs as requested, and says so', async () => {
    const one = await start('one', { turns: 1 })
    one.order('start', { ids: Array.from({ length: 12 }, (_, i) => `w-${i}`), input: 'pay' })
    const view = await open()
    await expect.poll(async () => (await view.look()).counts.waiting, { timeout: LONG }).toBe(12)
    expect(await view.look({ runs: 3, approvals: 2 })).toMatchObject({ isComplete: true, counts: { waiting: 12 } })
    const some = await view.look({ runs: 3, approvals: 2, deliveries: 5 })
    expect(some.runs).toHaveLength(3)
    expect(some.approvals).toHaveLength(2)
    expect(some).toMatchObject({ isComplete: false, counts: { waiting: 5 } })
  })
})
