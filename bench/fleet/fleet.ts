import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { join } from 'node:path'
import { createPostgresStore } from 'foldout-fleet'
import pg from 'pg'
import { startPostgres, type PostgresServer } from '../../test/postgres/server.ts'
import { median } from '../measure.ts'
import { readCpu } from './cpu.ts'
import { goal, progress, rounded, type Bench, type Row } from '../report.ts'

const TURNS = 10
/** A request and a call per turn, and the final request. */
const STEPS = 2 * TURNS + 1

export const fleetBench: Bench = {
  name: 'fleet',
  question: 'What do durable runs cost, and how soon does another machine take over?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'machines', label: 'machines' },
    { key: 'runsPerSecond', label: 'runs per second' },
    { key: 'stepsPerSecond', label: 'steps per second' },
    { key: 'machineMs', label: 'processor ms per step: machines' },
    { key: 'databaseMs', label: 'PostgreSQL' },
    { key: 'cores', label: 'cores busy' },
    { key: 'perSecond', label: 'per second' },
    { key: 'seconds', label: 'seconds' },
  ],
  async run({ quick }) {
    const server = await startPostgres({ isDurable: true })
    try {
      const appends = await measureAppends(server, quick ? 100 : 1000)
      const runs = quick ? 10 : 60
      const rows: Row[] = []
      const speeds = new Map<string, number>()
      for (const machines of quick ? [1] : [1, 2, 4]) {
        for (const mode of ['dbos', 'foldout'] as const) {
          progress(`${mode}, ${machines} machines ...`)
          const { perSecond, ...cpu } = await measureRuns(server, mode, machines, runs)
          speeds.set(`${mode} ${machines}`, perSecond)
          rows.push({
            what: mode === 'dbos' ? 'DBOS alone, the same steps' : 'durable runs',
            machines,
            runsPerSecond: rounded(perSecond),
            stepsPerSecond: rounded(perSecond * STEPS),
            ...(Number.isNaN(cpu.machineMs) ? {} : describeCpu(cpu, perSecond * STEPS)),
          })
        }
      }
      const takeovers: number[] = []
      for (let round = 0; round < (quick ? 1 : 3); round++) takeovers.push(await measureTakeover(server, round))
      const get = (name: string): number => speeds.get(name) ?? Number.NaN
      return {
        rows: [
          ...rows,
          { what: 'appends of the store', perSecond: rounded(appends.store) },
          { what: 'plain INSERTs of the same rows', perSecond: rounded(appends.plain) },
          ...takeovers.map((seconds) => ({ what: 'from death to the run going on', seconds: rounded(seconds) })),
        ],
        goals: [
          goal('time per step / DBOS alone', get('dbos 1') / get('foldout 1'), '<=', 1.5),
          goal('store appends / plain INSERTs', appends.store / appends.plain, '>=', 0.8),
          ...(quick ? [] : [goal('throughput of 2 machines / 1', get('foldout 2') / get('foldout 1'), '>=', 1.6)]),
          goal('takeover, slowest (s)', Math.max(...takeovers), '<', 5),
        ],
      }
    } finally {
      await server.stop()
    }
  },
}

/** Writes events one after the other, as a run does, alternating between the store and plain INSERTs. */
async function measureAppends(server: PostgresServer, events: number): Promise<{ store: number; plain: number }> {
  progress('Appends ...')
  const url = await server.createDatabase('appends')
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const store = await createPostgresStore({ pool })
  await pool.query(
    'CREATE TABLE plain (session text, sequence bigint, event text, scope text, batch uuid, PRIMARY KEY (session, sequence))',
  )
  const payload = { message: { role: 'assistant', text: 'x'.repeat(400), toolCalls: [] } }
  const event = JSON.stringify({ type: 'run/said', payload })
  const batch = crypto.randomUUID()
  const write = {
    store: (id: string, sequence: number): Promise<unknown> =>
      store.append(id, [{ sequence, event: { type: 'run/said', payload }, scope: 'all' }]),
    plain: (id: string, sequence: number): Promise<unknown> =>
      pool.query('INSERT INTO plain VALUES ($1, $2, $3, $4, $5)', [id, sequence, event, 'all', batch]),
  }
  const times = { store: [] as number[], plain: [] as number[] }
  // Alternating, because the load on the machine and the disk changes from one second to the next.
  for (let n = 1; n <= events; n++) {
    for (const way of n % 2 === 0 ? (['store', 'plain'] as const) : (['plain', 'store'] as const)) {
      const started = performance.now()
      await write[way]('one', n)
      times[way].push(performance.now() - started)
    }
  }
  await pool.end()
  return { store: 1000 / median(times.store), plain: 1000 / median(times.plain) }
}

interface Machine {
  readonly process: ChildProcessWithoutNullStreams
  start(ids: readonly string[]): void
}

interface MachineOptions {
  readonly url: string
  readonly machine: string
  readonly mode: 'dbos' | 'foldout'
  readonly pauseMs?: number
  readonly turns?: number
  hear(line: string): void
}

async function startMachine({ hear, ...settings }: MachineOptions): Promise<Machine> {
  const options = JSON.stringify({ turns: TURNS, pauseMs: 0, ...settings })
  const child = spawn(process.execPath, [join(import.meta.dirname, 'worker.mjs'), options])
  child.stderr.pipe(process.stderr)
  let rest = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('A machine has ended.')))
    child.stdout.on('data', (data) => {
      const lines = `${rest}${String(data)}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === 'ready') resolve()
        else hear(line)
      }
    })
  })
  return { process: child, start: (ids) => void child.stdin.write(`${JSON.stringify(ids)}\n`) }
}

let databases = 0

interface Cpu {
  /** Milliseconds of a processor for each step, of all machines together. */
  readonly machineMs: number
  readonly databaseMs: number
}

function describeCpu({ machineMs, databaseMs }: Cpu, stepsPerSecond: number): Row {
  const cores = ((machineMs + databaseMs) * stepsPerSecond) / 1000
  return { machineMs: rounded(machineMs), databaseMs: rounded(databaseMs), cores: rounded(cores) }
}

/** How many runs per second some machines end together, and what that takes of the processors. */
async function measureRuns(
  server: PostgresServer,
  mode: MachineOptions['mode'],
  count: number,
  runs: number,
): Promise<Cpu & { readonly perSecond: number }> {
  const url = await server.createDatabase(`runs_${++databases}`)
  let ended = 0
  let check = (): void => undefined
  const hear = (line: string): void => {
    if (line === 'end') ended += 1
    check()
  }
  const machines: Machine[] = []
  for (let n = 0; n < count; n++) machines.push(await startMachine({ url, mode, machine: `machine-${n}`, hear }))
  const run = async (name: string, many: number): Promise<number> => {
    ended = 0
    const started = performance.now()
    const all = new Promise<void>((resolve) => {
      check = () => ended >= many && resolve()
    })
    machines[0]?.start(Array.from({ length: many }, (_, i) => `${name}-${i}`))
    await all
    return (many * 1000) / (performance.now() - started)
  }
  // Warm-up: queues are found, and code is compiled.
  await run('warm', 5)
  const readBoth = (): readonly [number, number] => [
    readCpu(machines.map((machine) => machine.process.pid)),
    readCpu([server.pid]),
  ]
  const before = readBoth()
  const perSecond = await run('run', runs)
  const after = readBoth()
  for (const machine of machines) machine.process.kill('SIGKILL')
  const [machineMs, databaseMs] = [0, 1].map((i) => ((after[i] ?? 0) - (before[i] ?? 0)) / (runs * STEPS))
  return { perSecond, machineMs: machineMs ?? Number.NaN, databaseMs: databaseMs ?? Number.NaN }
}

/** Seconds from the death of a machine until another machine makes the next call of its run. */
async function measureTakeover(server: PostgresServer, round: number): Promise<number> {
  progress('Takeover ...')
  const url = await server.createDatabase(`takeover_${round}`)
  const waiting = new Map<string, () => void>()
  const begin = (machine: string): Promise<Machine> =>
    startMachine({
      url,
      mode: 'foldout',
      machine,
      pauseMs: 300,
      // It must not end before the second machine is there.
      turns: 10_000,
      hear: (line) => line.startsWith('did') && waiting.get(machine)?.(),
    })
  const hearFrom = (machine: string): Promise<void> => new Promise((resolve) => waiting.set(machine, resolve))
  const first = await begin('first')
  const worked = hearFrom('first')
  first.start(['run'])
  await worked
  const second = await begin('second')
  const goesOn = hearFrom('second')
  const died = performance.now()
  first.process.kill('SIGKILL')
  await goesOn
  const seconds = (performance.now() - died) / 1000
  second.process.kill('SIGKILL')
  return seconds
}
