import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compare, readComparison, type CompareReport } from '../entries/compare.ts'
import { createCases, createModel, desk } from './compare.fixtures.ts'

const RUNS = 12 * 2 * 2
const PARALLEL = 4

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-killed-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const countLines = (text: string, part = ''): number =>
  text.split('\n').filter((line) => line !== '' && line.includes(part)).length

/** Runs the comparison, which is killed once its file has so many runs. */
async function run(save: string, paid: string, most = Infinity): Promise<{ output: string; code: number | null }> {
  const script = join(import.meta.dirname, 'killed.fixtures.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, save, paid, String(most)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { output, code }
}

it.each([1, 9, 30])(
  'R80 a comparison that is killed after %i runs continues, and pays only what was under way again',
  { timeout: 120_000 },
  async (after) => {
    const [save, paid] = [join(folder, `${after}.jsonl`), join(folder, `${after}.paid`)]
    const { code } = await run(save, paid, after)
    expect(code).toBe(null)
    const saved = countLines(read(save), '"type":"run"')
    expect(saved).toBeGreaterThanOrEqual(after)
    expect(saved).toBeLessThan(RUNS)
    // As if the process had been killed while it wrote the last line.
    truncateSync(save, readFileSync(save).length - 7)
    const whole = countLines(read(save), '"type":"run"')
    const before = countLines(read(paid))
    const { output } = await run(save, paid)
    const report = JSON.parse(output) as CompareReport
    expect(report.repeats).toEqual({ done: 2, planned: 2 })
    expect(report.arms['folded']?.runs).toBe(RUNS / 2)
    // What the file had is not paid again; what it had not may have been under way.
    const paidAgain = countLines(read(paid)) - before
    expect(paidAgain).toBeLessThanOrEqual(RUNS - whole + 1)
    expect(countLines(read(paid))).toBeLessThanOrEqual(RUNS + PARALLEL + 1)
    expect({ ...(await readComparison(save)), spentUsd: 0 }).toEqual({ ...report, spentUsd: 0 })
  },
)

it('R80 two processes cannot write to one comparison', { timeout: 60_000 }, async () => {
  const [save, paid] = [join(folder, 'two.jsonl'), join(folder, 'two.paid')]
  const gate = new EventEmitter()
  const isReleased = once(gate, 'release')
  const hasBegun = once(gate, 'begin')
  const here = compare({
    cases: createCases(1),
    arms: { full: { prompt: desk, open: 'all' }, folded: { prompt: desk } },
    adapter: () =>
      createModel({
        async onRequest() {
          gate.emit('begin')
          await isReleased
        },
      }),
    save,
  })
  await hasBegun
  const { code } = await run(save, paid)
  expect(code).toBe(1)
  expect(read(paid)).toBe('')
  await expect(
    compare({
      cases: createCases(1),
      arms: { one: { prompt: desk }, other: { prompt: desk } },
      adapter: () => createModel(),
      save,
    }),
  ).rejects.toMatchObject({
    code: 'compare-file',
    message: expect.stringMatching(/in use by process \d+ on .*\. Wait for it/),
  })
  gate.emit('release')
  expect((await here).arms['folded']?.runs).toBe(1)
  expect(existsSync(`${save}.lock`)).toBe(false)
})
