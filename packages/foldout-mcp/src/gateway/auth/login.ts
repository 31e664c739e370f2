import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  FetchLike,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import { ignore } from 'foldout/promises'
import { UsageError } from '../config/config.ts'
import type { FilledHttpServer } from '../config/fill-server.ts'
import { dropUndefined } from 'foldout-shared/values'
import { createAuthFetch, describeAuthFailure, isSafe } from './auth-fetch.ts'
import { AUTH_REQUEST_TIMEOUT_MS } from './limits.ts'
import { getAddress, identifySignIn, isIssuer, withTokens, type SignInRecord } from './record.ts'
import { listenForRedirect, type RedirectListener } from './redirect.ts'
import { SignIn } from './sign-in.ts'
import type { SignInStore } from './store.ts'
import { checkIssuer, getIssuer, SignInError, type Challenge } from './tokens.ts'

export interface LoginOptions {
  readonly store: SignInStore
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Called with the URL of the page where the user signs in. */
  onPage(page: URL, issuer: string): void
  /** Called if the server's authorization server differs from the one at the last sign-in. */
  onMove(before: string, now: string): void
}

/**
 * Signs in to a server and stores the sign-in. Undefined if the server does not require one.
 *
 * @throws UsageError if the server's URL is not safe for a token, SignInError if the sign-in fails.
 */
export async function login(server: FilledHttpServer, options: LoginOptions): Promise<SignInRecord | undefined> {
  const { store, signal } = options
  if (!isSafe(server.url))
    throw new UsageError(
      `The URL of '${server.name}' does not begin with https://. Others could read a token that is sent there.`,
    )
  const fetchFn = createAuthFetch(server, signal)
  const challenge = await probe(server, signal)
  if (!challenge && !server.auth) return undefined
  if (server.auth && server.auth.type !== 'oauth') return loginMachine(server, store, challenge ?? {})
  const state = randomBytes(32).toString('base64url')
  const listener = await listenForRedirect(state, server.auth?.redirectPort).catch((error: Error) => {
    throw new SignInError(`Cannot listen for the browser: ${error.message}`)
  })
  try {
    const key = identifySignIn(server)
    const before = await ignore(store.read(key), 'a new sign-in replaces it')
    const flow = new LoginFlow(server, { redirectUrl: listener.url, state, before, onMove: options.onMove })
    const record = await authorize(flow, listener, { ...options, challenge: challenge ?? {}, fetchFn })
    await store.replace(key, record)
    return record
  } finally {
    await listener.close()
  }
}

async function loginMachine(
  server: FilledHttpServer,
  store: SignInStore,
  challenge: Challenge,
): Promise<SignInRecord | undefined> {
  const signIn = new SignIn(server, { store, onProblem: () => undefined })
  try {
    return await signIn.renew(challenge)
  } finally {
    signIn.close()
  }
}

/** Sends the server any request, to learn how it refuses it; undefined if it does not. */
async function probe(server: FilledHttpServer, signal: AbortSignal): Promise<Challenge | undefined> {
  const { name, kind, url, headers } = server
  const { extractWWWAuthenticateParams, LATEST_PROTOCOL_VERSION } = await import('./sdk.ts')
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'foldout', version: '0' },
  }
  const isStream = kind === 'sse'
  const response = await fetch(url, {
    method: isStream ? 'GET' : 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...(!isStream && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }) }),
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(AUTH_REQUEST_TIMEOUT_MS)]),
  }).catch((error: unknown) => {
    throw new SignInError(`The server '${name}' cannot be reached: ${describeAuthFailure(error)}`)
  })
  // The body may be a stream that never ends.
  await response.body?.cancel()
  // A server of the older transport takes no requests at this address.
  if (!isStream && (response.status === 404 || response.status === 405))
    return probe({ ...server, kind: 'sse' }, signal)
  if (response.status !== 401 && response.status !== 403) return undefined
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  return dropUndefined({ resourceMetadataUrl, scope })
}

async function authorize(
  flow: LoginFlow,
  listener: RedirectListener,
  options: LoginOptions & { readonly challenge: Challenge; readonly fetchFn: FetchLike },
): Promise<SignInRecord> {
  const { auth } = await import('./sdk.ts')
  const { challenge, fetchFn, signal } = options
  const { server } = flow
  const asked = dropUndefined({ ...challenge, scope: flow.chooseScope(challenge.scope) })
  try {
    await auth(flow, { serverUrl: server.url, fetchFn, ...asked })
  } catch (error) {
    throw flow.toFailure(error)
  }
  options.onPage(flow.getPage(), flow.issuer)
  const late = new AbortController()
  const redirect = await Promise.race([
    listener.redirect,
    sleep(options.timeoutMs, undefined, { signal: AbortSignal.any([signal, late.signal]) }).then(() => undefined),
  ])
  late.abort()
  if (!redirect)
    throw new SignInError(`Nobody signed in within ${options.timeoutMs / 1_000} seconds. Run the command again.`)
  try {
    const record = await flow.finish(redirect.params, fetchFn)
    redirect.finish(`You are signed in to ${server.name}. You can close this window.`)
    return record
  } catch (error) {
    redirect.finish(`The sign-in to ${server.name} did not work; the terminal says why. You can close this window.`)
    throw flow.toFailure(error)
  }
}

interface FlowOptions extends Pick<LoginOptions, 'onMove'> {
  readonly redirectUrl: string
  readonly state: string
  readonly before: SignInRecord | undefined
}

/** The SDK's state while a person signs in. Nothing is stored until the sign-in is complete. */
class LoginFlow implements OAuthClientProvider {
  readonly server: FilledHttpServer
  readonly #options: FlowOptions
  #page: URL | undefined
  #verifier: string | undefined
  #discovery: OAuthDiscoveryState | undefined
  #client: StoredOAuthClientInformation | undefined
  #resource: string | undefined

  constructor(server: FilledHttpServer, options: FlowOptions) {
    this.server = server
    this.#options = options
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl
  }

  get clientMetadataUrl(): string {
    return this.server.auth?.clientMetadataUrl ?? ''
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientSecret, scope } = this.server.auth ?? {}
    return {
      client_name: 'Foldout',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...dropUndefined({ scope }),
    }
  }

  get issuer(): string {
    if (this.#discovery) return getIssuer(this.#discovery)
    return ''
  }

  state(): string {
    return this.#options.state
  }

  /** A configured client, or one registered a moment ago. The server may have forgotten older registrations. */
  clientInformation(): StoredOAuthClientInformation | undefined {
    const { clientId, clientSecret } = this.server.auth ?? {}
    if (clientId === undefined) return this.#client
    return { client_id: clientId, issuer: this.issuer, ...dropUndefined({ client_secret: clientSecret }) }
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client
  }

  /** A new sign-in ignores older tokens. */
  tokens(): undefined {
    return undefined
  }

  saveTokens(): void {
    // Saved when the sign-in is complete.
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource
  }

  redirectToAuthorization(page: URL): void {
    if (!isSafe(page, this.server.url)) throw new SignInError(`The page at ${page.origin} is not safe to sign in at.`)
    this.#page = page
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier ?? ''
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  /** Called before anything is sent to the authorization server. */
  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    const { before, onMove } = this.#options
    const issuer = getIssuer(discovery)
    const isSecret = this.server.auth?.clientSecret !== undefined
    checkIssuer(this.server, issuer, isSecret ? before?.issuer : undefined)
    if (before && !isIssuer(before.issuer, issuer) && !this.#discovery) onMove(before.issuer, issuer)
    this.#discovery = discovery
  }

  /** The scopes to request: as configured or else as the server says, plus those it has asked for since. */
  chooseScope(challenged: string | undefined): string | undefined {
    const { auth } = this.server
    const { before } = this.#options
    const more = before?.wanted?.split(' ') ?? []
    const had = more.length > 0 ? (before?.tokens?.scope?.split(' ') ?? []) : []
    const first = (auth?.scope ?? challenged)?.split(' ') ?? []
    const all = [...new Set([...first, ...had, ...more])].filter((scope) => scope !== '')
    if (all.length === 0) return undefined
    return all.join(' ')
  }

  getPage(): URL {
    if (!this.#page) throw new SignInError('The authorization server did not say where to sign in.')
    return this.#page
  }

  /**
   * Exchanges the code of a redirect for tokens.
   *
   * @throws Error if the redirect is from another authorization server, or this one refused.
   */
  async finish(params: URLSearchParams, fetchFn: FetchLike): Promise<SignInRecord> {
    const client = this.clientInformation()
    if (!this.#discovery || !client) throw new SignInError('No sign-in is in progress.')
    const { authorizationServerMetadata: metadata, authorizationServerUrl } = this.#discovery
    const { exchangeAuthorization } = await import('./sdk.ts')
    const { code, iss } = await readRedirect(params, metadata)
    const tokens = await exchangeAuthorization(authorizationServerUrl, {
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: this.codeVerifier(),
      redirectUri: this.redirectUrl,
      fetchFn,
      ...dropUndefined({ metadata, iss, resource: this.#resource }),
    })
    const { issuer } = this
    const resource = getAddress(this.server.url)
    const record = { resource, issuer, discovery: this.#discovery, client, wanted: undefined }
    return withTokens(record, { ...tokens, issuer })
  }

  toFailure(error: unknown): Error {
    if (error instanceof SignInError || error instanceof UsageError) return error
    const at = this.issuer === '' ? '' : ` at ${this.issuer}`
    if (error instanceof Error && error.name === 'IssuerMismatchError')
      return new SignInError(
        `The sign-in to '${this.server.name}'${at} was stopped: the response came from a different authorization server.`,
      )
    const reason = describeAuthFailure(error)
    const isRegistration = /registration/i.test(reason) || (error as Error).name === 'RegistrationRejectedError'
    if (isRegistration && !this.#discovery?.authorizationServerMetadata)
      return new SignInError(
        `The server '${this.server.name}' does not say where to sign in. Give it a token in "headers", or describe the sign-in in "auth".`,
      )
    const hint = isRegistration ? ' Register a client there yourself, and set auth.clientId.' : ''
    return new SignInError(`The sign-in to '${this.server.name}'${at} failed: ${reason}${hint}`)
  }
}

/** Reads the code from a redirect. */
async function readRedirect(
  params: URLSearchParams,
  metadata: OAuthDiscoveryState['authorizationServerMetadata'],
): Promise<{ readonly code: string; readonly iss: string | undefined }> {
  const { validateAuthorizationResponseIssuer: validate } = await import('./sdk.ts')
  const iss = params.get('iss') ?? undefined
  // Checked before anything else is read: a redirect from elsewhere may say anything.
  validate({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  })
  const code = params.get('code')
  if (code) return { code, iss }
  const reason = [params.get('error'), params.get('error_description')].filter(Boolean).join(': ')
  throw new SignInError(`The sign-in was refused: ${describeAuthFailure(reason || 'no reason given')}`)
}

/** How a sign-in ended. */
export interface LoggedOut {
  /** Undefined if no longer known. */
  readonly issuer: string | undefined
  /** Whether the tokens were revoked at the authorization server, so that nobody can use them. */
  readonly isRevoked: boolean
  /** Why revoking failed, if it was possible. */
  readonly problem: string | undefined
}

/** Signs out of a server: revokes the tokens and deletes them. Undefined if there is no sign-in. */
export async function logout(server: FilledHttpServer, store: SignInStore): Promise<LoggedOut | undefined> {
  const key = identifySignIn(server)
  const isKept = (await store.getStamp(key)) !== ''
  // Without its secrets, the sign-in can still be deleted.
  const found = await ignore(store.read(key), 'without its secrets, it can still be deleted')
  if (isKept) await store.replace(key, undefined)
  if (!found) {
    if (isKept) return { issuer: undefined, isRevoked: false, problem: undefined }
    return undefined
  }
  const { issuer } = found
  try {
    return { issuer, isRevoked: await revoke(server, found), problem: undefined }
  } catch (error) {
    return { issuer, isRevoked: false, problem: describeAuthFailure(error) }
  }
}

/** Revokes a refresh token together with its access tokens, or else an access token (RFC 7009). */
async function revoke(server: FilledHttpServer, { discovery, client, tokens }: SignInRecord): Promise<boolean> {
  const metadata: Readonly<Record<string, unknown>> = { ...discovery.authorizationServerMetadata }
  const endpoint = metadata['revocation_endpoint']
  const token = tokens?.refresh_token ?? tokens?.access_token
  if (typeof endpoint !== 'string' || token === undefined) return false
  const body = new URLSearchParams({ token })
  const headers = new Headers()
  const secret = client.client_secret ?? server.auth?.clientSecret
  if (secret === undefined) body.set('client_id', client.client_id)
  else headers.set('authorization', `Basic ${encodeBasic(client.client_id, secret)}`)
  const response = await createAuthFetch(server)(endpoint, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`The authorization server answered ${response.status}`)
  return true
}

function encodeBasic(id: string, secret: string): string {
  return Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
}
