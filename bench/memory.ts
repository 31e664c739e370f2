import { spawn, type ChildProcess } from 'node:child_process'
import { Agent, request as startRequest } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { median } from './measure.ts'
import { goal, progress, type Bench, type BenchOptions, type Goal, type Row } from './report.ts'

type Kind = 'floor' | 'sdk' | 'foldout'
type Transport = 'http' | 'stdio'

interface Load {
  /** Calls before anything is measured, until the code is compiled and the heap has its size. */
  readonly warmUp: number
  readonly calls: number
  readonly rounds: number
}
const THOROUGH: Load = { warmUp: 2_000, calls: 20_000, rounds: 3 }
const QUICK: Load = { warmUp: 200, calls: 1_000, rounds: 1 }

const AT_ONCE = 16
const KINDS: readonly Kind[] = ['floor', 'sdk', 'foldout']
const MAX_RSS_RATIO = 1.15
const MAX_CPU_RATIO = 1.1
const MAX_GROWTH_MB = 10

export const memoryBench: Bench = {
  name: 'memory',
  question: 'How much memory and CPU does serving 36 tools take?',
  columns: [
    { key: 'transport', label: 'transport' },
    { key: 'server', label: 'server' },
    { key: 'rssMb', label: 'RSS, MB' },
    { key: 'growthMb', label: 'growth, MB' },
    { key: 'heapMb', label: 'heap used, MB' },
    { key: 'heapTotalMb', label: 'heap reserved, MB' },
    { key: 'cpuMicroseconds', label: 'CPU µs per call' },
  ],
  async run({ quick }: BenchOptions) {
    const load = quick ? QUICK : THOROUGH
    const rows = [...(await measureTransport('http', load)), ...(await measureTransport('stdio', load))]
    return { rows, goals: (['http', 'stdio'] as const).flatMap((transport) => getGoals(rows, transport)) }
  },
}

/** The servers take turns, so that other load on the machine affects all alike. */
async function measureTransport(transport: Transport, load: Load): Promise<readonly Row[]> {
  const samples = new Map<Kind, Sample[]>(KINDS.map((kind) => [kind, []]))
  for (let round = 0; round < load.rounds; round++) {
    for (const [kind, own] of samples) {
      progress(`${transport}: ${load.calls.toLocaleString('en')} calls of ${kind} ...`)
      own.push(await measureServer(kind, transport, load))
    }
  }
  return Array.from(samples, ([server, own]) => {
    const middle = (key: keyof Sample): number => median(own.map((sample) => sample[key]))
    return {
      transport,
      server,
      rssMb: middle('rssMb'),
      growthMb: middle('growthMb'),
      heapMb: middle('heapMb'),
      heapTotalMb: middle('heapTotalMb'),
      cpuMicroseconds: middle('cpuMicroseconds'),
    }
  })
}

function getGoals(rows: readonly Row[], transport: Transport): readonly Goal[] {
  const at = (server: Kind, key: string): number =>
    Number(rows.find((row) => row['transport'] === transport && row['server'] === server)?.[key])
  return [
    goal(`${transport}: RSS to the plain SDK`, at('foldout', 'rssMb') / at('sdk', 'rssMb'), '<=', MAX_RSS_RATIO),
    goal(`${transport}: MB more after the warm-up`, at('foldout', 'growthMb'), '<', MAX_GROWTH_MB),
    goal(
      `${transport}: CPU per call to the plain SDK`,
      at('foldout', 'cpuMicroseconds') / at('sdk', 'cpuMicroseconds'),
      '<=',
      MAX_CPU_RATIO,
    ),
  ]
}

interface Sample {
  readonly rssMb: number
  readonly growthMb: number
  readonly heapMb: number
  readonly heapTotalMb: number
  readonly cpuMicroseconds: number
}

async function measureServer(kind: Kind, transport: Transport, { warmUp, calls }: Load): Promise<Sample> {
  const program = fileURLToPath(new URL('memory-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, kind, transport], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  try {
    const { url } = await receive<{ readonly url?: string }>(child)
    const call = url === undefined ? await connectOverStdio(child) : await connectOverHttp(url)
    await callMany(call, warmUp)
    const before = await readUse(child)
    await callMany(call, calls - warmUp)
    const after = await readUse(child)
    return {
      rssMb: after.rss / 1e6,
      growthMb: (after.rss - before.rss) / 1e6,
      heapMb: after.heapUsed / 1e6,
      heapTotalMb: after.heapTotal / 1e6,
      cpuMicroseconds: ((after.cpuMs - before.cpuMs) * 1_000) / (calls - warmUp),
    }
  } finally {
    child.kill()
  }
}

interface Use {
  readonly rss: number
  readonly heapUsed: number
  readonly heapTotal: number
  readonly cpuMs: number
}

function readUse(child: ChildProcess): Promise<Use> {
  const use = receive<Use>(child)
  child.send('use')
  return use
}

function receive<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('The server has ended.'))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as Message)
    })
  })
}

type Call = (id: number) => Promise<void>

async function callMany(call: Call, times: number): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < times) await call(++next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

const write = (method: string, params: object, id?: number): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params })
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
const writeCall = (id: number): string =>
  write('tools/call', { name: `tool_${id % 36}`, arguments: { text: `number ${id}` } }, id)

async function connectOverHttp(url: string): Promise<Call> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (body: string, session: string): Promise<{ readonly session: string; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const named = session === '' ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
      const sent = startRequest(url, { method: 'POST', agent, headers: { ...headers, ...named } }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ session: String(response.headers['mcp-session-id'] ?? ''), text }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const { session } = await post(write('initialize', INITIALIZE, 0), '')
  await post(write('notifications/initialized', {}), session)
  return async (id) => {
    const { text } = await post(writeCall(id), session)
    if (!text.includes('It says')) throw new Error(`The call was not answered: ${text}`)
  }
}

async function connectOverStdio(child: ChildProcess): Promise<Call> {
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('The server has no standard streams.')
  const waiting = new Map<number, () => void>()
  createInterface({ input: stdout }).on('line', (line) => {
    const { id } = JSON.parse(line) as { readonly id: number }
    waiting.get(id)?.()
    waiting.delete(id)
  })
  const ask = (line: string, id: number): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(id, resolve)
      stdin.write(`${line}\n`)
    })
  await ask(write('initialize', INITIALIZE, 0), 0)
  stdin.write(`${write('notifications/initialized', {})}\n`)
  return (id) => ask(writeCall(id), id)
}
