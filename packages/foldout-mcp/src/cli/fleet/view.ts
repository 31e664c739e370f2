import type { FleetPicture } from 'foldout/dbos'
import type { WaitingCall } from '../../gateway/policy/approvals/approval-store.ts'
import type { GatewayStore } from '../../gateway/store/contract.ts'
import type { StoreSettings } from '../../gateway/store/open.ts'
import { joinTransports, type GatewayProcess } from './processes.ts'

/** What `foldout fleet` shows. */
export interface FleetView extends FleetPicture {
  readonly gateways: readonly GatewayProcess[]
  /** Calls of gateway clients that wait for a person. */
  readonly calls: readonly WaitingCall[]
  /** What could not be read, and why. */
  readonly problems: readonly string[]
}

const NO_RUNS: FleetPicture = {
  machines: [],
  queues: [],
  counts: { active: 0, waiting: 0, done: 0, failed: 0, cancelled: 0 },
  runs: [],
  approvals: [],
  takeovers: [],
  isComplete: true,
}

/** Reads the gateways and runs that share a store. Without a shared store, only the waiting calls. */
export interface FleetViewer {
  look(runs: number): Promise<FleetView>
  close(): Promise<void>
}

export async function openViewer(store: GatewayStore, settings: StoreSettings | undefined): Promise<FleetViewer> {
  const runs = settings && (await openRuns(settings))
  return {
    async look(most) {
      const [gateways, calls, picture] = await Promise.all([
        store.gateways.list(),
        store.approvals.list(),
        runs?.fleet?.look({ runs: most }) ?? NO_RUNS,
      ])
      return {
        gateways: joinTransports(gateways),
        calls,
        ...picture,
        problems: runs?.problem === undefined ? [] : [runs.problem],
      }
    },
    close: async () => runs?.fleet?.close(),
  }
}

interface Runs {
  readonly fleet?: Awaited<ReturnType<typeof openRunsAt>>
  readonly problem?: string
}

async function openRuns(settings: StoreSettings): Promise<Runs> {
  try {
    return { fleet: await openRunsAt(settings) }
  } catch (error) {
    // A gateway works without the package for durable runs.
    if (!isMissingPackage(error)) throw error
    return { problem: `Runs cannot be shown. ${(error as Error).message}` }
  }
}

/** Opens the runs in a store's database. */
export async function openRunsAt({ url, schema }: StoreSettings) {
  const { openFleet } = await import('foldout/dbos')
  return openFleet({ connectionString: url, ...(schema === undefined ? {} : { schema }) })
}

function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'peer-missing'
}
