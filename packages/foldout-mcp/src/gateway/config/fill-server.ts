import { decodeUrlPart } from 'foldout-shared/url-text'
import { parseEnv } from 'node:util'
import {
  UsageError,
  type GatewayConfig,
  type HttpServer,
  type ServerAuth,
  type ServerConfig,
  type StdioServer,
} from './config.ts'
import { readTextFile } from './text-file.ts'
import { fillVariables, usesRoot, type Variables } from './variables.ts'

/** A server that is ready to be started. */
export type FilledServer = FilledStdioServer | FilledHttpServer

export interface FilledStdioServer {
  readonly kind: 'stdio'
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

export interface FilledHttpServer {
  readonly kind: 'http' | 'sse'
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** With the key itself in place of its file. */
  readonly auth: ServerAuth | undefined
}

/**
 * Fills in the variables of a server, and reads its `envFile`.
 *
 * @throws Error that says which variable is missing, or what is wrong with the URL.
 */
export async function fillServer(server: ServerConfig, variables: Variables): Promise<FilledServer> {
  if (server.kind === 'stdio') return fillStdioServer(server, variables)
  return fillHttpServer(server, variables)
}

/**
 * Rejects a change of the configuration that makes servers unusable. What was wrong before may stay wrong.
 *
 * @throws UsageError that says what is wrong with which servers.
 */
export async function refuseNewFaults(
  before: GatewayConfig,
  after: GatewayConfig,
  variables: Variables,
): Promise<void> {
  const old = new Map(before.servers.map((server) => [server.name, server]))
  const faults = await Promise.all(
    after.servers.map(async (server) => {
      const used = old.get(server.name)
      const reason = await findFault(server, variables)
      if (!used || reason === undefined || reason === (await findFault(used, variables))) return []
      return [{ name: server.name, reason }]
    }),
  )
  const known = new Set(before.invalid.map(({ name, reason }) => `${name}: ${reason}`))
  const invalid = after.invalid.filter(({ name, reason }) => !known.has(`${name}: ${reason}`))
  const news = [...invalid, ...faults.flat()].map(
    ({ name, reason }) => `The server '${name}' cannot be used. ${reason}`,
  )
  if (news.length > 0) throw new UsageError(news.join(' '))
}

async function findFault(server: ServerConfig, variables: Variables): Promise<string | undefined> {
  try {
    await fillServer(server, variables)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Whether each client folder needs its own server process. */
export function dependsOnRoot(server: ServerConfig): boolean {
  if (server.kind !== 'stdio') {
    const auth = Object.values(server.auth ?? {}).map(String)
    return [server.url, ...Object.values(server.headers), ...auth].some(usesRoot)
  }
  const { command, args, env, envFile = '', cwd = '' } = server
  return [command, ...args, ...Object.values(env), envFile, cwd].some(usesRoot)
}

async function fillStdioServer(server: StdioServer, variables: Variables): Promise<FilledStdioServer> {
  const { kind, name, envFile, cwd } = server
  const fromFile =
    envFile === undefined ? {} : parseEnvFile(await readSetting('envFile', fillVariables(envFile, variables)))
  const known = envFile === undefined ? variables : { ...variables, env: { ...fromFile, ...variables.env } }
  const fill = (text: string): string => fillVariables(text, known)
  return {
    kind,
    name,
    command: fill(server.command),
    args: server.args.map(fill),
    env: { ...fromFile, ...fillRecord(server.env, fill) },
    cwd: cwd === undefined ? undefined : fill(cwd),
  }
}

async function fillHttpServer(server: HttpServer, variables: Variables): Promise<FilledHttpServer> {
  const { kind, name, url, headers, auth } = server
  const fill = (text: string): string => fillVariables(text, variables)
  const text = fill(url)
  if (!/^https?:\/\//i.test(text)) throw new Error('Its url must begin with http:// or https://.')
  if (!URL.canParse(text)) throw new Error('Its url is not a valid address. Check its host and port.')
  const filled = fillRecord(headers, fill)
  return { kind, name, ...moveCredentials(new URL(text), filled), auth: auth && (await fillAuth(auth, fill)) }
}

/** `fetch` refuses URLs with a user and password, which mean Basic authorization. A configured header replaces them. */
function moveCredentials(given: URL, headers: FilledHttpServer['headers']): Pick<FilledHttpServer, 'url' | 'headers'> {
  if (`${given.username}${given.password}` === '') return { url: given, headers }
  const url = new URL(given)
  url.username = ''
  url.password = ''
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return { url, headers }
  const credentials = `${decodeUrlPart(given.username)}:${decodeUrlPart(given.password)}`
  return { url, headers: { ...headers, Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } }
}

async function fillAuth(auth: ServerAuth, fill: (text: string) => string): Promise<ServerAuth> {
  const filled = Object.fromEntries(
    Object.entries(auth).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'string' ? fill(value) : value,
    ]),
  ) as unknown as ServerAuth
  const { privateKeyFile, privateKey, issuer, clientMetadataUrl } = filled
  if (issuer !== undefined && !URL.canParse(issuer)) throw new Error('Its auth.issuer must be a URL.')
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/?#]+\/[^?#]/.test(clientMetadataUrl))
    throw new Error('Its auth.clientMetadataUrl must begin with https:// and have a path.')
  // Variables often hold a key on one line.
  if (privateKey !== undefined) return { ...filled, privateKey: privateKey.replaceAll('\\n', '\n') }
  if (privateKeyFile === undefined) return filled
  return { ...filled, privateKey: await readSetting('auth.privateKeyFile', privateKeyFile) }
}

function fillRecord(record: Readonly<Record<string, string>>, fill: (text: string) => string) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fill(value)]))
}

/** Reads the file that a setting names. */
async function readSetting(setting: string, file: string): Promise<string> {
  try {
    return await readTextFile(file)
  } catch (error) {
    throw new Error(`Its ${setting} cannot be used. ${(error as Error).message}`, { cause: error })
  }
}

/** Reads the variables of an `envFile`. Skips lines that set no variable, as other programs do. */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const variables = splitEntries(text).flatMap((entry) => Object.entries(parseEnv(entry)))
  return Object.fromEntries(variables.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** The name of a variable, and the quote that its value begins with. */
const ENTRY = /^[ \t]*(?:export[ \t]+)?([^\s=#"'`]+)[ \t]*=[ \t]*(["'`]?)/

/**
 * The entries of the file, one by one for the parser of Node.js. In a whole file, that parser takes a line without `=` for the beginning
 * of the next name.
 */
function splitEntries(text: string): readonly string[] {
  const plain = text.replaceAll(/\r\n?/g, '\n')
  const lastQuotes = new Map(['"', "'", '`'].map((quote) => [quote, plain.lastIndexOf(quote)]))
  const entries: string[] = []
  for (let from = 0; from < plain.length;) {
    let end = findLineEnd(plain, from)
    const [start = '', name = '', quote = ''] = ENTRY.exec(plain.slice(from, end)) ?? []
    const inside = from + start.length
    // A value in quotes may have several lines. If nothing closes it, the quote is a character like any other.
    const isClosed = quote !== '' && inside <= (lastQuotes.get(quote) ?? -1)
    if (isClosed) end = findLineEnd(plain, plain.indexOf(quote, inside))
    if (name !== '') entries.push(`${name}=${plain.slice(inside - quote.length, end)}\n`)
    from = end + 1
  }
  return entries
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  if (end === -1) return text.length
  return end
}
