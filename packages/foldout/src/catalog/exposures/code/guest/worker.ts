import { parentPort, workerData } from 'node:worker_threads'
import { ignore } from '../../../../core/promises.ts'
import { getErrorType, getErrorMessage } from '../../../../core/errors.ts'
import { loadMachines, type Machine } from './machine.ts'
import type { FromWorker, Outcome, ToWorker, WorkerSetup } from '../contract/messages.ts'
import { explainError, stripTypes } from './program-source.ts'
import { toBrokenOutcome, toErrorOutcome } from './outcomes.ts'
import { groupNames } from './program-calls.ts'
import { createWorkerProgram, type WorkerProgram } from './worker-program.ts'

// Runs programs, one at a time. The machines are the sandbox. The thread keeps the host's thread free, and can be ended if a
// machine does not respect its limits.
const port = getPort()
const { limits, stopped, engine } = workerData as WorkerSetup
const send = (message: FromWorker): void => port.postMessage(message)

function getPort(): NonNullable<typeof parentPort> {
  if (!parentPort) throw new Error('This file runs only in a worker thread.')
  return parentPort
}

async function serve(): Promise<void> {
  const machines = await loadMachines(limits, engine)
  let names = groupNames('')
  let current: { readonly id: number; readonly program: WorkerProgram } | undefined
  let spare = createSpare()

  function createSpare(): Promise<Machine> {
    const machine = machines.create()
    // The next program reports the failure; until then, the rejection must count as handled.
    void ignore(machine, 'the next program reports the failure')
    return machine
  }

  const finish = (id: number, outcome: Outcome, missingLogs = 0): void =>
    send({ type: 'done', program: id, outcome, missingLogs })

  async function run(id: number, source: string): Promise<void> {
    const isStopped = (): boolean => Atomics.load(stopped, 0) === id
    const stripped = stripTypes(source)
    if ('error' in stripped) return finish(id, toErrorOutcome(stripped.error))
    const { code } = stripped
    const machine = await spare
    if (isStopped()) return finish(id, { kind: 'stopped' })
    const program = createWorkerProgram({
      machine,
      id,
      names,
      limits,
      isStopped,
      send,
      onEnd(outcome, missingLogs) {
        current = undefined
        spare = createSpare()
        const isError = outcome.kind === 'error'
        finish(id, isError ? toErrorOutcome(explainError(outcome.error, source, code)) : outcome, missingLogs)
      },
    })
    current = { id, program }
    program.begin(code)
  }

  port.on('message', (message: ToWorker) => {
    if (message.type === 'run') {
      if (message.names !== undefined) names = groupNames(message.names)
      run(message.program, message.source).catch((error: unknown) => {
        current = undefined
        spare = createSpare()
        finish(message.program, toBrokenOutcome(error))
      })
    } else if (message.program === current?.id) {
      if (message.type === 'stop') current.program.stop()
      else current.program.reply(message.call, message.ok, message.text)
    }
  })
  await spare
  send({ type: 'ready', engine: machines.engine })
}

serve().catch((error: unknown) => send({ type: 'broken', code: getErrorType(error), message: getErrorMessage(error) }))
