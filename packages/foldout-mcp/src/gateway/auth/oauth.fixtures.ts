import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClientMetadata, Configuration, Provider } from 'oidc-provider'
import { createCatalog } from 'foldout/catalog'
import { serveMcp } from 'foldout/mcp'

/** A real authorization server on loopback. */
export interface AuthorizationServer {
  readonly issuer: string
  readonly provider: Provider
  /** The grant types of the token requests it has granted, and `refused` for each other request. */
  readonly grants: string[]
  /** Every request, with its headers. */
  readonly requests: readonly IncomingMessage[]
  /** How long access tokens last from now on, in seconds. */
  lifetime: number
  /** Answers every token request with this status, as a broken server would. */
  failsWith: number | undefined
  close(): Promise<void>
}

export interface AuthorizationServerOptions {
  readonly clients?: readonly ClientMetadata[]
  readonly configuration?: Configuration
  readonly features?: Configuration['features']
}

/** The scopes of the guarded server. */
export const SCOPES = ['read', 'write'] as const

// The package is written for Node.js 22.
URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null)

export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const { Provider } = await import('oidc-provider')
  const requests: IncomingMessage[] = []
  const grants: string[] = []
  let answer: RequestListener = (_, response) => response.end()
  const server = createServer((request, response) => {
    requests.push(request)
    const isToken = request.url?.startsWith('/token') === true
    if (state.failsWith === undefined || !isToken) return answer(request, response)
    response.writeHead(state.failsWith, { 'content-type': 'text/plain' }).end('broken')
  })
  const issuer = await listen(server)
  const provider = new Provider(
    issuer,
    configure(options, () => state.lifetime),
  )
  const state: AuthorizationServer = {
    issuer,
    provider,
    grants,
    requests,
    lifetime: 3_600,
    failsWith: undefined,
    close: () => closeServer(server),
  }
  provider.on('grant.success', ({ oidc }) => grants.push(String(oidc.params?.['grant_type'])))
  provider.on('grant.error', () => grants.push('refused'))
  const handle = provider.callback()
  answer = (request, response) => void handle(request, response)
  return state
}

function configure(options: AuthorizationServerOptions, getLifetime: () => number): Configuration {
  return {
    clients: [...(options.clients ?? [])],
    scopes: ['openid', 'offline_access', ...SCOPES],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    cookies: { keys: ['test'] },
    ttl: {
      AccessToken: getLifetime,
      ClientCredentials: getLifetime,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 600,
      Interaction: 600,
    },
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES.join(' '),
          audience: resource,
          accessTokenTTL: getLifetime(),
          accessTokenFormat: 'opaque',
        }),
      },
      ...options.features,
    },
    ...options.configuration,
  }
}

/** A real MCP server over HTTP that accepts tokens from an authorization server. */
export interface GuardedServer {
  readonly url: string
  /** The token of each request, in order; an empty string for none. */
  readonly seen: string[]
  readonly requests: readonly IncomingMessage[]
  /** The authorization server it trusts. */
  authorizationServer: AuthorizationServer
  /** The scope a token must have. */
  scope: string | undefined
  /** Answers instead of the server. */
  instead: RequestListener | undefined
  close(): Promise<void>
}

export async function startGuardedServer(authorizationServer: AuthorizationServer): Promise<GuardedServer> {
  const requests: IncomingMessage[] = []
  const seen: string[] = []
  const catalog = createCatalog([
    {
      name: 'whoami',
      description: 'Says who you are.',
      call: async (_, { client }) => toText(client?.principal ?? 'nobody'),
    },
  ])
  const served = serveMcp(catalog, { name: 'guarded', version: '1.0.0', authorize: (request) => authorize(request) })
  const server = createServer((request, response) => {
    requests.push(request)
    const { instead } = state
    if (instead) return instead(request, response)
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') !== true)
      return void served.handle(request, response)
    const { issuer } = state.authorizationServer
    const metadata = { resource: state.url, authorization_servers: [issuer], scopes_supported: [...SCOPES] }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata))
  })
  const origin = await listen(server)
  const state: GuardedServer = {
    url: `${origin}/mcp`,
    seen,
    requests,
    authorizationServer,
    scope: undefined,
    instead: undefined,
    async close() {
      await served.close()
      await closeServer(server)
    },
  }

  async function authorize(request: Request) {
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    seen.push(token ?? '')
    const found = token === undefined ? undefined : await findToken(state.authorizationServer.provider, token)
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
    if (found?.audience !== state.url) return { status: 401, challenge: `Bearer ${metadata}, scope="read"` } as const
    if (state.scope !== undefined && !found.scopes.includes(state.scope))
      return {
        status: 403,
        challenge: `Bearer error="insufficient_scope", scope="${state.scope}", ${metadata}`,
      } as const
    return { principal: found.who }
  }
  return state
}

async function findToken(provider: Provider, token: string) {
  const person = await provider.AccessToken.find(token)
  const program = person ? undefined : await provider.ClientCredentials.find(token)
  const found = person ?? program
  if (!found?.isValid) return undefined
  return {
    audience: found.aud,
    scopes: found.scope?.split(' ') ?? [],
    who: person?.accountId ?? String(program?.clientId),
  }
}

/** Signs in as a person would: opens pages, keeps cookies and fills in forms. Returns the last page. */
export async function browse(page: string, login = 'anna'): Promise<{ readonly url: string; readonly text: string }> {
  const cookies = new Map<string, string>()
  let request: { readonly url: string; readonly body?: URLSearchParams } = { url: page }
  for (let step = 0; step < 20; step++) {
    const response = await fetch(request.url, {
      redirect: 'manual',
      headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') },
      ...(request.body && { method: 'POST', body: request.body }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    const form = /<form[^>]* action="([^"]+)"[^>]*>[^]*?name="prompt" value="(\w+)"/.exec(text)
    if (location !== null) request = { url: new URL(location, request.url).href }
    else if (form) {
      const [, action = '', prompt = ''] = form
      const body = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'any' }) })
      request = { url: new URL(action, request.url).href, body }
    } else return { url: request.url, text }
  }
  throw new Error('The pages never end.')
}

function toText(text: string) {
  return { content: [{ type: 'text' as const, text }] }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
