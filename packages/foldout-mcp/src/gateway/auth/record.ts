import { createHash } from 'node:crypto'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { FilledHttpServer } from '../config/fill-server.ts'
import { RENEW_AHEAD_MS } from './limits.ts'

/** A sign-in: what one authorization server has given for one server. */
export interface SignInRecord {
  /** The address of the server, without its query. The token is for this server alone. */
  readonly resource: string
  /** The authorization server that gave the token. The refresh token is for this one alone. */
  readonly issuer: string
  /** Where it answers, as it said at the time. */
  readonly discovery: OAuthDiscoveryState
  readonly client: StoredOAuthClientInformation
  /** Undefined if the sign-in no longer holds. */
  readonly tokens: StoredOAuthTokens | undefined
  /** When the token was given, and when it expires, in milliseconds since 1970; undefined if it does not say. */
  readonly issuedAt: number
  readonly expiresAt: number | undefined
  /** What the server asked for beyond what the token allows, to be asked for at the next login. */
  readonly wanted: string | undefined
}

/** What a sign-in is kept under: the server, the client and the account, never the name that a configuration gives the server. */
export function identifySignIn({ url, auth }: FilledHttpServer): string {
  const identity = [getAddress(url), url.search, auth?.type ?? 'oauth', auth?.clientId ?? '', auth?.account ?? '']
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 40)
}

/** An address without what may be secret in it. */
export function getAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

/** With when the tokens expire as an absolute time, since nobody knows later when "in an hour" was said. */
export function withTokens(
  record: Omit<SignInRecord, 'tokens' | 'issuedAt' | 'expiresAt'>,
  tokens: StoredOAuthTokens,
): SignInRecord {
  const issuedAt = Date.now()
  const { expires_in: seconds } = tokens
  // Some write 0 for a token that does not expire.
  const isKnown = typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0
  return { ...record, tokens, issuedAt, expiresAt: isKnown ? issuedAt + seconds * 1_000 : undefined }
}

/** When the token should be renewed. */
export function getRenewalTime({ issuedAt, expiresAt }: SignInRecord): number {
  if (expiresAt === undefined) return Infinity
  return expiresAt - Math.min(RENEW_AHEAD_MS, Math.max(0, expiresAt - issuedAt) / 5)
}

export function isIssuer(issuer: string, other: string): boolean {
  return issuer.replace(/\/$/, '') === other.replace(/\/$/, '')
}

const discovery = z.looseObject({ authorizationServerUrl: z.string() })
const client = z.looseObject({ client_id: z.string() })
const tokens = z.looseObject({ access_token: z.string(), token_type: z.string() })
const secrets = z.object({ client, tokens: tokens.optional() })

const file = z.object({
  format: z.literal(1),
  resource: z.string(),
  issuer: z.string(),
  discovery,
  issuedAt: z.number(),
  expiresAt: z.number().optional(),
  wanted: z.string().optional(),
  secrets: z.union([secrets, z.object({ keychain: z.string(), parts: z.int().min(1).max(1_000) })]),
})

/** A sign-in as it is written to disk: with its secrets, or with where they are in the keychain. */
export type StoredRecord = z.output<typeof file>

/** @throws Error if it is not the file of a sign-in. */
export function parseStored(text: string): StoredRecord {
  return file.parse(JSON.parse(text))
}

/** @throws Error if they are not the secrets of a sign-in. */
export function parseSecrets(text: string): z.output<typeof secrets> {
  return secrets.parse(JSON.parse(text))
}

const record = file.omit({ format: true, secrets: true }).extend({ client, tokens: tokens.optional() })

/** @throws Error if it is not a sign-in. */
export function parseRecord(text: string): SignInRecord {
  // Their other fields are checked by the SDK, which reads them.
  const { expiresAt, wanted, tokens: given, ...others } = record.parse(JSON.parse(text))
  return { ...others, tokens: given, expiresAt, wanted }
}
