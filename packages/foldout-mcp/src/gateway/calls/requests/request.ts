import type { CallClient, CallContext, CallResult, EntryCall, ExposedCatalog } from 'foldout/catalog'
import { isObject } from 'foldout-shared/values'
import type { AuditLog } from '../../policy/audit/audit.ts'
import type { ViewResults } from '../../results/results.ts'
import type { OnTraffic } from '../../traffic/traffic.ts'

/** A client's call of a listed tool: of a server's tool, of a meta tool, or of one of the gateway's own. */
export interface Request {
  readonly scope: RequestScope
  /** Distinguishes it from all other requests to this process. */
  readonly number: number
  /** The reader of the catalog, as events of the catalog name it. */
  readonly reader: string
  /** The catalog as the client sees it. */
  readonly exposed: ExposedCatalog
  /** The name of the tool that the client calls. */
  readonly name: string
  readonly arguments: unknown
  readonly context: CallContext
}

/** The servers that are being started because their tools are not known. */
export interface StartingServers {
  /** Whether there are any. */
  isStarting(): boolean
  /** Their names. */
  listStarting(): readonly string[]
  /** Resolves when none is left, or after a while. */
  untilStarted(): Promise<void>
}

/** A server that does not start, so that its tools are not known. */
export interface FailedServer {
  readonly name: string
  /** Whether it only needs a sign-in. */
  readonly needsSignIn: boolean
}

/** What is known about servers whose tools a client cannot call. */
export interface UnavailableServers extends StartingServers {
  /** Those that do not start, of those that a client may use. */
  listFailed(client: CallClient | undefined): readonly FailedServer[]
  /** The tool that a client may use by this name once the user accepts its definition, as `server/tool`. */
  findHeld(name: string, client: CallClient | undefined): string | undefined
  /** All such tools, as `server/tool`. */
  listHeld(client: CallClient | undefined): readonly string[]
}

/** What the requests of one preset have in common. */
export interface RequestScope {
  readonly preset: string
  readonly onTraffic: OnTraffic | undefined
  /** The audit log of this moment, if there is one. */
  getAudit(): AuditLog | undefined
  /** The tool that is denied to a client and has this name, as `server/tool`. */
  findDenied(name: string, client: CallClient | undefined): string | undefined
  readonly results: Pick<ViewResults, 'isFolding' | 'list' | 'read' | 'fold'>
  readonly servers: UnavailableServers
  /** The same client, with an id that no client of another preset has. */
  toScoped(client: CallClient): CallClient
}

export type RequestStage = (request: Request, next: NextRequest) => Promise<CallResult>

export type NextRequest = (request: Request) => Promise<CallResult>

/** The server's tool that a request runs, itself or through a meta tool; undefined for a search. */
export function findTarget({ exposed, name, arguments: args }: Request): EntryCall | undefined {
  return exposed.target(name, args)
}

/** Reads what a client searches for with a meta tool; undefined if it does not search. */
export function readSearch(request: Request): string | undefined {
  const { exposed, name, arguments: args } = request
  const isMeta = exposed.list().some((listed) => listed.name === name)
  const query = isMeta && isObject(args) && !findTarget(request) ? args['query'] : undefined
  // Models also write a list of words.
  const words = [query].flat().filter((word) => typeof word === 'string')
  if (words.length > 0) return words.join(' ')
  return undefined
}
