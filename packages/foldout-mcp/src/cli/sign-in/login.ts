import { login, logout } from '../../gateway/auth/login.ts'
import { LOGIN_TIMEOUT_MS } from '../../gateway/auth/limits.ts'
import { identifySignIn } from '../../gateway/auth/record.ts'
import type { SignInStore } from '../../gateway/auth/store.ts'
import { SignInError } from '../../gateway/auth/tokens.ts'
import { UsageError, type GatewayConfig } from '../../gateway/config/config.ts'
import { fillServer, type FilledHttpServer } from '../../gateway/config/fill-server.ts'
import { openBrowser } from '../../system/open-browser.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore } from '../support/store.ts'
import { openConfig, type ConfigOptions } from '../support/trust.ts'
import { formatSentences, toLine } from '../support/text.ts'

export interface LoginCommandOptions extends ConfigOptions {
  /** The database that gateways share. */
  readonly store?: string
  /** Whether a browser is opened. Default true. */
  readonly browser?: boolean
  readonly timeout?: number
  readonly json?: boolean
}

/** `foldout login <server>`. Returns the exit code. */
export function runLogin(name: string, options: LoginCommandOptions, surroundings: Surroundings): Promise<number> {
  return withSignIns(name, options, surroundings, (server, store) => logIn(server, store, options, surroundings))
}

async function logIn(
  server: FilledHttpServer,
  store: SignInStore,
  options: LoginCommandOptions,
  { stdout, stderr, env, signal }: Surroundings,
): Promise<number> {
  const { name } = server
  const say = (text: string): void => void stderr.write(formatSentences([text], stderr))
  const record = await login(server, {
    store,
    signal,
    timeoutMs: options.timeout === undefined ? LOGIN_TIMEOUT_MS : options.timeout * 1_000,
    onMove: (before, now) => say(`Careful: you used to sign in at ${before}, and are now asked to sign in at ${now}.`),
    onPage({ href }, issuer) {
      const how = options.browser === false ? 'Open this URL in a browser:' : 'If no browser opens, open this URL:'
      say(`Sign in to ${name} at ${issuer}. ${how}`)
      stderr.write(`${href}\n`)
      if (options.browser !== false) openBrowser(href, env)
    },
  })
  if (!record) {
    const report = { server: name, status: 'not-needed' }
    stdout.write(
      options.json ? `${JSON.stringify(report, null, 2)}\n` : `${toLine(name)} does not ask for a sign-in.\n`,
    )
    return EXIT.done
  }
  if ((await store.getStamp(identifySignIn(server))) === '') throw new SignInError('The sign-in could not be saved.')
  const keptIn = await store.getPlace()
  const { issuer, tokens, expiresAt } = record
  const report = {
    server: name,
    status: 'signed-in',
    issuer,
    scope: tokens?.scope ?? null,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    renews: tokens?.refresh_token !== undefined,
    keptIn,
  }
  const place = PLACES[keptIn]
  const text = `You are signed in to ${name} at ${issuer}. The sign-in is kept in ${place}.`
  stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : formatSentences([text], stdout))
  return EXIT.done
}

/** `foldout logout <server>`. Returns the exit code. */
export function runLogout(name: string, options: LoginCommandOptions, surroundings: Surroundings): Promise<number> {
  return withSignIns(name, options, surroundings, (server, store) => logOut(server, store, options, surroundings))
}

/** Opens the sign-ins in the configured store, or else the user's own. */
async function withSignIns(
  name: string,
  options: LoginCommandOptions,
  surroundings: Surroundings,
  use: (server: FilledHttpServer, store: SignInStore) => Promise<number>,
): Promise<number> {
  // A mistake in the file is reported before a database is opened.
  const { config } = await openConfig(options, surroundings)
  const server = await findServer(name, config, surroundings.env)
  return withStore({ ...options, trust: false }, surroundings, ({ signIns }) => use(server, signIns))
}

async function logOut(
  server: FilledHttpServer,
  store: SignInStore,
  options: LoginCommandOptions,
  { stdout, stderr }: Surroundings,
): Promise<number> {
  const { name } = server
  const ended = await logout(server, store)
  if (ended?.problem !== undefined)
    stderr.write(`${toLine(`The tokens were deleted, but not revoked at ${ended.issuer}: ${ended.problem}`)}\n`)
  const report = { server: name, status: ended ? 'signed-out' : 'not-signed-in', isRevoked: ended?.isRevoked ?? false }
  const text = ended ? `You are signed out of ${name}.` : `You are not signed in to ${name}.`
  stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : `${toLine(text)}\n`)
  return EXIT.done
}

async function findServer(
  name: string,
  { servers, invalid }: GatewayConfig,
  env: NodeJS.ProcessEnv,
): Promise<FilledHttpServer> {
  const wrong = invalid.find((entry) => entry.name === name)
  if (wrong) throw new UsageError(`The server '${name}' is not valid: ${wrong.reason}`)
  const found = servers.find((entry) => entry.name === name)
  const names = servers.filter(({ kind }) => kind !== 'stdio').map((entry) => entry.name)
  const choice = names.length === 0 ? 'The configuration has no HTTP servers.' : `Choose from: ${names.join(', ')}.`
  if (!found) throw new UsageError(`The configuration has no server '${name}'. ${choice}`)
  if (found.kind === 'stdio')
    throw new UsageError(
      `The server '${name}' is started by a command, and only HTTP servers have a sign-in. ${choice}`,
    )
  const server = await fillServer(found, { env, root: process.cwd() }).catch((error: Error) => {
    throw new UsageError(`The server '${name}' cannot be used: ${error.message}`)
  })
  if (server.kind === 'stdio') throw new UsageError(`The server '${name}' has no URL.`)
  if (Object.keys(server.headers).some((header) => header.toLowerCase() === 'authorization'))
    throw new UsageError(`The server '${name}' has an Authorization header, which replaces a sign-in.`)
  return server
}

const PLACES = { keychain: 'the keychain', file: 'a file that only you can read', database: 'the store, encrypted' }
