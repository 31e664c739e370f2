import type { SessionStore } from 'foldout/session'
import type { SignInStore } from '../../auth/store.ts'
import type { ApprovalStore } from '../../policy/approvals/approval-store.ts'
import type { AuditStore } from '../../policy/audit/audit-store.ts'
import type { PinStore } from '../../policy/pins/pins.ts'
import type { QuotaStore } from '../../policy/quotas/quota-store.ts'
import type { SharedResults } from '../../results/shared.ts'
import type { CatalogCache } from '../../upstreams/catalog-cache.ts'

/**
 * A gateway's persistent state: in the user's files, or in a database that any number of gateways share. If the store fails, nothing
 * that needs the user's decision is allowed.
 */
export interface GatewayStore {
  /** Whether gateways on other machines have the same store. */
  readonly isShared: boolean
  /** The tools, resources and prompts of servers when they last ran. */
  readonly catalogs: CatalogCache
  /** Calls that wait for the user. */
  readonly approvals: ApprovalStore
  /** Definitions of tools that the user has accepted. */
  readonly pins: PinStore
  readonly signIns: SignInStore
  readonly quotas: QuotaStore
  /** Undefined if the log is a file named in the configuration. */
  readonly audit: AuditStore | undefined
  /** Folded results, if other gateways can read them too. */
  readonly results: SharedResults | undefined
  readonly gateways: GatewayRegister
  /** Sessions of clients. They end with the process if the store is not shared. */
  openSessions(): Promise<SessionStore>
  close(): Promise<void>
}

/** The gateways that share a store. */
export interface GatewayRegister {
  /** Distinguishes this process in ids that clients may send to another gateway. Undefined if the store is not shared. */
  readonly mark: string | undefined
  /** Makes this gateway known until it leaves, or the process ends in any way. */
  join(gateway: GatewayInfo): Promise<void>
  /** The gateways that joined, oldest first. Empty if the store is not shared. */
  list(): Promise<readonly GatewayStatus[]>
  /** Removes this gateway. */
  leave(): Promise<void>
}

export interface GatewayInfo {
  readonly host: string
  readonly pid: number
  readonly version: string
  /** Where it listens; undefined if it serves the client that started it. */
  readonly url: string | undefined
}

export interface GatewayStatus extends GatewayInfo {
  /** Different for each run of a gateway. It begins with the mark of the process. */
  readonly name: string
  /**
   * `silent` if its connection to the database is open but it has not reported for a while, such as a suspended process;
   * `gone` if its connection has ended.
   */
  readonly state: 'alive' | 'silent' | 'gone'
  readonly startedAt: string
  /** How long ago it last reported, by the database's clock. */
  readonly silentMs: number
}
