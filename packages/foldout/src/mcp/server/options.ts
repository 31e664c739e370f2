import type { Exposure } from '../../catalog/exposures/exposure.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { Session } from '../../session/session.ts'
import type { ServedClient } from './client.ts'

export interface ServeMcpOptions {
  /** Names the server to its clients. */
  readonly name: string
  readonly version: string
  /** The server's name for people. */
  readonly title?: string
  /** How the catalog is put in front of each client. Default `auto()`. */
  readonly expose?: Exposure
  /** Lists everything, for clients that expect that: all of them, or those it says yes to. Default false. */
  readonly everything?: boolean | ((client: ServedClient) => boolean)
  /** What models should know of the server. It stands before what is said of finding tools. */
  readonly instructions?: string
  /** A prompt whose sections are served beside the catalog: reading one gives its text and its tools. */
  readonly prompt?: Pick<BoundPrompt, 'prompt' | 'render'>
  /** The session that a client's tools work with. Called once for each legacy client and once for all modern ones. */
  readonly session?: (client: ServedClient) => Session
  /** How many tools a page of the list has at most. Many clients read only the first one. Default 1,000. */
  readonly pageSize?: number
  /** How long and by whom lists may be kept, which clients are told from MCP 2026-07-28 on. */
  readonly cache?: {
    /** Default one minute. */
    readonly ttlMs?: number
    /** Default `public`, or `private` where `everything` depends on the client. */
    readonly scope?: 'public' | 'private'
  }
  /** Limits for the sessions of legacy clients over HTTP. */
  readonly sessions?: {
    /** One more ends the session that has been idle longest, and is refused if none is idle. Default 100. */
    readonly max?: number
    /** A session without requests and open streams ends after this time. Default 30 minutes. */
    readonly idleMs?: number
  }
  /** A longer request over HTTP is refused. Default 4 MiB. */
  readonly maxBodyBytes?: number
  /** Told what goes wrong on the wire and has no other place. */
  readonly onError?: (error: Error) => void
}

export const DEFAULT_PAGE_SIZE = 1_000
export const DEFAULT_TTL_MS = 60_000
export const DEFAULT_MAX_SESSIONS = 100
export const DEFAULT_IDLE_MS = 30 * 60_000
export const DEFAULT_MAX_BODY_BYTES = 4 * 1024 * 1024
