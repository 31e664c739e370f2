import { existsSync } from 'node:fs'
import { createCatalog, type Catalog } from 'foldout/catalog'
import { UsageError, type InvalidServer } from '../gateway/config/config.ts'
import { readConfigs } from '../gateway/config/read-config.ts'
import { DEFAULT_TIMEOUT_MS } from '../gateway/upstreams/limits.ts'
import { openUpstreams, type Upstreams, type UpstreamState } from '../gateway/upstreams/open-upstreams.ts'
import { createStyler, toLine, toLines, type Stream } from './text.ts'

/** The environment of a command, which tests replace. */
export interface Surroundings {
  readonly stdout: Stream & { write(text: string): unknown }
  readonly stderr: Stream & { write(text: string): unknown }
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly version: string
}

/** The options of all commands that connect to servers. */
export interface ServerOptions {
  readonly config?: readonly string[]
  /** How long to wait for each server, in seconds. */
  readonly timeout?: number
  readonly json?: boolean
  readonly quiet?: boolean
}

export interface FailedServer {
  readonly name: string
  readonly error: string
}

/** The tools of all servers that answered. */
export interface OpenSession {
  readonly catalog: Catalog
  /** How many tools each server has, in the order of the configuration. */
  readonly servers: readonly { readonly name: string; readonly tools: number }[]
  readonly failed: readonly FailedServer[]
}

const DEFAULT_CONFIG = '.mcp.json'

/** Connects to all servers, lets a command use them, and closes everything that was started, even on failure. */
export async function withServers<Result>(
  options: ServerOptions,
  surroundings: Surroundings,
  use: (session: OpenSession) => Promise<Result>,
): Promise<Result> {
  const { signal, version, env } = surroundings
  const { servers, invalid } = await readConfigs(getConfigFiles(options), { env })
  const report = createReporter(options, surroundings)
  for (const { name, reason } of invalid) report({ name, error: reason })
  const timeoutMs = options.timeout === undefined ? DEFAULT_TIMEOUT_MS : options.timeout * 1_000
  const upstreams = await openUpstreams(servers, { timeoutMs, signal, version, onProgress: report })
  try {
    signal.throwIfAborted()
    return await use(createSession(upstreams, invalid))
  } finally {
    await upstreams.close()
  }
}

function getConfigFiles({ config = [] }: ServerOptions): readonly string[] {
  if (config.length > 0) return config
  if (existsSync(DEFAULT_CONFIG)) return [DEFAULT_CONFIG]
  throw new UsageError(
    `There is no ${DEFAULT_CONFIG} in this folder. Name the file that lists your MCP servers: --config <file>.`,
  )
}

function createSession({ states }: Upstreams, invalid: readonly InvalidServer[]): OpenSession {
  const answered = states.flatMap((state) => ('tools' in state ? [state] : []))
  const failed = states.flatMap((state) => ('error' in state ? [state] : []))
  return {
    catalog: createCatalog(answered.flatMap(({ tools }) => tools)),
    servers: answered.map(({ name, tools }) => ({ name, tools: tools.length })),
    failed: [...invalid.map(({ name, reason }) => ({ name, error: reason })), ...failed],
  }
}

/** Reports progress on standard error. Failures are reported even with `--quiet`. */
function createReporter({ quiet }: ServerOptions, { stderr, env }: Surroundings): (state: UpstreamState) => void {
  const style = createStyler(stderr, env)
  return (state) => {
    const name = toLine(state.name)
    if ('error' in state) {
      const [first = 'It failed.', ...others] = toLines(state.error)
      const lines = [`${style('red', `${name}:`)} ${first}`, ...others.map((line) => style('dim', `  ${line}`))]
      stderr.write(`${lines.join('\n')}\n`)
    } else if (!quiet) {
      const count = state.tools.length
      stderr.write(style('dim', `${name}: ${count} ${count === 1 ? 'tool' : 'tools'}\n`))
    }
  }
}
