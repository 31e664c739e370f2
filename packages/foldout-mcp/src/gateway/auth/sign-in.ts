import type { FetchLike, McpAuthorization } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import type { FilledHttpServer } from '../config/fill-server.ts'
import { createAuthFetch, describeAuthFailure, isSafe } from './auth-fetch.ts'
import {
  FIRST_RENEWAL_PAUSE_MS,
  FRESH_TOKEN_MS,
  LONGEST_RENEWAL_PAUSE_MS,
  RECHECK_MS,
  SHORTEST_LIFE_MS,
  WATCH_MS,
} from './limits.ts'
import { getAddress, getRenewalTime, identifySignIn, type SignInRecord } from './record.ts'
import type { SignInStore } from './store.ts'
import { discover, formatLogin, refreshTokens, requestTokens, SignInError, type Challenge } from './tokens.ts'

/** Roughly the longest time a timer can wait. */
const LONGEST_TIMER_MS = 2_000_000_000

export interface SignInOptions {
  readonly store: SignInStore
  onProblem(message: string): void
  /** Called with tokens before they are used, so that they can be hidden wherever they appear. */
  onTokens?(tokens: readonly string[]): void
  /** Called when the user has signed in to a server that could not be used before. */
  onSignedIn?(): void
}

/**
 * The sign-in to one server, for all its connections. Keeps the token and renews it before it expires, whether or not it is
 * used. A token is renewed once, however many connections and processes need it.
 */
export class SignIn implements McpAuthorization {
  readonly #server: FilledHttpServer
  readonly #options: SignInOptions
  readonly #key: string
  #record: SignInRecord | undefined
  /** When the stored sign-in was last looked at, and its stamp then. */
  #seen: { at: number; stamp: string | undefined } = { at: -Infinity, stamp: undefined }
  #renewing: Promise<void> | undefined
  readonly #renewals = new RenewalTimer((record) => void this.#renewAhead(record))
  /** Polls for a sign-in while one is needed. */
  #watch: ReturnType<typeof setInterval> | undefined
  #isClosed = false
  /** The token of the last request. */
  #sent: string | undefined
  #challenge: Challenge = {}

  constructor(server: FilledHttpServer, options: SignInOptions) {
    this.#server = server
    this.#options = options
    this.#key = identifySignIn(server)
  }

  /**
   * The token to send, renewed if it has expired; undefined without a sign-in.
   *
   * @throws SignInError if the user has to sign in again.
   */
  async token(): Promise<string | undefined> {
    const record = await this.#load()
    if (!record) return (this.#sent = undefined)
    if (!record.tokens && !this.#isMachine) throw this.#toLostError(record)
    const isExpired = record.expiresAt !== undefined && Date.now() >= record.expiresAt
    if (isExpired && this.#canRenew(record)) await this.#renew(record.tokens?.access_token)
    return (this.#sent = this.#record?.tokens?.access_token)
  }

  /** Called when the server has refused a request. Returns normally if the request is worth repeating. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    this.#challenge = await readChallenge(response)
    const sent = this.#sent
    this.#seen.at = -Infinity
    const record = await this.#load()
    if (!isSafe(this.#server.url))
      throw new SignInError(
        'It asks you to sign in, but its URL does not begin with https://, so a token is not safe there.',
      )
    if (record?.tokens) {
      // Another process or request has renewed it since.
      if (isFresh(record) || record.tokens.access_token !== sent) return
      if (!this.#canRenew(record)) await this.#end()
    } else if (!this.#isMachine) throw record ? this.#toLostError(record) : await this.#toMissingError()
    await this.#renew(sent)
  }

  /** Renews the token in the background from now on. */
  async keep(): Promise<void> {
    await this.#load().catch((error: unknown) => this.#options.onProblem(describeAuthFailure(error)))
  }

  /** Gets a token now, for a program that signs in without a person. */
  async renew(challenge: Challenge): Promise<SignInRecord | undefined> {
    this.#challenge = challenge
    await this.#renew((await this.#load())?.tokens?.access_token)
    return this.#record
  }

  /** Sends the connections' requests. The token goes only to the server itself. */
  readonly fetch: FetchLike = async (target, init) => {
    const headers = new Headers(init?.headers)
    if (new URL(target).origin !== this.#server.url.origin) headers.delete('authorization')
    const response = await fetch(target, { ...init, headers })
    if (response.status === 403) await this.#checkScope(response)
    return response
  }

  close(): void {
    this.#isClosed = true
    this.#renewals.clear()
    clearInterval(this.#watch)
  }

  get #isMachine(): boolean {
    const { auth } = this.#server
    return auth !== undefined && auth.type !== 'oauth'
  }

  #canRenew({ tokens }: SignInRecord): boolean {
    return this.#isMachine || tokens?.refresh_token !== undefined
  }

  /** Reads the stored sign-in, which another process may have changed. */
  async #load(): Promise<SignInRecord | undefined> {
    if (Date.now() - this.#seen.at < RECHECK_MS) return this.#record
    const { store } = this.#options
    const stamp = await store.getStamp(this.#key)
    if (stamp !== this.#seen.stamp) {
      const record = await store.read(this.#key).catch((error: unknown) => {
        throw new SignInError(`${describeAuthFailure(error)} Unlock it, or run ${formatLogin(this.#server.name)}.`)
      })
      this.#seen.stamp = stamp
      this.#take(record)
    }
    this.#seen.at = Date.now()
    return this.#record
  }

  #take(record: SignInRecord | undefined): void {
    // A copied or renamed file must not send a token elsewhere.
    if (record?.resource === getAddress(this.#server.url)) this.#record = record
    else this.#record = undefined
    const { access_token: access, refresh_token: refresh } = this.#record?.tokens ?? {}
    this.#options.onTokens?.([access, refresh].filter((token) => token !== undefined))
    this.#renewals.succeed()
    this.#schedule()
  }

  /** Renews the token, unless it has already changed since the caller saw it. */
  #renew(seen: string | undefined): Promise<void> {
    this.#renewing ??= this.#renewOnce(seen).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewOnce(seen: string | undefined): Promise<void> {
    const { store } = this.#options
    const { auth } = this.#server
    const record = await store.update(this.#key, async (current) => {
      const isOther = current?.tokens !== undefined && current.tokens.access_token !== seen
      if (isOther && Date.now() < getRenewalTime(current)) return current
      if (auth && this.#isMachine)
        return requestTokens(this.#server, auth, { before: current, challenge: this.#challenge })
      return current && refreshTokens(this.#server, current)
    })
    this.#seen.stamp = await store.getStamp(this.#key)
    this.#take(record)
    if (!record?.tokens) throw record ? this.#toLostError(record) : await this.#toMissingError()
  }

  /** Deletes a token that the server refuses and that cannot be renewed. */
  async #end(): Promise<never> {
    const { store } = this.#options
    const record = await store.update(this.#key, async (current) => current && { ...current, tokens: undefined })
    this.#take(record)
    if (record) throw this.#toLostError(record)
    throw await this.#toMissingError()
  }

  /** Only a person's sign-in can be lost by waiting. */
  #schedule(): void {
    this.#renewals.clear()
    const record = this.#record
    if (record?.tokens?.refresh_token && !this.#isClosed && !this.#isMachine) this.#renewals.plan(record)
  }

  async #renewAhead(record: SignInRecord): Promise<void> {
    if (Date.now() < getRenewalTime(record)) return this.#schedule()
    try {
      await this.#renew(record.tokens?.access_token)
    } catch (error) {
      this.#options.onProblem((error as Error).message)
      this.#renewals.fail()
      this.#schedule()
    }
  }

  async #checkScope(response: Response): Promise<void> {
    const { extractWWWAuthenticateParams } = await import('./sdk.ts')
    const { error, scope = '' } = extractWWWAuthenticateParams(response)
    if (error !== 'insufficient_scope') return
    await response.body?.cancel()
    const record = await this.#load()
    if (record)
      await this.#options.store.update(this.#key, async (current) => {
        if (!current || current.wanted === scope) return current
        return { ...current, wanted: scope }
      })
    const more = scope === '' ? '' : ` (${scope.slice(0, 200)})`
    throw new SignInError(
      `It asks for more permissions than your sign-in has${more}. Run ${formatLogin(this.#server.name)}.`,
    )
  }

  /** Waits for the user to sign in, which happens in another process. */
  #awaitLogin(): void {
    if (this.#isClosed || this.#watch || !this.#options.onSignedIn) return
    const look = async (): Promise<void> => {
      const record = await this.#load()
      if (!record?.tokens || this.#isClosed) return
      clearInterval(this.#watch)
      this.#watch = undefined
      this.#options.onSignedIn?.()
    }
    this.#watch = setInterval(() => void ignore(look(), 'the next look is soon'), WATCH_MS)
    this.#watch.unref()
  }

  #toLostError({ issuer }: SignInRecord): SignInError {
    const { name } = this.#server
    this.#awaitLogin()
    return new SignInError(
      `The sign-in to '${name}' is no longer valid: it was revoked or has expired at ${issuer}. Run ${formatLogin(name)}.`,
    )
  }

  /** The error for a server without a sign-in, depending on whether it says where to sign in. */
  async #toMissingError(): Promise<Error> {
    const { name } = this.#server
    this.#awaitLogin()
    const found = await ignore(
      discover(this.#server, this.#challenge, createAuthFetch(this.#server)),
      'without an answer, the server offers no sign-in',
    )
    if (found?.authorizationServerMetadata || found?.resourceMetadata?.authorization_servers?.length)
      return new SignInError(`It asks you to sign in. Run ${formatLogin(name)}.`)
    // Signing in would not help.
    return new Error(
      'It refuses the request (401) and does not say where to sign in. Give it a token in "headers", or describe the sign-in in "auth".',
    )
  }
}

/** Authorization servers count in whole seconds, so a short-lived token may end well before its time. */
function isFresh({ issuedAt, expiresAt = Infinity }: SignInRecord): boolean {
  const age = Date.now() - issuedAt
  return age >= 0 && age < Math.min(FRESH_TOKEN_MS, (expiresAt - issuedAt) / 4)
}

async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('./sdk.ts')
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  if (response.body) await ignore(response.body.cancel(), 'nobody reads it')
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) }
}

/** When the next renewal ahead is due: before the token expires, and after a failure with growing pauses. */
class RenewalTimer {
  readonly #onDue: (record: SignInRecord) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0

  constructor(onDue: (record: SignInRecord) => void) {
    this.#onDue = onDue
  }

  succeed(): void {
    this.#failures = 0
  }

  fail(): void {
    this.#failures++
  }

  plan(record: SignInRecord): void {
    const dueMs = this.#failures > 0 ? this.#getPauseMs() : getWaitMs(record)
    if (dueMs === Infinity) return
    this.#timer = setTimeout(() => this.#onDue(record), Math.min(dueMs, LONGEST_TIMER_MS))
    this.#timer.unref()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #getPauseMs(): number {
    return Math.min(FIRST_RENEWAL_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_RENEWAL_PAUSE_MS)
  }
}

/** How long a token is used before it is renewed. One with a very short lifetime must not cause constant renewals. */
function getWaitMs(record: SignInRecord): number {
  const dueAt = Math.max(getRenewalTime(record), record.issuedAt + SHORTEST_LIFE_MS)
  return Math.max(0, dueAt - Date.now())
}

/** The sign-ins of one server of the configuration: several if its address depends on the client. */
export interface SignIns {
  /** Undefined if a configured header replaces it. */
  get(server: FilledHttpServer): SignIn | undefined
  close(): void
}

export function createSignIns(options: SignInOptions): SignIns {
  const open = new Map<string, SignIn>()
  return {
    get(server) {
      if (Object.keys(server.headers).some((header) => header.toLowerCase() === 'authorization')) return undefined
      const key = identifySignIn(server)
      const signIn = open.get(key) ?? new SignIn(server, options)
      open.set(key, signIn)
      return signIn
    },
    close() {
      for (const signIn of open.values()) signIn.close()
      open.clear()
    },
  }
}
