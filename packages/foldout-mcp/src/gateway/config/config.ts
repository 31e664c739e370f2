import { isDeepStrictEqual } from 'node:util'
import type { Skill } from 'foldout/skills'
import type {
  ExposureName,
  HttpDefinition,
  PinMode,
  PresetDefinition,
  QuotaDefinition,
  RuleDefinition,
  ServerToolOverride,
  StoreDefinition,
} from './definition.ts'

/** Settings that all kinds of servers have. */
interface CommonServer {
  readonly name: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly start: 'lazy' | 'eager'
  readonly isIsolated: boolean
  /** Infinite if the server is never stopped. */
  readonly idleMs: number
  readonly timeoutMs: number
  readonly maxConcurrent: number
  /** The most processes that run for single clients or folders. */
  readonly maxProcesses: number
  /** Results with more tokens are folded. Overrides the gateway's setting. Infinite if none is folded. */
  readonly foldResults: number | undefined
  /** Infinite if only the protocol's limits apply. */
  readonly maxResultBytes: number
  /** Undefined if the gateway decides. */
  readonly pin: PinMode | undefined
  readonly overrides: ReadonlyMap<string, ServerToolOverride>
}

/** A server that this process starts and talks to over standard input and output. */
export interface StdioServer extends CommonServer {
  readonly kind: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  /** Variables in addition to the few that every server gets, such as PATH. */
  readonly env: Readonly<Record<string, string>>
  readonly envFile: string | undefined
  readonly cwd: string | undefined
}

/** A server that is reached over HTTP. */
export interface HttpServer extends CommonServer {
  readonly kind: 'http' | 'sse'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Client headers to pass on, in lower case. */
  readonly forwardHeaders: readonly string[]
  readonly auth: ServerAuth | undefined
}

/** How to sign in to a server. */
export interface ServerAuth {
  readonly type: 'oauth' | 'client-credentials' | 'private-key-jwt'
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly privateKey: string | undefined
  readonly privateKeyFile: string | undefined
  readonly algorithm: string | undefined
  /** Separated by spaces. */
  readonly scope: string | undefined
  readonly issuer: string | undefined
  readonly clientMetadataUrl: string | undefined
  readonly redirectPort: number | undefined
  readonly account: string | undefined
}

/** A server as written, before variables are filled in. */
export type ServerConfig = StdioServer | HttpServer

/** An entry of the configuration that is invalid. */
export interface InvalidServer {
  readonly name: string
  readonly reason: string
}

/**
 * A configuration that was read: every server with its settings, and the entries that are invalid.
 *
 * @example
 * const config: GatewayConfig = await readGatewayConfig(['servers.json'])
 * config.expose // => 'auto'
 */
export interface GatewayConfig {
  readonly servers: readonly ServerConfig[]
  readonly invalid: readonly InvalidServer[]
  /** Probable mistakes that stop nothing. */
  readonly doubts: readonly string[]
  readonly expose: ExposureName
  readonly presets: ReadonlyMap<string, PresetDefinition>
  readonly instructions: string | undefined
  /** Results with more tokens are folded. Infinite if none is folded; missing if no file sets it. */
  readonly foldResults: number | undefined
  readonly rules: readonly RuleDefinition[]
  readonly quotas: readonly QuotaDefinition[]
  readonly pin: PinMode
  readonly http: HttpDefinition
  readonly audit: AuditSettings | undefined
  /** Folders, by their absolute paths, and skills as they are. */
  readonly skills: readonly (string | Skill)[]
  /** As written, with its variables. */
  readonly store: string | StoreDefinition | undefined
}

/** Where the audit log goes: to a file, or to the store. */
export type AuditSettings =
  | { readonly file: string; readonly maxBytes: number; readonly keep: number }
  | { readonly keepDays: number }

/**
 * A mistake in the command or in a file. The message says what the user has to change.
 *
 * @example
 * const explain = (error: unknown): string => (error instanceof UsageError ? error.message : 'That was not expected.')
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Whether a server with other settings can go on with the process or connection it has. */
export function isSameProcess(before: ServerConfig, after: ServerConfig): boolean {
  return isDeepStrictEqual(withoutShown(before), withoutShown(after))
}

/** What a process depends on. The rest changes only what clients see. */
function withoutShown(server: ServerConfig): object {
  return { ...server, overrides: undefined, description: undefined, foldResults: undefined, maxResultBytes: undefined }
}

/** Whether the same rules apply, to all presets and to each of them. */
export function isSamePolicy(before: GatewayConfig, after: GatewayConfig): boolean {
  const getRules = ({ rules, presets }: GatewayConfig) => [
    rules,
    ...Array.from(presets.values(), (preset) => preset.rules),
  ]
  return isDeepStrictEqual(getRules(before), getRules(after))
}

/** Timers that wait longer do not wait at all. */
const MOST_MS = 2 ** 31 - 1

/**
 * Rejects an option that should be a time and is not. Every comparison with NaN is false, so it would be no limit at all.
 *
 * @throws UsageError
 */
export function checkMs(name: string, given: unknown, least = 0): void {
  if (given === undefined || (typeof given === 'number' && given >= least && given <= MOST_MS)) return
  throw new UsageError(`${name} must be a number of milliseconds, from ${least} to ${MOST_MS}.`)
}
