import { FoldoutError, type ApprovalAnswer, type ApprovalRequest } from 'foldout'
import { checkNumbers, getRunKey, listWaitingApprovals, type RunAddress, type RunStatus } from 'foldout/durable'
import type { SessionStore } from 'foldout/session'
import { createPostgresStore } from '../sessions/postgres-store.ts'
import { createMailbox, findQueue, getRunStatus, isOpen, WORKFLOW, type DeliverySdk } from './deliveries.ts'
import { openFleetTables, type FleetMachine, type FleetTables, type FleetTakeover } from './fleet-tables.ts'
import type { DbosWorkflow } from './sdk.ts'

/**
 * Where a fleet is. See {@link openFleet}.
 *
 * @example
 * ```ts
 * const options: FleetOptions = { connectionString: process.env.DATABASE_URL ?? '' }
 * ```
 */
export interface FleetOptions {
  /** The database of the runs and of DBOS. */
  readonly connectionString: string
  /** The schema of the sessions and machines. Default `'foldout'`. */
  readonly schema?: string
  /** The schema of DBOS. Default `'dbos'`. */
  readonly dbosSchema?: string
}

/**
 * Limits for reading a fleet.
 *
 * @example
 * ```ts
 * const options: FleetLookOptions = { runs: 20, approvals: 20 }
 * ```
 */
export interface FleetLookOptions {
  /** How many runs are listed, most recently changed first. Default 50. */
  readonly runs?: number
  /** How many calls that wait for a person are listed, the newest first. Default 100. */
  readonly approvals?: number
  /** How many starts and wake-ups of runs are read, newest first. Default 20,000. */
  readonly deliveries?: number
}

/**
 * A run in the view of a fleet.
 *
 * @example
 * ```ts
 * const describe = ({ kind, id, status }: FleetRun): string => `${kind}/${id} is ${status}`
 * ```
 */
export interface FleetRun extends RunStatus, RunAddress {
  /** When it was last started or woken. */
  readonly changedAt: string
}

/**
 * A queue of runs.
 *
 * @example
 * ```ts
 * const isBusy = ({ waiting, active }: FleetQueue): boolean => waiting > active
 * ```
 */
export interface FleetQueue {
  readonly name: string
  /** The number of starts and wake-ups that no machine works on yet. */
  readonly waiting: number
  /** The number of starts that are scheduled for later. */
  readonly delayed: number
  /** The number of starts and wake-ups in progress. */
  readonly active: number
}

/**
 * A call of a run that waits for a person.
 *
 * @example
 * ```ts
 * const describe = ({ run, request }: FleetApproval): string => `${request.tool} in ${run.kind}/${run.id}`
 * ```
 */
export interface FleetApproval {
  /** Identifies exactly this call, for {@link Fleet.answer}. */
  readonly id: string
  readonly run: RunAddress
  readonly request: ApprovalRequest
}

/**
 * The current state of a fleet.
 *
 * @example
 * ```ts
 * const isHealthy = ({ machines }: FleetPicture): boolean => machines.every(({ isAlive }) => isAlive)
 * ```
 */
export interface FleetPicture {
  readonly machines: readonly FleetMachine[]
  readonly queues: readonly FleetQueue[]
  /** How many runs are in each state, among those that were read. */
  readonly counts: Readonly<Record<RunStatus['status'], number>>
  readonly runs: readonly FleetRun[]
  readonly approvals: readonly FleetApproval[]
  /** The newest first. */
  readonly takeovers: readonly FleetTakeover[]
  /** Whether all runs were read. If not, the oldest are missing. */
  readonly isComplete: boolean
}

/**
 * A view of a fleet from outside.
 *
 * @example
 * ```ts
 * const fleet: Fleet = await openFleet({ connectionString: process.env.DATABASE_URL ?? '' })
 * const { approvals } = await fleet.look()
 * for (const { id } of approvals) await fleet.answer(id, { approved: true })
 * await fleet.close()
 * ```
 */
export interface Fleet {
  look(options?: FleetLookOptions): Promise<FleetPicture>
  /**
   * Answers a call that waits for a person, by its id in a picture. The answer holds for exactly that call, and the
   * first one counts: later ones are rejected with `approval-used` or `approval-unknown`.
   */
  answer(id: string, answer: Pick<ApprovalAnswer, 'approved' | 'reason'>): Promise<FleetApproval>
  close(): Promise<void>
}

const DEFAULT_RUNS = 50
const DEFAULT_APPROVALS = 100
const DEFAULT_DELIVERIES = 20_000
const PAGE = 1000
const DEFAULT_QUEUE = 'foldout'
/** How many characters of a call's digest its id contains. */
const SHOWN_DIGEST = 16
/** How many journals are read at a time. */
const PARALLEL = 8

/**
 * Reads the machines, runs and waiting approvals of a fleet, and answers approvals, without defining a run or joining
 * the fleet. It changes nothing else.
 *
 * @example
 * ```ts
 * const fleet = await openFleet({ connectionString: process.env.DATABASE_URL ?? '' })
 * const { machines, counts } = await fleet.look()
 * await fleet.close()
 * ```
 */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { connectionString, schema = 'foldout', dbosSchema = 'dbos' } = options
  const tables = await openFleetTables({ connectionString, schema, dbosSchema })
  let client: FleetClient | undefined
  let store: SessionStore | undefined
  const closeAll = async (): Promise<void> => {
    await Promise.all([client?.destroy(), store?.close(), tables.close()])
  }
  try {
    // Missing tables are not created here, because nothing has run yet.
    if (tables.hasRuns) client = await openClient(connectionString, dbosSchema)
    if (tables.hasSessions) store = await createPostgresStore({ connectionString, schema })
    return new OpenFleet(tables, client, store, closeAll)
  } catch (error) {
    await closeAll()
    throw error
  }
}

interface FleetClient extends DeliverySdk {
  destroy(): Promise<void>
}

/**
 * Sets how long a transaction may be idle when a connection is opened. Otherwise, DBOS sets it with a query beside the
 * first one of the connection, which pg deprecates with a warning.
 */
function limitIdleTransactions(url: string): string {
  const limited = new URL(url)
  const options = limited.searchParams.get('options')
  if (options?.includes('idle_in_transaction_session_timeout')) return url
  limited.searchParams.set('options', `${options ?? ''} -c idle_in_transaction_session_timeout=60000`.trim())
  // pg does not read a plus sign as a blank.
  return limited.href.replaceAll('+', '%20')
}

async function openClient(systemDatabaseUrl: string, systemDatabaseSchemaName: string): Promise<FleetClient> {
  // Engines get DBOS from their program, and loading it takes long.
  const { DBOSClient } = await import('@dbos-inc/dbos-sdk')
  const silent = { info() {}, warn() {}, error() {}, debug() {} }
  const client = await DBOSClient.create({
    systemDatabaseUrl: limitIdleTransactions(systemDatabaseUrl),
    systemDatabaseSchemaName,
    logger: silent,
  })
  return {
    enqueue: (enqueued, ...args) => client.enqueue(enqueued, ...args),
    listWorkflows: (filter) => client.listWorkflows(filter),
    destroy: () => client.destroy(),
  }
}

interface SeenRun {
  readonly address: RunAddress
  readonly deliveries: DbosWorkflow[]
}

class OpenFleet implements Fleet {
  readonly #tables: FleetTables
  readonly #client: FleetClient | undefined
  readonly #store: SessionStore | undefined
  readonly close: () => Promise<void>

  constructor(
    tables: FleetTables,
    client: FleetClient | undefined,
    store: SessionStore | undefined,
    close: () => Promise<void>,
  ) {
    this.#tables = tables
    this.#client = client
    this.#store = store
    this.close = close
  }

  async look(options: FleetLookOptions = {}): Promise<FleetPicture> {
    const { runs: most = DEFAULT_RUNS, approvals = DEFAULT_APPROVALS, deliveries = DEFAULT_DELIVERIES } = options
    checkNumbers({ runs: most, approvals, deliveries }, { code: 'run-options' })
    const [machines, takeovers, listed] = await Promise.all([
      this.#tables.listMachines(),
      this.#tables.listTakeovers(),
      this.#list(deliveries),
    ])
    const runs = [...groupRuns(listed).values()].map(toFleetRun)
    const counts = { active: 0, waiting: 0, done: 0, failed: 0, cancelled: 0 }
    for (const { status } of runs) counts[status]++
    const working = new Map<string, number>()
    for (const { status, executorId } of listed)
      if (status === 'PENDING' && executorId !== undefined) working.set(executorId, (working.get(executorId) ?? 0) + 1)
    return {
      machines: machines.map((machine) => ({ ...machine, runs: working.get(machine.name) ?? 0 })),
      queues: countQueues(listed),
      counts,
      runs: runs.slice(0, most),
      approvals: await this.#listApprovals(
        runs.filter(({ status }) => status === 'waiting'),
        approvals,
      ),
      takeovers,
      isComplete: listed.length < deliveries,
    }
  }

  async answer(id: string, { approved, reason }: Pick<ApprovalAnswer, 'approved' | 'reason'>): Promise<FleetApproval> {
    const address = readApprovalId(id)
    const found = address && (await this.#findApprovals(address)).find((one) => one.id === id)
    if (!address || !found || !this.#client)
      throw new FoldoutError(
        'approval-unknown',
        `No call waits under the id '${id}': it was answered, it has ended, or the id is wrong.`,
      )
    const { callId, digest } = found.request
    const deliveries = await createMailbox(this.#client, '').list(address)
    const queue = findQueue(deliveries) ?? DEFAULT_QUEUE
    const { applicationName } = deliveries.at(-1) ?? {}
    const value: ApprovalAnswer = { callId, digest, approved, ...(reason !== undefined && { reason }) }
    const isFirst = await createMailbox(this.#client, queue).enqueue(address, {
      name: `approval/${digest}`,
      wokenBy: { topic: 'approval', key: digest, value },
      ...(applicationName !== undefined && { applicationName }),
    })
    if (isFirst) return found
    throw new FoldoutError('approval-used', `The call '${callId}' was answered before, and an answer counts once.`)
  }

  /** Lists the deliveries of all runs, newest first. */
  async #list(most: number): Promise<readonly DbosWorkflow[]> {
    const listed: DbosWorkflow[] = []
    while (this.#client && listed.length < most) {
      const limit = Math.min(PAGE, most - listed.length)
      const filter = { workflowName: WORKFLOW, sortDesc: true, offset: listed.length, limit, loadInput: false }
      const page = await this.#client.listWorkflows(filter)
      listed.push(...page)
      if (page.length < limit) break
    }
    return listed
  }

  async #listApprovals(waiting: readonly RunAddress[], most: number): Promise<readonly FleetApproval[]> {
    const found: FleetApproval[] = []
    for (let i = 0; i < waiting.length && found.length < most; i += PARALLEL) {
      const some = await Promise.all(waiting.slice(i, i + PARALLEL).map((run) => this.#findApprovals(run)))
      found.push(...some.flat())
    }
    return found.slice(0, most)
  }

  async #findApprovals({ kind, id }: RunAddress): Promise<readonly FleetApproval[]> {
    const run = { kind, id }
    const stored = await this.#store?.load(getRunKey(run))
    const waiting = stored ? listWaitingApprovals(stored) : []
    return waiting.map((request) => ({ id: toApprovalId(run, request), run, request }))
  }
}

function toApprovalId(run: RunAddress, { digest }: ApprovalRequest): string {
  return `${getRunKey(run)}#${digest.slice(0, SHOWN_DIGEST)}`
}

function readApprovalId(id: string): RunAddress | undefined {
  const [, kind, run] = /^([^/#]+)\/([^/#]+)#[^#]+$/.exec(id) ?? []
  if (kind === undefined || run === undefined) return undefined
  try {
    return { kind: decodeURIComponent(kind), id: decodeURIComponent(run) }
  } catch {
    return undefined
  }
}

/** Groups deliveries by run, most recent run first. */
function groupRuns(listed: readonly DbosWorkflow[]): ReadonlyMap<string, SeenRun> {
  const runs = new Map<string, SeenRun>()
  for (const delivery of listed) {
    const key = delivery.attributes?.['foldoutRun']
    const address = typeof key === 'string' ? readApprovalId(`${key}#-`) : undefined
    if (typeof key !== 'string' || !address) continue
    const seen = runs.get(key) ?? { address, deliveries: [] }
    seen.deliveries.push(delivery)
    runs.set(key, seen)
  }
  return runs
}

function toFleetRun({ address, deliveries }: SeenRun): FleetRun {
  const changedAt = new Date(Math.max(...deliveries.map(({ createdAt }) => createdAt))).toISOString()
  return { ...getRunStatus(address.id, deliveries), kind: address.kind, changedAt }
}

function countQueues(listed: readonly DbosWorkflow[]): readonly FleetQueue[] {
  const queues = new Map<string, { waiting: number; delayed: number; active: number }>()
  for (const delivery of listed) {
    const { queueName = '', status } = delivery
    const counts = queues.get(queueName) ?? { waiting: 0, delayed: 0, active: 0 }
    queues.set(queueName, counts)
    if (!isOpen(delivery)) continue
    if (status === 'PENDING') counts.active++
    else if (status === 'DELAYED') counts.delayed++
    else counts.waiting++
  }
  return [...queues].map(([name, counts]) => ({ name, ...counts })).sort((a, b) => (a.name < b.name ? -1 : 1))
}
