import { createHash } from 'node:crypto'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import * as v from 'valibot'
import { atLeast, atMost, int, looseObject, number, object, parse, string } from '../../shared/shapes.ts'
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

const discovery = looseObject({ authorizationServerUrl: string })
const client = looseObject({ client_id: string })
const tokens = looseObject({ access_token: string, token_type: string })
const secrets = object({ client, tokens: v.optional(tokens) })

const fields = {
  resource: string,
  issuer: string,
  discovery,
  issuedAt: number,
  expiresAt: v.optional(number),
  wanted: v.optional(string),
}
const file = object({
  format: v.literal(1),
  ...fields,
  secrets: v.union([secrets, object({ keychain: string, parts: v.pipe(int, atLeast(1), atMost(1_000)) })]),
})

/** The secrets of a sign-in. The SDK checks their other fields when it reads them. */
export interface Secrets {
  readonly client: { readonly client_id: string }
  readonly tokens?: { readonly access_token: string; readonly token_type: string } | undefined
}

/** A sign-in as written to disk: with its secrets, or with their place in the keychain. */
export interface StoredRecord {
  readonly format: 1
  readonly resource: string
  readonly issuer: string
  readonly discovery: { readonly authorizationServerUrl: string }
  readonly issuedAt: number
  readonly expiresAt?: number | undefined
  readonly wanted?: string | undefined
  readonly secrets: Secrets | { readonly keychain: string; readonly parts: number }
}

/** @throws Error if it is not a sign-in file. */
export function parseStored(text: string): StoredRecord {
  return parse(file, JSON.parse(text))
}

/** @throws Error if they are not the secrets of a sign-in. */
export function parseSecrets(text: string): Secrets {
  return parse(secrets, JSON.parse(text))
}

const record = object({ ...fields, client, tokens: v.optional(tokens) })

/** @throws Error if it is not a sign-in. */
export function parseRecord(text: string): SignInRecord {
  // The SDK checks the other fields when it reads them.
  const { expiresAt, wanted, tokens: given, ...others } = parse(record, JSON.parse(text))
  return { ...others, tokens: given, expiresAt, wanted }
}
