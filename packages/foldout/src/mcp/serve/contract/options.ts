import { isObject } from 'foldout-shared/values'
import type { Catalog } from '../../../catalog/contract.ts'
import type { Exposure } from '../../../catalog/exposure.ts'
import { checkNumber } from '../../../core/check-number.ts'
import { FoldoutError } from '../../../core/errors.ts'
import type { Skill } from '../../../sections/skills/skill.ts'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import type { Session } from '../../../session/session.ts'
import type { AnySlice } from '../../../session/slice.ts'
import type { SessionStore } from '../../../session/stores/store.ts'
import type { ServedClient } from './client.ts'
import type { McpFeatures } from './features.ts'
import type { Authorize } from './authorize.ts'
import type { ResultFolding } from './result-store.ts'

/**
 * Options of `serveMcp`.
 *
 * @example
 * const options: ServeMcpOptions = { name: 'home', version: '1.0.0', instructions: 'Ask before you open a door.' }
 */
export interface ServeMcpOptions {
  /** The server's name for its clients. */
  readonly name: string
  readonly version: string
  /** The server's name for people. */
  readonly title?: string
  /** How the catalog is listed for each client. Default `auto()`. */
  readonly expose?: Exposure
  /** Whether to list every tool: for all clients, or for those for which the function returns true. Default false. */
  readonly everything?: boolean | ((client: ServedClient) => boolean)
  /**
   * Returns the catalog for a client, such as one without the tools that the client may not use. It is called for each
   * connection, and for each request without one. Return the same catalog for clients that are served alike: those
   * without a connection then also share their `features`. Default: the served catalog.
   */
  readonly catalogFor?: (client: ServedClient) => Catalog
  /**
   * Instructions for models about the server, the same for all clients or returned for each. They follow the
   * explanation of how to find tools, because clients cut long instructions.
   */
  readonly instructions?: string | ((client: ServedClient) => string)
  /** A prompt whose sections are served along with the catalog: reading one returns its text and adds its tools. */
  readonly prompt?: Pick<BoundPrompt, 'prompt' | 'render'>
  /**
   * Skills that are served along with the catalog, by the extension of MCP for skills: from `readSkills`, or from the
   * sections of a prompt with `skillsFromSections`. Clients check their files by digest.
   */
  readonly skills?: readonly Skill[]
  /** Returns everything that is served to a client besides tools: resources, prompts, completions, logs. */
  readonly features?: (client: ServedClient) => McpFeatures
  /**
   * Creates the session for a client's tools: for each connection, and according to `sessions.modern`. Default: an
   * empty one.
   */
  readonly session?: (client: ServedClient) => Session
  /** The maximum number of tools on a page of the list. Many clients read only the first one. Default 1,000. */
  readonly pageSize?: number
  /** How long and by whom lists may be cached. Clients of MCP 2026-07-28 and later receive this. */
  readonly cache?: {
    /** How long a list may be cached, in milliseconds. Default one minute. */
    readonly ttlMs?: number
    /** Who may cache a list. Default `public`, or `private` if `everything` or the catalog depends on the client. */
    readonly scope?: 'public' | 'private'
  }
  /**
   * Identifies the sender of a request over HTTP, or rejects it. Required on addresses that other machines can reach,
   * unless `allowedHosts` is given. It is read for each request, so a getter may change it while the server runs.
   */
  readonly authorize?: Authorize | undefined
  /** Options for sessions over HTTP, and for clients without sessions. */
  readonly sessions?: HttpSessionOptions
  /** Limits for event streams over HTTP. Further streams are rejected with 429 or 503 and `retry-after`. */
  readonly streams?: {
    /** The maximum number of streams. Default 2,000. */
    readonly max?: number
    /** The maximum for one principal, or for one address if there is no `authorize`. Default 500. */
    readonly perPeer?: number
  }
  /** The maximum size of a request over HTTP. A longer one is rejected. Default 4 MiB. */
  readonly maxBodyBytes?: number
  /**
   * The maximum size of a tool's result. A larger one becomes an error that says so. Default 64 MiB over HTTP, and 9.75
   * MiB elsewhere, because clients close a stdio connection at 10 MiB.
   */
  readonly maxResultBytes?: number
  /**
   * Folds results with more tokens: the model gets their size, shape and beginning, and reads any part with
   * `read_result`. Default: every result is sent whole.
   */
  readonly foldResults?: number | ResultFolding
  /** Called with errors on the wire that belong to no request. */
  readonly onError?: (error: Error) => void
}

/**
 * Options for sessions over HTTP.
 *
 * @example
 * const sessions: HttpSessionOptions = { perPeer: 50, modern: 'principal' }
 */
export interface HttpSessionOptions {
  /**
   * The store for the sessions of legacy clients. Every machine with the same store and `namespace` can continue them,
   * so a load balancer needs no sticky sessions, and a restart loses none. Default: the memory of the process.
   */
  readonly store?: SessionStore
  /** Distinguishes the sessions of this server from others in the store. Default: the server's name. */
  readonly namespace?: string
  /** The slices of the tools' sessions, if they are kept in `store`. Not used if there is a `session` function. */
  readonly slices?: readonly AnySlice[]
  /**
   * The maximum number of sessions of all legacy clients. Beyond that, a peer with more than its fair share loses its
   * least recently used session; if none can be ended, the client is rejected with 503. Default 2,000.
   */
  readonly max?: number
  /**
   * The maximum number of sessions of one peer: a principal, or an address if there is no `authorize`. Beyond that, the
   * peer loses its least recently used session; if none can be ended, it is rejected with 429. Default 500.
   */
  readonly perPeer?: number
  /** How long a session without requests or open streams is kept, in milliseconds. Default 30 minutes. */
  readonly idleMs?: number
  /**
   * A session used within this time, in milliseconds, is not ended to make room for another one of the same peer.
   * Default one minute.
   */
  readonly keepMs?: number
  /**
   * What modern clients share over HTTP, where the protocol has no sessions. `request`: nothing; each request has its
   * own session. `principal`: requests of one principal share a session; requires `authorize`. `shared`: all requests
   * share a session, so tools must not store anything there that belongs to one client. Default `request`.
   */
  readonly modern?: 'request' | 'principal' | 'shared'
}

/** @throws FoldoutError if an option is invalid. */
export function checkOptions(options: ServeMcpOptions): void {
  const { name, version, pageSize, sessions, authorize, prompt, features, catalogFor, skills } = options
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '')
    throw new FoldoutError('mcp-options', 'An MCP server needs a name and a version, which its clients receive.')
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0))
    throw new FoldoutError('mcp-options', `A page cannot have ${pageSize} tools. Set pageSize to a positive integer.`)
  checkNumbers(options)
  if ((prompt || skills) && features)
    throw new FoldoutError(
      'mcp-options',
      `A server cannot have both ${prompt ? 'a prompt' : 'skills'} and features, because both may have resources.`,
    )
  if (prompt && catalogFor)
    throw new FoldoutError(
      'mcp-options',
      'A server with a prompt must have one catalog for all clients, because its sections show the tools of that catalog.',
    )
  if (sessions?.modern === 'principal' && !authorize)
    throw new FoldoutError(
      'mcp-options',
      "sessions.modern: 'principal' needs an authorize hook that identifies the sender.",
    )
}

function checkNumbers(options: ServeMcpOptions): void {
  const { cache, sessions, streams, maxBodyBytes, maxResultBytes, foldResults } = options
  const atLeast = (least: number, named: Readonly<Record<string, unknown>>): void => {
    for (const [name, given] of Object.entries(named)) checkNumber(name, given, { code: 'mcp-options', least })
  }
  atLeast(1, {
    maxBodyBytes,
    maxResultBytes,
    // An object without a number of tokens is no number either.
    foldResults: isObject(foldResults) ? (foldResults.tokens ?? foldResults) : foldResults,
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
