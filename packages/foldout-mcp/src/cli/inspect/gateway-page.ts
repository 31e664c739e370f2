import { randomUUID } from 'node:crypto'
import type { Gateway } from '../../gateway/gateway.ts'
import { TrafficLines } from '../../gateway/traffic/lines.ts'
import type { Redactor } from '../../gateway/policy/secrets/redact.ts'
import type { OnTraffic } from '../../gateway/traffic/traffic.ts'
import { createApprovalSource } from '../../inspector/catalog/approvals.ts'
import { createCatalogSource, type CatalogSource } from '../../inspector/catalog/source.ts'
import { createClientStore } from '../../inspector/clients/store.ts'
import { createInspector, type Inspector } from '../../inspector/inspector.ts'
import { serveRuns } from '../../inspector/runs/resources.ts'
import { createRunSource } from '../../inspector/runs/source.ts'
import { createRunStore } from '../../inspector/runs/store.ts'

/** The page of `foldout serve --inspect`: the tools of a running gateway, what its clients do, and calls that wait. */
export interface GatewayPage {
  readonly onTraffic: OnTraffic
  /** Something changed in the gateway. */
  notify(): void
  /** Serves the page. Returns its address. */
  open(gateway: Gateway, title: string): Promise<string>
  close(): Promise<void>
}

export function createGatewayPage(redactor: Redactor): GatewayPage {
  const lines = new TrafficLines({ redactor, run: randomUUID().slice(0, 8), hasMessages: true })
  const clients = createClientStore()
  // Agents that use the gateway may record their runs to its page.
  const runs = createRunStore()
  const served = serveRuns(runs, redactor)
  let catalog: CatalogSource | undefined
  let inspector: Inspector | undefined
  return {
    onTraffic: (traffic) => clients.add(lines.read(traffic)),
    notify: () => catalog?.notify(),
    async open(gateway, title) {
      catalog = createCatalogSource(gateway)
      const sources = [catalog, createApprovalSource(gateway.approvals), createRunSource(runs, { redactor, clients })]
      inspector = await createInspector(sources, { title, mcp: served.handle })
      return inspector.url
    },
    async close() {
      clients.close()
      runs.close()
      await inspector?.close()
      await served.close()
    },
  }
}
