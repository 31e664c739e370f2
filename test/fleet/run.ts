// Kills machines of a fleet, again and again: `npm run kill -- [--kills 1000] [--waiting 10000] [--quota 10] [--seed 1]`.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPostgresStore } from 'foldout-fleet'
import { startPostgres } from '../postgres/server.ts'
import { killMachines, type KillReport } from './kills.ts'
import { shareQuota } from './quota.ts'
import { letRunsWait } from './waiting.ts'
import { removeFolder } from '../remove-folder.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    waiting: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    quota: { type: 'string', default: '10' },
  },
})
/** A little more than the number of points in a single run. */
const POINTS_OF_A_RUN = 48
/** The last point that a machine with several runs reaches. */
const MOST_POINTS = 60
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const folder = mkdtempSync(join(tmpdir(), 'foldout-kill-'))
const server = await startPostgres()
say(`PostgreSQL: ${server.from}`)

async function kill(
  name: string,
  kills: number,
  runs: number,
  pickPoint: (kill: number) => number,
): Promise<KillReport> {
  const url = await server.createDatabase(name)
  const store = await createPostgresStore({ connectionString: url })
  const effects = join(folder, name)
  const log = (line: string): void => say(`${name}: ${line}`)
  const report = await killMachines({ url, effects, store, kills, runs, pickPoint, log })
  await store.close()
  log(JSON.stringify(report))
  return report
}

try {
  const total = Number(values.kills)
  // First at every point of single runs, then anywhere in several runs at once.
  const each = Math.min(total, POINTS_OF_A_RUN)
  const random = createRandom(Number(values.seed))
  const reports = [await kill('every_point', each, 1, (n) => n + 1)]
  if (total > each) reports.push(await kill('anywhere', total - each, 4, () => 1 + random(MOST_POINTS)))
  const faults = reports.flatMap((report) => report.faults)
  const runs = Number(values.waiting)
  const log = (line: string): void => say(`waiting: ${line}`)
  const waited = runs > 0 ? await letRunsWait(server, join(folder, 'waiting'), { runs, log }) : []
  const seconds = Number(values.quota)
  const logQuota = (line: string): void => say(`quota: ${line}`)
  const missed = seconds > 0 ? await shareQuota(await server.createDatabase('quota'), seconds, logQuota) : []
  for (const fault of [...faults, ...waited, ...missed]) say(fault)
  if (faults.length + waited.length + missed.length > 0) process.exitCode = 1
} finally {
  await server.stop()
  await removeFolder(folder)
}

/** A small generator of random numbers below a limit (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let a = seed
  return (below) => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
