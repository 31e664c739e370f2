import { checkNumbers } from '../../core/check-number.ts'
import { sleep } from '../../core/timer.ts'
import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import {
  DEFAULT_PAGE,
  getRunKey,
  type RunAddress,
  type RunEnd,
  type RunEngine,
  type RunSignal,
  type RunStatus,
  type RunWork,
} from './contract.ts'

interface LocalRun {
  readonly address: RunAddress
  readonly keys: Set<string>
  readonly cancelled: AbortController
  status: RunStatus
  /** Settles when all work requested so far has ended. */
  last: Promise<void>
  /** The number of requested pieces of work that have not ended. */
  open: number
}

/**
 * Creates an engine for tests and single machines. It remembers nothing beyond the process: start a run again in the
 * next process, and it continues where its journal ends.
 *
 * @example
 * ```ts
 * const engine = createLocalEngine()
 * engine.define('greet', async () => ({ status: 'done', outcome: 'completed' }))
 * await engine.start({ kind: 'greet', id: 'one' })
 * ```
 */
export function createLocalEngine(): RunEngine {
  const kinds = new Map<string, RunWork>()
  const runs = new Map<string, LocalRun>()

  function enqueue(run: LocalRun, wokenBy: RunSignal | undefined): void {
    run.open += 1
    run.status = { id: run.address.id, status: 'active', machine: MACHINE }
    run.last = run.last.then(() => deliver(run, wokenBy))
  }
  async function deliver(run: LocalRun, wokenBy: RunSignal | undefined): Promise<void> {
    const { id } = run.address
    const { signal } = run.cancelled
    run.open -= 1
    if (signal.aborted) return
    let status: RunStatus
    try {
      const end = await findRunWork(
        kinds,
        run.address.kind,
      )({
        id,
        machine: MACHINE,
        wokenBy,
        step: (_name, work) => work(signal),
        wait: (topic) => ({ status: 'waiting', topic }),
      })
      status = { id, machine: MACHINE, ...toRunStatus(end) }
    } catch (error) {
      status = { id, machine: MACHINE, status: 'failed', error: getErrorMessage(error) }
    }
    if (!signal.aborted && run.open === 0) run.status = status
  }

  return {
    name: 'local',
    define(kind, work) {
      kinds.set(kind, work)
    },
    async start(address, { delaySeconds = 0, priority } = {}) {
      checkNumbers({ delaySeconds, priority }, { code: 'run-options' })
      findRunWork(kinds, address.kind)
      const key = getRunKey(address)
      if (runs.has(key)) return
      const wait = delaySeconds > 0 ? sleep(delaySeconds * 1000) : undefined
      const run: LocalRun = {
        address,
        keys: new Set(),
        cancelled: new AbortController(),
        status: { id: address.id, status: 'active' },
        last: wait ?? Promise.resolve(),
        open: 0,
      }
      runs.set(key, run)
      enqueue(run, undefined)
    },
    async signal(address, signal) {
      const run = runs.get(getRunKey(address))
      if (!run) throw createUnknownRunError(address)
      if (run.keys.has(signal.key)) return false
      run.keys.add(signal.key)
      if (!run.cancelled.signal.aborted) enqueue(run, signal)
      return true
    },
    async cancel(address) {
      const run = runs.get(getRunKey(address))
      if (!run) throw createUnknownRunError(address)
      if (run.status.status === 'done') return
      run.cancelled.abort(new Error('The run was cancelled.'))
      run.status = { id: address.id, status: 'cancelled', machine: MACHINE }
    },
    async getStatus(address) {
      return runs.get(getRunKey(address))?.status
    },
    async list(kind, { offset = 0, limit = DEFAULT_PAGE } = {}) {
      checkNumbers({ offset, limit }, { code: 'run-options' })
      const known = [...runs.values()].filter(({ address }) => address.kind === kind).toReversed()
      return known.slice(offset, offset + limit).map(({ status }) => status)
    },
  }
}

const MACHINE = 'local'

/**
 * Finds the work of a kind of run, or throws `run-unknown`. For engines of your own.
 *
 * @example
 * ```ts
 * const kinds = new Map<string, RunWork>([['greet', async () => ({ status: 'done', outcome: 'completed' })]])
 * const work = findRunWork(kinds, 'greet')
 * ```
 */
export function findRunWork(kinds: ReadonlyMap<string, RunWork>, kind: string): RunWork {
  const work = kinds.get(kind)
  if (work) return work
  throw new FoldoutError(
    'run-unknown',
    `This machine does not know runs of the kind '${kind}'. Call defineRun() for it on every machine before the engine serves.`,
  )
}

/**
 * Creates the error for a run that was never started. For engines of your own.
 *
 * @example
 * ```ts
 * createUnknownRunError({ kind: 'refunds', id: 'order-17' }).code // => 'run-unknown'
 * ```
 */
export function createUnknownRunError({ kind, id }: RunAddress): FoldoutError {
  return new FoldoutError('run-unknown', `There is no run '${id}' of the kind '${kind}'. Start it with startRun().`)
}

/**
 * Returns the status of a run whose work has ended. For engines of your own.
 *
 * @example
 * ```ts
 * toRunStatus({ status: 'waiting', topic: 'approval' }) // => { status: 'waiting' }
 * ```
 */
export function toRunStatus(end: RunEnd): Pick<RunStatus, 'status' | 'outcome'> {
  if (end.status === 'waiting') return { status: 'waiting' }
  return { status: 'done', outcome: end.outcome }
}
