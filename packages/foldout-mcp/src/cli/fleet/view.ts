import type { FleetPicture } from 'foldout-fleet'
import type { WaitingCall } from '../../gateway/policy/approvals/approval-store.ts'
import type { GatewayStatus, GatewayStore } from '../../gateway/store/contract/gateway-store.ts'
import type { StoreSettings } from '../../gateway/store/open.ts'

/** The gateway of one process, which may serve one client over stdio and others over HTTP. */
export interface GatewayProcess extends GatewayStatus {
  readonly transports: readonly ('http' | 'stdio')[]
}

/** What `foldout fleet` shows. */
export interface FleetView extends FleetPicture {
  readonly gateways: readonly GatewayProcess[]
  /** Calls of gateway clients that wait for a person. */
  readonly calls: readonly WaitingCall[]
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
  const runs = settings && (await openRunsAt(settings))
  return {
    async look(most) {
      const [gateways, calls, picture] = await Promise.all([
        store.gateways.list(),
        store.approvals.list(),
        runs?.look({ runs: most }) ?? NO_RUNS,
      ])
      return { gateways: joinTransports(gateways), calls, ...picture }
    },
    close: async () => runs?.close(),
  }
}

/** Opens the runs in a store's database. The store needs the same package, so it is installed. */
export async function openRunsAt({ url, schema }: StoreSettings) {
  const { openFleet } = await import('foldout-fleet')
  return openFleet({ connectionString: url, ...(schema !== undefined && { schema }) })
}

/** Joins the registrations of each process, which has one for each transport. */
export function joinTransports(gateways: readonly GatewayStatus[]): readonly GatewayProcess[] {
  const processes = new Map<string, GatewayProcess>()
  for (const gateway of gateways) {
    // The first part of the name is the same for one process, and differs if another one gets its pid later.
    const key = JSON.stringify([gateway.host, gateway.pid, gateway.name.split('-')[0]])
    processes.set(key, join(processes.get(key), gateway))
  }
  return [...processes.values()]
}

function join(known: GatewayProcess | undefined, gateway: GatewayStatus): GatewayProcess {
  const transport = gateway.url === undefined ? 'stdio' : 'http'
  if (!known) return { ...gateway, transports: [transport] }
  const transports = [...new Set([...known.transports, transport] as const)].toSorted()
  const latest = gateway.silentMs < known.silentMs ? gateway : known
  return {
    ...known,
    url: known.url ?? gateway.url,
    state: latest.state,
    silentMs: latest.silentMs,
    transports,
  }
}
