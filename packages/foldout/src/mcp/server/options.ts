import type { Catalog } from '../../catalog/contract.ts'
import type { Exposure } from '../../catalog/exposures/exposure.ts'
import { checkNumber } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { Session } from '../../session/session.ts'
import type { AnySlice } from '../../session/slice.ts'
import type { SessionStore } from '../../session/stores/store.ts'
import type { ServedClient } from './client.ts'
import type { McpFeatures } from './features.ts'
import type { Authorize } from './http/authorize.ts'

/**
 * Options of `serveMcp`.
 *
 * @example
 * const options: ServeMcpOptions = { name: 'home', version: '1.0.0', instructions: 'Ask before you open a door.' }
 */
export interface ServeMcpOptions {
  /** Names the server to its clients. */
  readonly name: string
  readonly version: string
  /** The server's name for people. */
  readonly title?: string
  /** How the catalog is put in front of each client. Default `auto()`. */
  readonly expose?: Exposure
  /** Lists everything, for clients that expect that: for all of them, or for those that the function returns true for. Default false. */
  readonly everything?: boolean | ((client: ServedClient) => boolean)
  /**
   * What a client gets in place of the catalog, such as one without the tools that it may not use. It is asked for each connection,
   * and for each request without one. Return the same catalog for clients that are served alike: those without a connection
   * then share their `features`, too. Default: the catalog.
   */
  readonly catalogFor?: (client: ServedClient) => Catalog
  /** What models should know about the server. It stands before the explanation of how to find tools. */
  readonly instructions?: string
  /** A prompt whose sections are served beside the catalog: reading one gives its text and its tools. */
  readonly prompt?: Pick<BoundPrompt, 'prompt' | 'render'>
  /** What is served to a client beside tools: resources, prompts, completions, logs. */
  readonly features?: (client: ServedClient) => McpFeatures
  /** Creates the session that a client's tools work with: for each connection, and as `sessions.modern` says. Default: an empty one. */
  readonly session?: (client: ServedClient) => Session
  /** How many tools a page of the list has at most. Many clients read only the first one. Default 1,000. */
  readonly pageSize?: number
  /** How long and by whom lists may be kept, which clients are told from MCP 2026-07-28 on. */
  readonly cache?: {
    /** Default one minute. */
    readonly ttlMs?: number
    /** Default `public`, or `private` where `everything` or the catalog depends on the client. */
    readonly scope?: 'public' | 'private'
  }
  /** Decides who sent a request over HTTP, or refuses it. Required on addresses that other machines reach, unless `allowedHosts` is given. */
  readonly authorize?: Authorize
  /** Limits for sessions over HTTP, and what clients without one share. */
  readonly sessions?: HttpSessionOptions
  /** Limits for event streams over HTTP. One more is refused with 429 or 503 and `retry-after`. */
  readonly streams?: {
    /** Default 2,000. */
    readonly max?: number
    /** For one principal, or one address if there is no `authorize`. Default 500. */
    readonly perPeer?: number
  }
  /** A longer request over HTTP is refused. Default 4 MiB. */
  readonly maxBodyBytes?: number
  /** A tool's result with more bytes becomes an error that says so. Default 64 MiB over HTTP, and 9.75 MiB elsewhere, since clients close a stdio connection at 10 MiB. */
  readonly maxResultBytes?: number
  /**
   * Whether a call's signal may serve a later call, which takes less time and memory. Only for tools that are done with their
   * signal when they have answered: later it may say that another call was cancelled. Default false.
   */
  readonly reuseSignals?: boolean
  /** Called with errors on the wire that belong to no request. */
  readonly onError?: (error: Error) => void
}

/**
 * Sessions over HTTP, and what they may take.
 *
 * @example
 * const sessions: HttpSessionOptions = { perPeer: 50, modern: 'principal' }
 */
export interface HttpSessionOptions {
  /**
   * Where the sessions of legacy clients are kept. Every machine with the same store and `namespace` goes on with them, so a load
   * balancer needs no sticky sessions, and a restart loses none. Default: in the memory of the process.
   */
  readonly store?: SessionStore
  /** Tells the sessions of this server from others in the store. Default: the server's name. */
  readonly namespace?: string
  /** The slices of the sessions that tools work with, where they are kept in `store`. Not used if there is a `session` function. */
  readonly slices?: readonly AnySlice[]
  /**
   * How many sessions legacy clients may have together. Beyond it, a peer with more than a fair share loses the session that
   * it has not used for longest; if none can be ended, the client is refused with 503. Default 2,000.
   */
  readonly max?: number
  /**
   * How many one peer may have: a principal, or an address if there is no `authorize`. Beyond it, the peer loses the session
   * that it has not used for longest; if none can be ended, it is refused with 429. Default 500.
   */
  readonly perPeer?: number
  /** A session without requests and open streams ends after this time. Default 30 minutes. */
  readonly idleMs?: number
  /** A session that was used within this time is not ended to make room for another one of the same peer. Default one minute. */
  readonly keepMs?: number
  /**
   * What modern clients share over HTTP, where the protocol knows no sessions. `request`: nothing, each request has a session
   * of its own. `principal`: requests of one principal share one; needs `authorize`. `shared`: all requests share one, so that
   * tools must not keep anything there that belongs to one client. Default `request`.
   */
  readonly modern?: 'request' | 'principal' | 'shared'
}

/** @throws FoldoutError if an option cannot be right. */
export function checkOptions(options: ServeMcpOptions): void {
  const { name, version, pageSize, sessions, authorize, prompt, features, catalogFor } = options
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '')
    throw new FoldoutError('mcp-options', 'An MCP server needs a name and a version, which its clients are told.')
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0))
    throw new FoldoutError('mcp-options', `A page cannot have ${pageSize} tools. Give pageSize a whole number from 1.`)
  checkNumbers(options)
  if (prompt && features)
    throw new FoldoutError(
      'mcp-options',
      'A server has a prompt or features, because both may have resources and prompts.',
    )
  if (prompt && catalogFor)
    throw new FoldoutError(
      'mcp-options',
      'A server with a prompt has one catalog, because its sections show the tools of that one.',
    )
  if (sessions?.modern === 'principal' && !authorize)
    throw new FoldoutError('mcp-options', "sessions.modern: 'principal' needs an authorize hook that says who asks.")
}

function checkNumbers({ cache, sessions, streams, maxBodyBytes, maxResultBytes }: ServeMcpOptions): void {
  const atLeast = (least: number, named: Readonly<Record<string, unknown>>): void => {
    for (const [name, given] of Object.entries(named)) checkNumber(name, given, { code: 'mcp-options', least })
  }
  atLeast(1, {
    maxBodyBytes,
    maxResultBytes,
    'sessions.max': sessions?.max,
    'sessions.perPeer': sessions?.perPeer,
    'sessions.idleMs': sessions?.idleMs,
  })
  atLeast(0, {
    'sessions.keepMs': sessions?.keepMs,
    'streams.max': streams?.max,
    'streams.perPeer': streams?.perPeer,
    'cache.ttlMs': cache?.ttlMs,
  })
}
