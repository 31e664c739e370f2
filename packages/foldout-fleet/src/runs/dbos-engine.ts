import { FoldoutError } from 'foldout'
import {
  checkNumbers,
  createUnknownRunError,
  findRunWork,
  getRunKey,
  type RunAddress,
  type RunEnd,
  type RunEngine,
  type RunSignal,
  type RunWork,
} from 'foldout/durable'
import { ignore } from 'foldout/promises'
import {
  createMailbox,
  getRunStatus,
  getStartId,
  getWokenQueue,
  isOpen,
  WORKFLOW,
  type Delivered,
  type Mailbox,
} from './deliveries.ts'
import { inTurn, joinFleet, type Machine } from './machine.ts'
import type { DbosQueueLimits, DbosSdk, DbosWorkflow } from './sdk.ts'

/** How many runs are listed if the caller does not say. */
const DEFAULT_RUNS = 100

/**
 * Options of {@link createDbosEngine}.
 *
 * @example
 * ```ts
 * const options: DbosEngineOptions = { dbos: DBOS, connectionString: process.env.DATABASE_URL ?? '', limits: { workerConcurrency: 50 } }
 * ```
 */
export interface DbosEngineOptions {
  /** The class `DBOS` of `@dbos-inc/dbos-sdk`. Your program configures and launches it, before it calls `serve`. */
  readonly dbos: DbosSdk
  /** The database server itself, for the lock that says that this machine is alive. Not a pooler that shares connections. */
  readonly connectionString: string
  /** The queue of the runs. Default `'foldout'`. */
  readonly queue?: string
  /**
   * How many runs are worked on at a time, and how often machines look for more. The limits apply to runs that start
   * and to runs that are woken.
   */
  readonly limits?: DbosQueueLimits
  /** The schema of the table of machines. Default `'foldout'`. */
  readonly schema?: string
  /** How long a machine may be silent before others take over its runs, in milliseconds. Default 10,000. */
  readonly silenceMs?: number
  /** How often to look for machines that have died, in milliseconds. Default 1,000. */
  readonly scanMs?: number
  /** Called when this machine takes over the runs of a dead one, and when there are problems. */
  readonly onEvent?: (event: FleetEvent) => void
}

/**
 * An event of the fleet.
 *
 * @example
 * ```ts
 * const describe = (event: FleetEvent): string => (event.type === 'taken-over' ? `${event.runs} runs of ${event.machine}` : event.message)
 * ```
 */
export type FleetEvent =
  | { readonly type: 'taken-over'; readonly machine: string; readonly runs: number }
  | { readonly type: 'warning'; readonly message: string }

/**
 * An engine on DBOS.
 *
 * @example
 * ```ts
 * const engine: DbosEngine = createDbosEngine({ dbos: DBOS, connectionString: process.env.DATABASE_URL ?? '' })
 * await engine.launch()
 * await engine.serve()
 * ```
 */
export interface DbosEngine extends RunEngine {
  /**
   * Launches the DBOS that your program has configured, one machine after another. DBOS creates its tables when it is
   * launched; if several machines do so at the same time in a new database, most fail. Does nothing if DBOS is already
   * launched.
   */
  launch(): Promise<void>
  /** Works on runs, and takes over those of machines that die. Call it after `launch`, or `DBOS.launch()`, with all kinds of runs defined. */
  serve(): Promise<void>
  /** Announces that this machine leaves. Its current work continues until `DBOS.shutdown()`. */
  close(): Promise<void>
}

const DEFAULT_SILENCE_MS = 10_000
const DEFAULT_SCAN_MS = 1000
const DEFAULT_POLLING_MS = 100

/**
 * Creates an engine on DBOS, which needs nothing but PostgreSQL. It joins the DBOS that your program launches. Set
 * `executorID` to a name that only this process has, and `applicationVersion` to a constant, or a deploy will strand
 * the runs in progress. Each start or wake-up of a run is one workflow; while it waits, there is none.
 *
 * @example
 * ```ts
 * const engine = createDbosEngine({ dbos: DBOS, connectionString: process.env.DATABASE_URL ?? '' })
 * const support = defineRun({ name: 'support', engine, store, prompt: prompt.bind(values), adapter })
 * DBOS.setConfig({ name: 'agents', systemDatabaseUrl: process.env.DATABASE_URL ?? '', executorID: 'machine-1', applicationVersion: '1' })
 * await engine.launch()
 * await engine.serve()
 * ```
 */
export function createDbosEngine(options: DbosEngineOptions): DbosEngine {
  const { dbos, queue = 'foldout', silenceMs, scanMs, limits = {} } = options
  checkNumbers({ silenceMs, scanMs }, { code: 'run-options', least: 1 })
  const { globalConcurrency, workerConcurrency, minPollingIntervalMs } = limits
  checkNumbers({ globalConcurrency, workerConcurrency, minPollingIntervalMs }, { code: 'run-options' })
  const kinds = new Map<string, RunWork>()
  let machine: Machine | undefined

  registerWork(dbos, kinds)
  const { enqueue, list: listDeliveries } = openMailbox(dbos, queue)
  const requireDeliveries = async (address: RunAddress): Promise<readonly DbosWorkflow[]> => {
    const deliveries = await listDeliveries(address)
    if (deliveries.length === 0) throw createUnknownRunError(address)
    return deliveries
  }

  return {
    name: 'dbos',
    isExclusive: true,
    define: (kind, work) => void kinds.set(kind, work),
    async launch() {
      if (!dbos.isInitialized()) await inTurn(options.connectionString, () => dbos.launch())
    },
    async serve() {
      checkIdentity(dbos)
      const limits = { minPollingIntervalMs: DEFAULT_POLLING_MS, ...options.limits }
      await dbos.registerQueue(queue, limits)
      await dbos.registerQueue(getWokenQueue(queue), { ...limits, partitionConcurrency: 1 })
      machine ??= await joinFleet(toMachineOptions(options, queue))
    },
    async close() {
      await machine?.leave()
      machine = undefined
    },
    async start(address, start = {}) {
      checkNumbers({ delaySeconds: start.delaySeconds, priority: start.priority }, { code: 'run-options' })
      await enqueue(address, { name: 'start', isFirst: true, ...start })
    },
    async signal(address, signal) {
      const deliveries = await requireDeliveries(address)
      if (getRunStatus(address.id, deliveries).status === 'cancelled') return true
      return enqueue(address, { name: `${signal.topic}/${signal.key}`, wokenBy: signal })
    },
    async cancel(address) {
      const deliveries = await requireDeliveries(address)
      if (getRunStatus(address.id, deliveries).status === 'done') return
      const open = deliveries.filter(isOpen).map(({ workflowID }) => workflowID)
      if (open.length > 0) await dbos.cancelWorkflows(open)
      await enqueue(address, { name: 'cancel', isCancel: true })
    },
    async getStatus(address) {
      const deliveries = await listDeliveries(address)
      if (deliveries.length === 0) return undefined
      return getRunStatus(address.id, deliveries)
    },
    async list(kind, { offset = 0, limit = DEFAULT_RUNS } = {}) {
      checkNumbers({ offset, limit }, { code: 'run-options' })
      const attributes = { foldoutKind: kind }
      const page = { offset, limit, sortDesc: true, loadInput: false, loadOutput: false }
      const starts = await dbos.listWorkflows({ attributes, ...page })
      return Promise.all(
        starts.map(async (start) => {
          const id = String(start.attributes?.['foldoutId'])
          return getRunStatus(id, await listDeliveries({ kind, id }))
        }),
      )
    },
  }
}

function openMailbox(dbos: DbosSdk, queue: string): Mailbox {
  return createMailbox(
    {
      enqueue: (options, ...args) => dbos.enqueueWorkflowWithOptions(options, ...args),
      listWorkflows: (filter) => dbos.listWorkflows(filter),
    },
    queue,
  )
}

/** Tells DBOS what to do for a run that was started or woken. */
function registerWork(dbos: DbosSdk, kinds: ReadonlyMap<string, RunWork>): void {
  const live = new Map<string, { readonly replaced: AbortController; readonly ended: Promise<unknown> }>()
  async function work(address: RunAddress, wokenBy: RunSignal | null, isCancel: boolean): Promise<Delivered> {
    if (isCancel) return { status: 'cancelled' }
    const key = getRunKey(address)
    // The signal may arrive before the work that waits for it has ended.
    if (wokenBy) await dbos.runStep(() => waitForStart(dbos, key), { name: 'turn' })
    const before = live.get(key)
    // This machine was considered dead, and got its own run back: its earlier work on the run no longer has any effect.
    before?.replaced.abort(new Error('Another machine has taken over this run.'))
    await before?.ended
    const replaced = new AbortController()
    const delivered = deliver(findRunWork(kinds, address.kind), address, { wokenBy, replaced, dbos })
    live.set(key, { replaced, ended: ignore(delivered, 'the delivery itself is awaited below') })
    try {
      return await delivered
    } finally {
      if (live.get(key)?.replaced === replaced) live.delete(key)
    }
  }
  dbos.registerWorkflow(work, { name: WORKFLOW })
}

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000

/** Waits until the start of a run has ended. Later pieces of its work are in a queue that does them one at a time. */
async function waitForStart(dbos: DbosSdk, key: string): Promise<void> {
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
    const deliveries = await dbos.listWorkflows({
      attributes: { foldoutRun: key },
      loadInput: false,
      loadOutput: false,
    })
    const start = deliveries.find(({ workflowID }) => workflowID === getStartId(key))
    if (!start || !isOpen(start)) return
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

function deliver(
  work: RunWork,
  { id }: RunAddress,
  { wokenBy, replaced, dbos }: { wokenBy: RunSignal | null; replaced: AbortController; dbos: DbosSdk },
): Promise<RunEnd> {
  return work({
    id,
    machine: dbos.executorID,
    wokenBy: wokenBy ?? undefined,
    wait: (topic) => ({ status: 'waiting', topic }),
    step: (name, job) => dbos.runStep(() => withEither(dbos.stepStatus?.cancelSignal, replaced, job), { name }),
  })
}

/** Runs a job with a signal that aborts when either signal does. */
async function withEither<Value>(
  cancelled: AbortSignal | undefined,
  replaced: AbortController,
  job: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const abort = (): void => replaced.abort(cancelled?.reason)
  cancelled?.addEventListener('abort', abort)
  try {
    return await job(replaced.signal)
  } finally {
    cancelled?.removeEventListener('abort', abort)
  }
}

const PENDING = { workflowName: WORKFLOW, status: 'PENDING', loadInput: false, loadOutput: false } as const
const MOST_LISTED = 1000

function toMachineOptions(options: DbosEngineOptions, queue: string): Parameters<typeof joinFleet>[0] {
  const { dbos, onEvent } = options
  return {
    name: dbos.executorID,
    version: dbos.applicationVersion,
    connectionString: options.connectionString,
    schema: `"${options.schema ?? 'foldout'}"`,
    silenceMs: options.silenceMs ?? DEFAULT_SILENCE_MS,
    scanMs: options.scanMs ?? DEFAULT_SCAN_MS,
    warn: (message) => onEvent?.({ type: 'warning', message }),
    async listOwners() {
      const pending = await dbos.listWorkflows({ ...PENDING, limit: MOST_LISTED })
      return [...new Set(pending.flatMap(({ executorId }) => executorId ?? []))]
    },
    async takeOver(name) {
      const left = await dbos.listWorkflows({ ...PENDING, executorId: name, loadInput: true })
      const isOurs = ({ applicationVersion }: DbosWorkflow): boolean => applicationVersion === dbos.applicationVersion
      for (const queueName of [queue, getWokenQueue(queue)]) {
        const isThere = ({ attributes }: DbosWorkflow): boolean =>
          (attributes?.['foldoutQueue'] !== undefined) === (queueName === queue)
        const same = left.filter((one) => isOurs(one) && isThere(one)).map(({ workflowID }) => workflowID)
        if (same.length > 0) await dbos.resumeWorkflows(same, { queueName })
      }
      for (const other of left) if (!isOurs(other)) await reissue(dbos, queue, other)
      onEvent?.({ type: 'taken-over', machine: name, runs: left.length })
      return left.length
    },
  }
}

/**
 * Enqueues the same work once more. DBOS resumes a workflow only on machines of its version, and after a deploy there
 * may be none. The order ensures that nothing is lost if this machine dies in between; enqueuing twice has no effect.
 */
async function reissue(dbos: DbosSdk, queue: string, { workflowID, input = [] }: DbosWorkflow): Promise<void> {
  const [address, wokenBy, isCancel] = input as [RunAddress, RunSignal | null, boolean]
  const name = `${workflowID.slice(getRunKey(address).length + 1)}~`
  await openMailbox(dbos, queue).enqueue(address, { name, isCancel, ...(wokenBy && { wokenBy }) })
  await dbos.cancelWorkflows([workflowID])
}

function checkIdentity(dbos: DbosSdk): void {
  if (!dbos.isInitialized()) {
    throw new FoldoutError('engine-invalid', 'DBOS is not launched. Call engine.launch() before engine.serve().')
  }
  if (dbos.executorID === 'local') {
    throw new FoldoutError(
      'engine-invalid',
      "This machine is named 'local', like every machine by default. Set executorID in DBOS.setConfig() to a name that only this process has.",
    )
  }
  // DBOS hashes the source where no version is set.
  if (/^[0-9a-f]{32,}$/.test(dbos.applicationVersion)) {
    throw new FoldoutError(
      'engine-invalid',
      'DBOS derives the version of this application from its source, so a deploy would strand the runs in progress. Set applicationVersion in DBOS.setConfig() to a constant.',
    )
  }
}
