import type { PinMode } from '../config/definition.ts'
import type { Variables } from '../config/variables.ts'
import type { GatewayEvent } from '../model/events.ts'
import type { Secrets } from '../policy/secrets/secrets.ts'
import type { GatewayStore } from '../store/contract/gateway-store.ts'
import type { HeldPost } from '../upstreams/asking/held-post.ts'
import type { ConnectedClient } from '../upstreams/asking/outside.ts'
import type { LoopGuard } from './loop-guard.ts'
import type { ProcessGuard } from '../upstreams/process/process-guard.ts'
import type { Turn } from '../upstreams/upstream-options.ts'

/** What every server of a gateway gets from it. */
export interface GatewayServerOptions<Server> {
  readonly store: Pick<GatewayStore, 'catalogs' | 'pins' | 'signIns' | 'gateways'>
  /** Passes answers of clients on between gateways, if there are several. */
  readonly post: HeldPost | undefined
  readonly guard: ProcessGuard
  readonly loop: LoopGuard
  readonly variables: Variables
  readonly version: string
  readonly secrets: Secrets
  /** What to do about definitions that were not accepted, unless the server's own settings say it. */
  readonly pinMode: PinMode
  /** How long the server may take to start and to list its tools. */
  readonly timeoutMs: number
  /** Runs a start when it is this server's turn. */
  readonly turn: Turn
  onEvent(event: GatewayEvent): void
  /** Called when the server's tools, resources or prompts have changed. */
  onTools(server: Server): void
  /** The connected clients that may use the server. */
  listClients(server: Server): readonly ConnectedClient[]
  /** Called with the server's notifications, except those that belong to a running call. */
  onNotification(
    server: Server,
    method: string,
    params: Readonly<Record<string, unknown>>,
    /** The only client it is for. */
    client?: string,
  ): void
}
