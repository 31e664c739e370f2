import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../measure.ts'
import { progress, type Bench, type Row } from '../report.ts'
import type { RawClient } from './client.ts'
import { CONTENDERS, createServers, installPeers, type Contender, type Started } from './contenders.ts'
import { getGoals } from './goals.ts'

interface Load {
  /** Turns per contender. */
  readonly rounds: number
  /** Calls per turn, one after the other. */
  readonly alone: number
  /** Calls per turn, several at a time. */
  readonly together: number
  readonly starts: number
  /** Calls before memory counts as warm. */
  readonly warmUp: number
  readonly calls: number
  /** Servers behind the gateway when start and memory are measured. */
  readonly servers: number
  /** How long a gateway is left alone before its memory is read. */
  readonly settleMs: number
}
const THOROUGH: Load = {
  rounds: 20,
  alone: 100,
  together: 400,
  starts: 5,
  warmUp: 2_000,
  calls: 20_000,
  servers: 10,
  settleMs: 3_000,
}
const QUICK: Load = {
  rounds: 2,
  alone: 20,
  together: 64,
  starts: 1,
  warmUp: 100,
  calls: 500,
  servers: 2,
  settleMs: 300,
}

const AT_ONCE = 16
const TOOLS = 36

/** The measurements of one contender. */
export interface Measured {
  readonly contender: Contender
  readonly p50Ms: number
  readonly p99Ms: number
  /** One call after the other. */
  readonly perSecond: number
  /** Sixteen calls at a time. */
  readonly perSecondTogether: number
  readonly coldStartMs?: number | undefined
  readonly cachedStartMs?: number | undefined
  readonly memory?: MemoryUse | undefined
}

interface MemoryUse {
  readonly idleMb: number
  readonly warmMb: number
  readonly afterMb: number
  readonly cpuMicroseconds: number | undefined
}

export const gatewayBench: Bench = {
  name: 'gateway',
  question: 'What does a gateway add to a call, to a start and to memory?',
  columns: [
    { key: 'transport', label: 'transport' },
    { key: 'gateway', label: 'gateway' },
    { key: 'p50Ms', label: 'p50, ms' },
    { key: 'p99Ms', label: 'p99, ms' },
    { key: 'perSecond', label: 'calls/s' },
    { key: 'perSecondTogether', label: `calls/s, ${AT_ONCE} at a time` },
    { key: 'coldStartMs', label: 'cold start, ms' },
    { key: 'cachedStartMs', label: 'cached start, ms' },
    { key: 'idleMb', label: 'idle, MB' },
    { key: 'afterMb', label: 'after calls, MB' },
    { key: 'growthMb', label: 'growth, MB' },
    { key: 'cpuMicroseconds', label: 'CPU µs per call' },
  ],
  async run({ quick }) {
    const load = quick ? QUICK : THOROUGH
    installPeers()
    const folder = mkdtempSync(join(tmpdir(), 'foldout-bench-gateway-'))
    try {
      const measured: Measured[] = []
      for (const transport of ['stdio', 'http'] as const) {
        const contenders = CONTENDERS.filter((contender) => contender.transport === transport)
        const calls = await measureCalls(contenders, load, join(folder, transport))
        const starts = await measureStarts(contenders, load, join(folder, `${transport}-starts`))
        for (const [contender, call] of calls) {
          const isGateway = contender.kind === 'foldout' || contender.kind === 'peer'
          const memory = isGateway ? await measureMemory(contender, load, join(folder, 'memory')) : undefined
          measured.push({ contender, ...call, ...starts.get(contender), memory })
        }
      }
      return { rows: measured.map(toRow), goals: getGoals(measured) }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function toRow({ contender, memory, ...figures }: Measured): Row {
  const { p50Ms, p99Ms, perSecond, perSecondTogether, coldStartMs = null, cachedStartMs = null } = figures
  return {
    transport: contender.transport,
    gateway: contender.name,
    p50Ms,
    p99Ms,
    perSecond,
    perSecondTogether,
    coldStartMs,
    cachedStartMs,
    idleMb: memory?.idleMb ?? null,
    afterMb: memory?.afterMb ?? null,
    growthMb: memory ? memory.afterMb - memory.warmMb : null,
    cpuMicroseconds: memory?.cpuMicroseconds ?? null,
  }
}

type CallFigures = Pick<Measured, 'p50Ms' | 'p99Ms' | 'perSecond' | 'perSecondTogether'>

/** All contenders run at once and take turns, so that other load on the machine affects all alike. The median turn counts. */
async function measureCalls(
  contenders: readonly Contender[],
  { rounds, alone, together, warmUp }: Load,
  folder: string,
): Promise<ReadonlyMap<Contender, CallFigures>> {
  const runs = await Promise.all(
    contenders.map(async (contender, i) => ({ contender, ...(await open(contender, 1, join(folder, String(i)))) })),
  )
  try {
    const taken = new Map(runs.map(({ contender }) => [contender, { times: [] as number[][], rates: [] as number[] }]))
    for (const { contender, client } of runs) {
      progress(`${contender.transport}: warming up ${contender.name} ...`)
      await untilAnswered(contender, client)
      await callTogether(contender, client, warmUp)
    }
    for (let round = 0; round < rounds; round++) {
      if (round % 5 === 0) progress(`${contenders[0]?.transport}: round ${round + 1} of ${rounds} ...`)
      for (let turn = 0; turn < runs.length; turn++) {
        const { contender, client } = runs[(round + turn) % runs.length] ?? fail('There is no such contender.')
        const own = taken.get(contender)
        own?.times.push(await callAlone(contender, client, alone))
        own?.rates.push(await callTogether(contender, client, together))
      }
    }
    return new Map(Array.from(taken, ([contender, { times, rates }]) => [contender, summarize(times, rates)]))
  } finally {
    for (const run of runs) await run.end()
  }
}

function summarize(times: readonly (readonly number[])[], rates: readonly number[]): CallFigures {
  const at = (share: number): number => median(times.map((turn) => getPercentile(turn, share)))
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    perSecond: median(times.map((turn) => (1_000 * turn.length) / turn.reduce((sum, time) => sum + time, 0))),
    perSecondTogether: median(rates),
  }
}

function getPercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

async function callAlone(contender: Contender, client: RawClient, times: number): Promise<number[]> {
  const taken: number[] = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    await callOnce(contender, client, i)
    taken.push(performance.now() - start)
  }
  return taken
}

/** Returns how many calls per second were answered. */
async function callTogether(contender: Contender, client: RawClient, times: number): Promise<number> {
  const start = performance.now()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < times) await callOnce(contender, client, next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return (1_000 * times) / (performance.now() - start)
}

/** Waits, because some gateways accept clients before they know their servers. */
async function untilAnswered(contender: Contender, client: RawClient): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await callOnce(contender, client, 0)
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw error
      await pause(ATTEMPT_MS)
    }
  }
}

const ATTEMPT_MS = 100
const MOST_ATTEMPTS = 600

async function callOnce({ name, toCall }: Contender, client: RawClient, i: number): Promise<void> {
  const params = toCall('s0', `s0_tool_${i % TOOLS}`, { text: `number ${i}` })
  const answer = await client.request('tools/call', params)
  if (!JSON.stringify(answer).includes(`It says: number ${i}`))
    throw new Error(`${name} did not answer the call: ${JSON.stringify(answer).slice(0, 300)}`)
}

/** Milliseconds from the start of the process to the first list: with nothing on disk, and again afterwards. */
async function measureStarts(
  contenders: readonly Contender[],
  load: Load,
  folder: string,
): Promise<ReadonlyMap<Contender, Pick<Measured, 'coldStartMs' | 'cachedStartMs'>>> {
  const many = contenders.filter(({ takesMany }) => takesMany)
  const taken = new Map(many.map((contender) => [contender, { cold: [] as number[], cached: [] as number[] }]))
  for (let round = 0; round < load.starts; round++) {
    for (const [contender, { cold, cached }] of taken) {
      progress(`${contender.transport}: start ${round + 1} of ${contender.name} ...`)
      const own = join(folder, `${round} ${contender.name}`)
      cold.push(await measureStart(contender, load, own))
      cached.push(await measureStart(contender, load, own))
    }
  }
  return new Map(
    Array.from(taken, ([contender, { cold, cached }]) => [
      contender,
      { coldStartMs: median(cold), cachedStartMs: median(cached) },
    ]),
  )
}

async function measureStart(contender: Contender, { servers, settleMs }: Load, folder: string): Promise<number> {
  const start = performance.now()
  const { client, end } = await open(contender, servers, folder)
  const { error } = await client.request('tools/list', {})
  if (error) throw new Error(`${contender.name} did not list its tools: ${error.message}`)
  const taken = performance.now() - start
  // Wait for what is written to disk after the first response, because the next start uses it.
  await pause(settleMs)
  await end()
  return taken
}

async function measureMemory(
  contender: Contender,
  { warmUp, calls, servers, settleMs }: Load,
  folder: string,
): Promise<MemoryUse> {
  progress(`${contender.transport}: memory of ${contender.name} ...`)
  const own = mkdtempSync(`${folder}-`)
  const count = contender.takesMany ? servers : 1
  // The first start fills the contender's cache on disk.
  for (const isLast of [false, true]) {
    const { client, started, end } = await open(contender, count, own)
    try {
      await client.request('tools/list', {})
      await untilAnswered(contender, client)
      await pause(settleMs)
      if (!isLast) continue
      const { pid = 0 } = started.process
      const idleMb = readMemory(pid)
      await callTogether(contender, client, warmUp)
      const warmMb = readMemory(pid)
      const before = readCpuMs(pid)
      await callTogether(contender, client, calls - warmUp)
      const after = readCpuMs(pid)
      const cpuMicroseconds =
        before === undefined || after === undefined ? undefined : ((after - before) * 1_000) / (calls - warmUp)
      return { idleMb, warmMb, afterMb: readMemory(pid), cpuMicroseconds }
    } finally {
      await end()
    }
  }
  return fail('Unreachable.')
}

/** The memory of the process itself, without the servers it started. */
function readMemory(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return (Number(stdout.trim()) * 1_024) / 1e6
}

const TICK_MS = 10

/** Processor time so far, if the system reports it for other processes. */
function readCpuMs(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return undefined
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

interface Run {
  readonly started: Started
  readonly client: RawClient
  end(): Promise<void>
}

const END_MS = 5_000

async function open(contender: Contender, servers: number, folder: string): Promise<Run> {
  const started = await contender.start(createServers(servers), folder)
  const child = started.process
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const client = await started.connect()
  return {
    started,
    client,
    async end() {
      client.close()
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function fail(message: string): never {
  throw new Error(message)
}
