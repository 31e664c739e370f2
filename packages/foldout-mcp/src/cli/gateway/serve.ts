import { untilStopped } from '../support/until-stopped.ts'
import { unwatchFile, watchFile, type Stats } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import type { ExposureName } from '../../gateway/config/definition.ts'
import { ignore } from 'foldout/promises'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount } from 'foldout-shared/numbers'
import { createGateway, type Gateway } from '../../gateway/gateway.ts'
import { readVersion } from '../../shared/surroundings.ts'
import type { TrafficRecorder } from '../../gateway/traffic/record.ts'
import { createRedactor } from '../../gateway/policy/secrets/redact.ts'
import type { OnTraffic } from '../../gateway/traffic/traffic.ts'
import type { GatewayPage } from '../inspect/gateway-page.ts'
import type { GatewayConfig } from '../../gateway/config/config.ts'
import { EXIT } from '../support/exit-codes.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { createReporter, findEncoder, getGatewayOptions, noteFailure, type EncoderOptions } from '../support/session.ts'
import { getTunedFile } from '../../gateway/config/tuned-file.ts'
import { openConfig } from '../support/trust.ts'
import { formatDoctorHint, formatSentences, formatWorking, toLine, type Stream } from '../support/text.ts'

export interface ServeOptions extends EncoderOptions {
  readonly http?: number
  /** The file to record traffic in. */
  readonly record?: string
  readonly expose?: ExposureName
  /** Whether the inspector shows the catalog. */
  readonly inspect?: boolean
}

/**
 * How long the first client waits for servers whose tools are not known yet. Some clients give up after ten seconds, which
 * includes downloading this program. Tools that arrive later are announced, and searches find them.
 */
const FIRST_LIST_MS = 5_000
const WATCH_MS = 500

/**
 * How memory may grow, in a program that runs beside every client. By default, the heap grows to a multiple of its size before
 * a full collection: a hundred megabytes after a few thousand calls. And the space for new objects grows while many calls run,
 * and never shrinks again: by 25 MB after 20,000 calls. Single calls are no slower in a small space, but loading this program is.
 */
const MEMORY_FLAGS = ['--heap-growing-percent=30', '--semi-space-growth-factor=1']

/** `foldout serve`: runs the gateway over standard input and output, and over HTTP with `--http`. Returns when it ends. */
export async function serve(options: ServeOptions, surroundings: Surroundings): Promise<number> {
  const { signal, env, stdout, stderr } = surroundings
  for (const flag of MEMORY_FLAGS) setFlagsFromString(flag)
  const { files, config, reread, trustSkill } = await openConfig(options, surroundings)
  const report = createReporter({ quiet: true, ...options }, surroundings)
  const embed = await findEncoder(options, surroundings)
  const onProblem = (message: string): void => report({ type: 'problem', server: undefined, message })
  let started: Gateway | undefined
  const failures = new Map<string, string>()
  const hide = (text: string): string => started?.hideSecrets(text) ?? ''
  const recorder = options.record === undefined ? undefined : await startRecorder(options.record, hide, onProblem)
  const page = options.inspect ? await preparePage(hide) : undefined
  const gateway = await createGateway(config, {
    ...getGatewayOptions(options, env),
    ...dropUndefined({ expose: options.expose, embed, trustSkill, onTraffic: joinListeners(recorder, page) }),
    onEvent(event) {
      report(event)
      noteFailure(failures, event)
      page?.notify()
    },
  })
  started = gateway
  // Once all servers have been tried. Without a failure, there is nothing to say.
  const reportFailures = async (): Promise<void> => {
    await gateway.ready()
    // The client may leave before all servers were tried.
    if (gateway.servers.some(({ name, tools }) => tools === undefined && !failures.has(name))) return
    const failed = gateway.servers.filter(({ name }) => failures.has(name)).length
    const working = formatWorking(gateway.servers.length - failed, failed + config.invalid.length)
    if (failed + config.invalid.length > 0)
      stderr.write(formatSentences([`${working} ${formatDoctorHint(options.config)}`], stderr))
  }
  const onApplied = (): void => void stderr.write('The new configuration is in use.\n')
  const stopWatching = watchConfig(files, gateway, { reread, onApplied, onProblem })
  if (page) stderr.write(`Inspector: ${await page.open(gateway, files.join(', '))}\n`)
  try {
    const ends = [untilStopped(signal)]
    await gateway.ready(FIRST_LIST_MS)
    void ignore(reportFailures(), 'the gateway was closed before its servers had started')
    const { stdin } = process
    if (options.http !== undefined) {
      const { url } = await gateway.http({ port: options.http })
      const presets = listPresets(url, config)
      const lines = Array.from(presets, ([name, address]) => `Preset ${toLine(name)}: ${address}\n`)
      stderr.write(`Serving ${describeServers(gateway)} at ${url}\n${lines.join('')}`)
      if (options.json) stdout.write(`${JSON.stringify({ url, presets: Object.fromEntries(presets) }, null, 2)}\n`)
    } else if (stdin.isTTY) stderr.write(formatTerminalHelp(gateway, stderr))
    // Of a gateway over HTTP, a program that asks for JSON reads the address from standard output.
    if (options.http === undefined || (!stdin.isTTY && !options.json)) {
      // The connection keeps standard output for its messages.
      surroundings.releaseOutput?.()
      const { closed } = await gateway.stdio(dropUndefined({ preset: options.preset }))
      // A service often starts with standard input already at its end, which must not stop it.
      const isLast = async (): Promise<void> => {
        await closed
        const hasSpoken = 'bytesRead' in stdin && stdin.bytesRead !== 0
        if (options.http !== undefined && !hasSpoken) await untilStopped(signal)
      }
      ends.push(isLast())
    }
    await Promise.race(ends)
    return EXIT.done
  } finally {
    stopWatching()
    await page?.close()
    await gateway.close()
    await embed?.close()
    await recorder?.close()
  }
}

/** `40 tools of 3 servers`: the tools that are known so far. */
function describeServers({ servers }: Gateway): string {
  const tools = servers.reduce((sum, server) => sum + (server.tools ?? 0), 0)
  return `${formatCount(tools, 'tool')} of ${formatCount(servers.length, 'server')}`
}

/** The addresses of the presets. */
function listPresets(url: string, { presets }: GatewayConfig): ReadonlyMap<string, string> {
  return new Map(Array.from(presets.keys(), (name) => [name, `${url}/${encodeURIComponent(name)}`]))
}

/** Someone who starts the gateway by hand would otherwise see nothing at all. */
function formatTerminalHelp(gateway: Gateway, stream: Stream): string {
  return formatSentences(
    [
      `Serving ${describeServers(gateway)} over standard input and output, for an MCP client.`,
      'Clients start this command themselves, after: foldout install <client>',
      'To serve over HTTP: foldout serve --http 8414. To stop: Ctrl+C.',
    ],
    stream,
  )
}

/** Loads the recorder only if traffic is recorded. */
async function startRecorder(
  file: string,
  hide: (text: string) => string,
  onProblem: (message: string) => void,
): Promise<TrafficRecorder> {
  const { recordTraffic } = await import('../../gateway/traffic/record.ts')
  return recordTraffic(file, { redactor: createRedactor({ hide }), version: readVersion(), onProblem })
}

/** Loaded only if there is a page, because a gateway is started often and inspected rarely. */
async function preparePage(hide: (text: string) => string): Promise<GatewayPage> {
  const { createGatewayPage } = await import('../inspect/gateway-page.ts')
  return createGatewayPage(createRedactor({ hide }))
}

/** Traffic is watched only if somebody wants it. */
function joinListeners(
  ...listeners: readonly ({ readonly onTraffic: OnTraffic } | undefined)[]
): OnTraffic | undefined {
  const wanted = listeners.filter((listener) => listener !== undefined)
  if (wanted.length === 0) return undefined
  return (traffic) => {
    for (const { onTraffic } of wanted) onTraffic(traffic)
  }
}

interface Watching {
  reread(): Promise<GatewayConfig>
  onApplied(): void
  onProblem(message: string): void
}

/** Applies changes to the files while the gateway runs. Polls, because editors replace files in many ways. */
function watchConfig(
  files: readonly string[],
  gateway: Gateway,
  { reread, onApplied, onProblem }: Watching,
): () => void {
  const apply = async (): Promise<void> => {
    try {
      await gateway.update(await reread())
      onApplied()
    } catch (error) {
      onProblem(`The new configuration was rejected, and the old one stays in use: ${(error as Error).message}`)
    }
  }
  // A file that does not exist is reported once, without a change.
  const listener = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) void apply()
  }
  const all = new Set([...files, ...files.map(getTunedFile)])
  for (const file of all) watchFile(file, { interval: WATCH_MS, persistent: false }, listener)
  return () => {
    for (const file of all) unwatchFile(file, listener)
  }
}
