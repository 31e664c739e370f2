import type { GatewayStatus } from '../../gateway/store/contract.ts'

/** The gateway of one process, which may serve one client over stdio and others over HTTP. */
export interface GatewayProcess extends GatewayStatus {
  readonly transports: readonly ('http' | 'stdio')[]
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
