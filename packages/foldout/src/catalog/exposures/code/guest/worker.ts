import { parentPort, workerData } from 'node:worker_threads'
import { getErrorType, getErrorMessage } from '../../../../core/errors.ts'
import { loadMachines, type Machine } from './machine.ts'
import type { FromWorker, Outcome, ToWorker, WorkerSetup } from '../messages.ts'
import { explainError } from './program-error.ts'
import { loadStripTypes } from './strip-types.ts'
import { workerProgram, type FunctionNames, type WorkerProgram } from './worker-program.ts'

// Runs programs, one at a time. The machines are the sandbox; the thread keeps the host's own free, and can be ended
// where a machine does not heed its limits.
const port = parentPort!
const { limits, stopped, engine } = workerData as WorkerSetup
const send = (message: FromWorker): void => port.postMessage(message)

async function serve(): Promise<void> {
  const [machines, stripTypes] = await Promise.all([loadMachines(limits, engine), loadStripTypes()])
  let names = groupNames('')
  let current: { readonly id: number; readonly program: WorkerProgram } | undefined
  let spare: Promise<Machine> = machines.create()

  async function run(id: number, source: string): Promise<void> {
    const isStopped = (): boolean => Atomics.load(stopped, 0) === id
    const done = (outcome: Outcome, missingLogs: number): void =>
      send({ type: 'done', program: id, outcome, missingLogs })
    const stripped = stripTypes(source)
    if ('error' in stripped) return done({ kind: 'error', error: stripped.error }, 0)
    const { code } = stripped
    const machine = await spare
    if (isStopped()) return done({ kind: 'stopped' }, 0)
    const program = workerProgram({
      machine,
      id,
      names,
      limits,
      isStopped,
      send,
      onEnd(outcome, missingLogs) {
        current = undefined
        const explained =
          outcome.kind === 'error' ? { ...outcome, error: explainError(outcome.error, source, code) } : outcome
        done(explained, missingLogs)
        spare = machines.create()
      },
    })
    current = { id, program }
    program.begin(code)
  }

  port.on('message', (message: ToWorker) => {
    if (message.type === 'run') {
      if (message.names !== undefined) names = groupNames(message.names)
      void run(message.program, message.source)
    } else if (message.program === current?.id) {
      if (message.type === 'stop') current.program.stop()
      else current.program.reply(message.call, message.ok, message.text)
    }
  })
  await spare
  send({ type: 'ready', engine: machines.engine })
}

function groupNames(lines: string): FunctionNames {
  const all = new Set(lines === '' ? [] : lines.split('\n'))
  const servers = new Map<string, string[]>()
  const tools: string[] = []
  for (const name of all) {
    const dot = name.indexOf('.')
    if (dot === -1) {
      tools.push(name)
      continue
    }
    const server = name.slice(0, dot)
    const known = servers.get(server)
    if (known) known.push(name.slice(dot + 1))
    else servers.set(server, [name.slice(dot + 1)])
  }
  return { all, servers, tools }
}

serve().catch((error: unknown) => send({ type: 'broken', code: getErrorType(error), message: getErrorMessage(error) }))
