import { createHash } from 'node:crypto'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { FilledHttpServer } from '../config/fill-server.ts'
import { RENEW_AHEAD_MS } from './limits.ts'

/** A sign-in: what one authorization server issued for one server. */
export interface SignInRecord {
  /** The server's URL, without its query. The token is for this server only. */
  readonly resource: string
  /** The authorization server that issued the token. The refresh token is for this one only. */
  readonly issuer: string
  /** Its endpoints, as published at the time. */
  readonly discovery: OAuthDiscoveryState
  readonly client: StoredOAuthClientInformation
  /** Undefined if the sign-in is no longer valid. */
  readonly tokens: StoredOAuthTokens | undefined
  /** When the token was issued and when it expires, in milliseconds since 1970; undefined if unknown. */
  readonly issuedAt: number
  readonly expiresAt: number | undefined
  /** Scopes that the server asked for and the token lacks, to be requested at the next login. */
  readonly wanted: string | undefined
}

/** The key of a sign-in: the server's URL, the client and the account, but not the server's name in a configuration. */
export function identifySignIn({ url, auth }: FilledHttpServer): string {
  const identity = [getAddress(url), url.search, auth?.type ?? 'oauth', auth?.clientId ?? '', auth?.account ?? '']
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 40)
}

/** A URL without the parts that may be secret. */
export function getAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

/** Stores the expiry as an absolute time, because "in an hour" means nothing later. */
export function withTokens(
  record: Omit<SignInRecord, 'tokens' | 'issuedAt' | 'expiresAt'>,
  tokens: StoredOAuthTokens,
): SignInRecord {
  const issuedAt = Date.now()
  const { expires_in: seconds } = tokens
  // Some servers write 0 for a token that does not expire.
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

/** A sign-in as written to disk: with its secrets, or with their place in the keychain. */
export type StoredRecord = z.output<typeof file>

/** @throws Error if it is not a sign-in file. */
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
  // The SDK checks the other fields when it reads them.
  const { expiresAt, wanted, tokens: given, ...others } = record.parse(JSON.parse(text))
  return { ...others, tokens: given, expiresAt, wanted }
}
