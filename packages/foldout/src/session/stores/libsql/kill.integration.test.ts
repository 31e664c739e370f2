import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { NO_STEPS, digested, randomFrom, reportOn, type Report } from './kill.fixtures.ts'
import { removeFolder } from '../../../../../../test/remove-folder.ts'

/** `npm run more -- whole` kills more processes. */
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }
const ROUNDS = env.MODE === 'whole' ? 40 : 12
const fixture = join(import.meta.dirname, 'kill.fixtures.ts')
const folder = mkdtempSync(join(tmpdir(), 'foldout-kill-'))
afterAll(() => removeFolder(folder))

interface Life {
  /** The report of the process, unless it was killed before it had read the file. */
  readonly report: Report | undefined
  readonly acknowledged: number
}

/** Starts a process on the file and kills it some time after it starts or first prints. */
async function liveAndDie(path: string, seed: number, random: (below: number) => number): Promise<Life> {
  const child = spawn(process.execPath, ['--import', 'tsx', fixture, path, String(seed)])
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_code, signal) => resolve(signal)))
  let said = ''
  let complaint = ''
  child.stderr.on('data', (data) => (complaint += String(data)))
  const spoke = new Promise<void>((resolve) =>
    child.stdout.on('data', (data) => {
      said += String(data)
      resolve()
    }),
  )
  const diesEarly = random(6) === 0
  await (diesEarly ? delay(random(500)) : Promise.race([spoke, ended]))
  await delay(random(diesEarly ? 10 : 150))
  child.kill('SIGKILL')
  expect({ endedBy: await ended, complaint }).toEqual({ endedBy: 'SIGKILL', complaint: '' })
  // The last piece is empty, or a line that was cut off.
  const [report, ...numbers] = said.split('\n').slice(0, -1)
  return {
    report: report === undefined ? undefined : (JSON.parse(report) as Report),
    acknowledged: Math.max(0, ...numbers.map(Number)),
  }
}

function expectWhole(report: Report, acknowledged: number): void {
  expect(report.integrity).toEqual([{ integrity_check: 'ok' }])
  const numbers = report.steps.map((step) => step.n)
  expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  expect(numbers.length).toBeGreaterThanOrEqual(acknowledged)
  for (const { group, groupSize } of report.steps) {
    expect(report.steps.filter((step) => step.group === group)).toHaveLength(groupSize)
  }
  const kept = report.steps.filter((step) => step.stays)
  expect(report.digest).toEqual(kept.reduce((state, step) => digested(state, step.n), NO_STEPS))
}

it('R25 finds every acknowledged event once and in order after kill -9', { timeout: 300_000 }, async () => {
  const seed = Number(process.env['FOLDOUT_KILL_SEED'] ?? Date.now() % 1_000_000)
  const random = randomFrom(seed)
  const path = join(folder, 'sessions.db')
  let acknowledged = 0
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const life = await liveAndDie(path, random(2 ** 31), random)
      if (life.report) expectWhole(life.report, acknowledged)
      acknowledged = Math.max(acknowledged, life.acknowledged)
    }
    expectWhole(await reportOn(path), acknowledged)
    expect(acknowledged).toBeGreaterThan(ROUNDS)
  } catch (error) {
    throw new Error(`Failed with FOLDOUT_KILL_SEED=${seed}`, { cause: error })
  }
})
