import { setTimeout as sleep } from 'node:timers/promises'
import { query, type PostgresServer } from '../postgres/server.ts'
import { startMachine } from './machine.ts'

const BATCH = 100
/** The most that a waiting run may cost a machine. */
const MOST_BYTES_A_RUN = 1024
const MOST_WAKE_MS = 1000
const NOISE_BYTES = 1_000_000

/** Lets many runs wait for a person on one machine, and wakes one. Returns the problems. */
export async function letRunsWait(
  server: PostgresServer,
  effects: string,
  { runs, log }: { readonly runs: number; log(line: string): void },
): Promise<readonly string[]> {
  const url = await server.createDatabase('waiting')
  const machine = startMachine({ url, effects, machine: 'only', turns: 1, scanMs: 1000 }, ['--expose-gc'])
  await machine.hear('ready')
  const countPaused = async (): Promise<number> => {
    const { rows } = await query(
      url,
      `SELECT count(*)::int AS n FROM foldout.events WHERE event LIKE '{"type":"run/paused"%'`,
    )
    return (rows[0] as { n: number }).n
  }
  const measureHeap = async (): Promise<number> => {
    const before = machine.lines.length
    machine.order('heap')
    for (;;) {
      const line = machine.lines.slice(before).find((said) => said.startsWith('heap '))
      if (line !== undefined) return Number(line.split(' ')[1])
      await sleep(20)
    }
  }
  let early = 0
  let measured = 0
  for (let begun = 0; begun < runs; begun += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, runs - begun) }, (_, i) => `w-${begun + i}`)
    machine.order('start', { ids, input: 'pay' })
    while ((await countPaused()) < begun + ids.length) await sleep(50)
    // By now, everything has been loaded and compiled.
    if (begun < runs / 2) {
      early = await measureHeap()
      measured = begun + ids.length
    }
  }
  const late = await measureHeap()
  // With few runs, the figure is mostly noise.
  const grown = (late - early - NOISE_BYTES) / Math.max(1, runs - measured)
  const asked = performance.now()
  machine.order('answer', { id: 'w-1' })
  await machine.hear('did pay')
  const wakeMs = performance.now() - asked
  machine.kill('SIGKILL')
  await machine.ended
  log(JSON.stringify({ runs, heapBefore: early, heapAfter: late, bytesPerRun: grown, wakeMs }))
  return [
    ...(grown > MOST_BYTES_A_RUN ? [`A waiting run takes ${Math.round(grown)} bytes of memory`] : []),
    ...(wakeMs > MOST_WAKE_MS ? [`A run took ${Math.round(wakeMs)} ms to wake up`] : []),
  ]
}
