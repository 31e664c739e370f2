import { createPrivateKey } from 'node:crypto'
import type { FetchLike, OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client'
import type { ServerAuth } from '../config/config.ts'
import type { FilledHttpServer } from '../config/fill-server.ts'
import { dropUndefined } from 'foldout-shared/values'
import { createAuthFetch, describeAuthFailure } from './auth-fetch.ts'
import { getAddress, isIssuer, withTokens, type SignInRecord } from './record.ts'

/** Thrown when the user must sign in before a server can be used. The message says how. */
export class SignInError extends Error {
  override readonly name = 'SignInError'
}

/** What a server said when it refused a request. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL
  readonly scope?: string
}

/** The command that signs in to a server, ready to paste into a shell. */
export function formatLogin(name: string): string {
  return `foldout login ${/^[\w./@-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`}`
}

/**
 * Renews a person's token with the refresh token, which goes to the authorization server that issued it, whatever the server says now.
 * If the authorization server refuses, the returned record has no tokens.
 *
 * @throws Error if the authorization server cannot be reached or fails.
 */
export async function refreshTokens(server: FilledHttpServer, record: SignInRecord): Promise<SignInRecord> {
  const { refreshAuthorization, OAuthError, OAuthErrorCode } = await import('./sdk.ts')
  const { discovery, client, tokens, issuer } = record
  if (!tokens?.refresh_token || !isIssuer(tokens.issuer ?? issuer, issuer)) return { ...record, tokens: undefined }
  try {
    const renewed = await refreshAuthorization(discovery.authorizationServerUrl, {
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: createAuthFetch(server),
      ...dropUndefined({
        metadata: discovery.authorizationServerMetadata,
        resource: discovery.resourceMetadata?.resource,
      }),
    })
    // Without a scope in the response, the new token has the same scope as before.
    return withTokens(record, { ...dropUndefined({ scope: tokens.scope }), ...renewed, issuer })
  } catch (error) {
    const final: readonly string[] = [
      OAuthErrorCode.InvalidGrant,
      OAuthErrorCode.InvalidClient,
      OAuthErrorCode.UnauthorizedClient,
      OAuthErrorCode.InvalidScope,
    ]
    if (error instanceof OAuthError && final.includes(error.code)) return { ...record, tokens: undefined }
    throw toRenewalError(server, error)
  }
}

/** An error without its cause, whose text may be secret. */
function toRenewalError({ name }: FilledHttpServer, error: unknown): Error {
  return new Error(`The sign-in to '${name}' cannot be renewed now: ${describeAuthFailure(error)}`)
}

/**
 * Gets a token for a program with its secret or key, which goes to one authorization server only: the configured one, or the one
 * that the server named first.
 *
 * @throws SignInError if the server now names a different one, or the authorization server refuses.
 */
export async function requestTokens(
  server: FilledHttpServer,
  auth: ServerAuth,
  { before, challenge }: { readonly before: SignInRecord | undefined; readonly challenge: Challenge },
): Promise<SignInRecord> {
  const { fetchToken, selectResourceURL } = await import('./sdk.ts')
  const fetchFn = createAuthFetch(server)
  const discovery = before?.discovery ?? (await discover(server, challenge, fetchFn))
  const issuer = getIssuer(discovery)
  checkIssuer(server, issuer, before?.issuer)
  const provider = await createMachineProvider(auth, issuer)
  const { authorizationServerMetadata: metadata, resourceMetadata } = discovery
  const scope = auth.scope ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(' ')
  try {
    // Fails if the metadata is about a different server.
    const isNamed = (await selectResourceURL(server.url, provider, resourceMetadata)) !== undefined
    const resource = isNamed ? resourceMetadata?.resource : undefined
    const tokens = await fetchToken(provider, discovery.authorizationServerUrl, {
      fetchFn,
      ...dropUndefined({ metadata, resource, scope }),
    })
    const client = { client_id: auth.clientId ?? '', issuer }
    const record = { resource: getAddress(server.url), issuer, discovery, client, wanted: undefined }
    return withTokens(record, { ...tokens, issuer })
  } catch (error) {
    throw toRefusal(server, issuer, error)
  }
}

function toRefusal({ name }: FilledHttpServer, issuer: string, error: unknown): SignInError {
  return new SignInError(`The sign-in to '${name}' failed at ${issuer}: ${describeAuthFailure(error)}`)
}

/** Finds out where to sign in to a server. */
export async function discover(
  { url }: FilledHttpServer,
  { resourceMetadataUrl }: Challenge,
  fetchFn: FetchLike,
): Promise<OAuthDiscoveryState> {
  const { discoverOAuthServerInfo } = await import('./sdk.ts')
  const found = await discoverOAuthServerInfo(url, { fetchFn, ...dropUndefined({ resourceMetadataUrl }) })
  return { ...found, ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }) }
}

export function getIssuer({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState): string {
  return authorizationServerMetadata?.issuer ?? authorizationServerUrl
}

/**
 * Fails if a client's secret would go to an authorization server it is not meant for.
 *
 * @throws SignInError
 */
export function checkIssuer({ name, auth }: FilledHttpServer, issuer: string, known: string | undefined): void {
  const expected = auth?.issuer ?? known
  if (expected === undefined || isIssuer(issuer, expected)) return
  const advice =
    auth?.issuer === undefined
      ? `If that is right, run foldout logout ${name} first, or set auth.issuer.`
      : 'If that is right, change auth.issuer.'
  throw new SignInError(
    `The server '${name}' now asks for a sign-in at ${issuer}, but its credentials are for ${expected}. ${advice}`,
  )
}

async function createMachineProvider(auth: ServerAuth, expectedIssuer: string): Promise<OAuthClientProvider> {
  const { ClientCredentialsProvider, PrivateKeyJwtProvider } = await import('./sdk.ts')
  const { clientId = '', clientSecret = '', privateKey = '', scope } = auth
  const common = { clientId, clientName: 'Foldout', expectedIssuer, ...dropUndefined({ scope }) }
  if (auth.type === 'client-credentials') return new ClientCredentialsProvider({ ...common, clientSecret })
  const key = readKey(privateKey)
  return new PrivateKeyJwtProvider({ ...common, privateKey: key.pem, algorithm: auth.algorithm ?? key.algorithm })
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

/** Reads a key in any of the usual encodings. */
function readKey(text: string): { readonly pem: string; readonly algorithm: string } {
  let key
  try {
    key = createPrivateKey(text)
  } catch {
    // The reason may quote the key.
    throw new SignInError('Its auth.privateKey is not a private key in PEM.')
  }
  const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? '']
  const algorithm = key.asymmetricKeyType === 'rsa' ? 'RS256' : curve
  if (algorithm === undefined) throw new SignInError('Its auth.privateKey must be an RSA or elliptic-curve key.')
  return { pem: key.export({ type: 'pkcs8', format: 'pem' }).toString(), algorithm }
}
