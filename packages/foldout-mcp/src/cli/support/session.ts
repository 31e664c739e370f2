import { untilAborted } from 'foldout/promises'
import type { Surroundings } from './surroundings.ts'
import { join } from 'node:path'
import type { Catalog, Encoder } from 'foldout/catalog'
import type { MiniLm } from 'foldout/minilm'
import type { GatewayConfig } from '../../gateway/config/config.ts'
import type { GatewayEvent } from '../../gateway/model/events.ts'
import { createGateway, type Gateway, type GatewayOptions } from '../../gateway/gateway.ts'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount } from 'foldout-shared/numbers'
import { includesServer } from '../../gateway/serve/select-tools.ts'
import { getCacheFolder } from '../../shared/surroundings.ts'
import { createProgress, type Progress } from './progress.ts'
import { openConfig, type ConfigOptions } from './trust.ts'
import { createStyler, toLine, toLines, wrapWhole } from './text.ts'

/** The options of every command that connects to servers. */
export interface ServerOptions extends ConfigOptions {
  readonly preset?: string
  readonly cache?: string
  /** The database that gateways share. */
  readonly store?: string
  /** Asks the servers themselves, ignoring the cache. */
  readonly refresh?: boolean
  /** How long to wait for each server, in seconds. */
  readonly timeout?: number
  readonly json?: boolean
  readonly quiet?: boolean
}

export interface FailedServer {
  readonly name: string
  readonly error: string
}

/** A tool that is held until the user approves its definition. */
export interface HeldTool {
  readonly server: string
  readonly name: string
}

/** The tools of all servers that answered. */
export interface OpenSession {
  readonly gateway: Gateway
  readonly catalog: Catalog
  /** How many tools each server has, in the order of the configuration. */
  readonly servers: readonly { readonly name: string; readonly tools: number }[]
  readonly failed: readonly FailedServer[]
  /** The tools that wait for the user's approval. */
  readonly held: readonly HeldTool[]
  /** Shows the progress of a slow step. */
  readonly progress: Progress
}

/** Finds out the tools of all servers, lets a command use them, and stops everything it started, even on failure. */
export async function withServers<Result>(
  options: ServerOptions,
  surroundings: Surroundings,
  use: (session: OpenSession) => Promise<Result>,
  embed?: Encoder,
): Promise<Result> {
  const { signal, env, stderr } = surroundings
  const { config, trustSkill } = await openConfig(options, surroundings)
  const progress = createProgress(surroundings, options)
  const report = createReporter(options, { ...surroundings, stderr: progress.stream })
  const isIncluded = createServerFilter(config, options)
  const failures = new Map<string, string>()
  const held = new Map<string, readonly HeldTool[]>()
  let isCreated = false
  const gateway = await createGateway(config, {
    ...getGatewayOptions(options, env),
    ...dropUndefined({ embed, trustSkill }),
    onEvent(event) {
      noteFailure(failures, event)
      if (event.type === 'server/unapproved') held.set(event.server, listHeld(event))
      if ('server' in event && event.server !== undefined && !isIncluded(event.server)) return
      // Cached servers are reported together, in one line. What is wrong with tools belongs to the answer of a command.
      if (event.type !== 'server/broken' && (isCreated || event.type !== 'server/tools')) report(event)
    },
  })
  isCreated = true
  const getAnswered = (): number =>
    gateway.servers.filter(({ tools, state }) => tools !== undefined || state.type === 'failed').length
  try {
    const cached = gateway.servers.filter(({ name, tools }) => tools !== undefined && isIncluded(name))
    if (cached.length > 0 && !options.quiet && !options.refresh) {
      const tools = cached.reduce((sum, server) => sum + (server.tools ?? 0), 0)
      const from = `${formatCount(tools, 'tool')} of ${formatCount(cached.length, 'server')}`
      const lines = wrapWhole(`${from} from the cache; use --refresh to ask the servers.`, stderr.columns)
      stderr.write(createStyler(stderr, env)('dim', `${lines.join('\n')}\n`))
    }
    await progress.during(
      () => `Asked ${formatCount(gateway.servers.length, 'server')}, ${getAnswered()} have answered`,
      () => untilAborted(signal, () => gateway.ready()),
    )
    return await use({ ...(await openSession(gateway, { config, failures, held, isIncluded }, options)), progress })
  } finally {
    await gateway.close()
  }
}

/** The command-line options that the gateway takes. */
export function getGatewayOptions(
  { cache, store, timeout, refresh }: ServerOptions,
  env: NodeJS.ProcessEnv,
): GatewayOptions {
  const timeoutMs = timeout === undefined ? undefined : timeout * 1_000
  return { env, ...dropUndefined({ cache, store, timeoutMs, isFresh: refresh }) }
}

async function openSession(
  gateway: Gateway,
  { config, failures, held, isIncluded }: SessionParts,
  { preset }: ServerOptions,
): Promise<Omit<OpenSession, 'progress'>> {
  const servers = gateway.servers.filter(({ name }) => isIncluded(name))
  const failed = servers.flatMap(({ name }) => {
    const error = failures.get(name)
    if (error === undefined) return []
    return [{ name, error }]
  })
  const invalid = config.invalid.filter(({ name }) => isIncluded(name))
  return {
    gateway,
    catalog: await gateway.getCatalog(dropUndefined({ preset })),
    servers: servers.flatMap(({ name, tools }) => (tools === undefined ? [] : [{ name, tools }])),
    failed: [...invalid.map(({ name, reason }) => ({ name, error: reason })), ...failed],
    held: [...held.values()].flat().filter(({ server }) => isIncluded(server)),
  }
}

interface SessionParts {
  readonly config: GatewayConfig
  readonly failures: ReadonlyMap<string, string>
  readonly held: ReadonlyMap<string, readonly HeldTool[]>
  readonly isIncluded: ServerFilter
}

type ServerFilter = (server: string) => boolean

/** Whether the preset that the user chose has a server. Without one, all servers are included. */
export function createServerFilter({ presets }: GatewayConfig, { preset = '' }: ServerOptions): ServerFilter {
  const chosen = presets.get(preset) ?? {}
  return (server) => includesServer(chosen, server)
}

/**
 * Notes why a server has failed, until it runs. Its state says so only until the gateway tries it again, which may be before the other
 * servers have answered.
 */
export function noteFailure(failures: Map<string, string>, event: GatewayEvent): void {
  if (event.type !== 'server/state') return
  if (event.state.type === 'failed') failures.set(event.server, event.state.reason)
  if (event.state.type === 'running') failures.delete(event.server)
}

/** Reports progress on standard error. Failures are reported even with `--quiet`. */
export function createReporter(
  { quiet }: Pick<ServerOptions, 'quiet'>,
  { stderr, env }: Surroundings,
): (event: GatewayEvent) => void {
  const style = createStyler(stderr, env)
  const complain = (name: string, text: string): void => {
    const [first = 'It failed.', ...others] = toLines(text)
    const head = `${toLine(name)}:`
    const [start = '', ...rest] = wrapWhole(`${head} ${first}`, stderr.columns)
    const more = others.flatMap((line) => wrapWhole(line, stderr.columns, '  '))
    const colored = start.startsWith(head) ? `${style('red', head)}${start.slice(head.length)}` : start
    stderr.write(`${[colored, ...rest, ...more.map((line) => style('dim', line))].join('\n')}\n`)
  }
  const failures = new Map<string, string>()
  return (event) => {
    if (event.type === 'problem') complain(event.server ?? 'foldout', event.message)
    // A server that is tried again and again fails for the same reason.
    const before = 'server' in event && event.server !== undefined ? failures.get(event.server) : undefined
    noteFailure(failures, event)
    if (event.type === 'server/state' && event.state.type === 'failed' && event.state.reason !== before)
      complain(event.server, event.state.reason)
    if (event.type === 'server/unapproved') complain(event.server, describeUnapproved(event))
    if (event.type === 'server/broken') complain(event.server, describeBroken(event))
    if (event.type !== 'server/tools' || quiet) return
    const { tools } = event
    stderr.write(style('dim', `${toLine(event.server)}: ${tools} ${tools === 1 ? 'tool' : 'tools'}\n`))
  }
}

/** Says which tools of a server the user has not accepted. */
export function describeUnapproved(event: Extract<GatewayEvent, { type: 'server/unapproved' }>): string {
  const { added, changed, isHeld } = event
  const parts = [
    ...(added.length > 0 ? [`new: ${shortenList(added)}`] : []),
    ...(changed.length > 0 ? [`changed: ${shortenList(changed)}`] : []),
  ]
  const start = isHeld ? 'Its tools are held until you approve them' : 'Its tools differ from the ones you accepted'
  return `${start} (${parts.join('; ')}). Run foldout pins to see what changed.`
}

function listHeld({
  server,
  added,
  changed,
  isHeld,
}: Extract<GatewayEvent, { type: 'server/unapproved' }>): HeldTool[] {
  if (isHeld) return [...added, ...changed].map((name) => ({ server, name }))
  return []
}

function describeBroken({ tools }: Extract<GatewayEvent, { type: 'server/broken' }>): string {
  const named = tools.slice(0, MOST_EXPLAINED).map(({ name, reason }) => `'${name}': ${reason}`)
  const rest = tools.length - named.length
  const more = rest === 0 ? '' : ` And ${rest} more; foldout doctor lists them all.`
  return `${formatCount(tools.length, 'tool')} cannot be used. ${named.join(' ')}${more}`
}

const MOST_EXPLAINED = 3
const MOST_NAMED = 5

function shortenList(names: readonly string[]): string {
  const more = names.length - MOST_NAMED
  return [...names.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** Names the folder whose `node_modules` contains the encoder, if it is not installed beside this program. */
const FOLDER_VARIABLE = 'FOLDOUT_ENCODER'

export interface EncoderOptions extends ServerOptions {
  /** Whether the encoder may be used. Default true. */
  readonly encoder?: boolean
}

/**
 * Creates the sentence encoder for searches, and says so on standard error; `undefined` if it is not installed or is turned off. Its
 * vectors are kept in the cache folder.
 */
export async function findEncoder(
  { encoder = true, cache, quiet }: EncoderOptions,
  { env, stderr }: Surroundings,
): Promise<MiniLm | undefined> {
  if (!encoder) return undefined
  const { createMiniLm } = await import('foldout/minilm')
  const installedIn = env[FOLDER_VARIABLE]
  const where = installedIn ? { installedIn } : {}
  try {
    // Most installations have no encoder, and then need not load the rest.
    await createMiniLm(where).close()
    const { createVectorFile } = await import('foldout/node')
    const found = createMiniLm({ ...where, cache: createVectorFile(join(cache ?? getCacheFolder(env), 'vectors')) })
    if (!quiet) stderr.write(createStyler(stderr, env)('dim', `Searches use the encoder ${found.model}.\n`))
    return found
  } catch (error) {
    // If the user names a folder, the encoder must be in it.
    if (!installedIn && error instanceof Error && 'code' in error && error.code === 'peer-missing') return undefined
    throw error
  }
}
