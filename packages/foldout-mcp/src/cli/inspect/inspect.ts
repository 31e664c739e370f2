import { untilStopped } from '../support/until-stopped.ts'
import type { CatalogRecording } from 'foldout/catalog'
import { UsageError } from '../../gateway/config/config.ts'
import { dropUndefined } from 'foldout-shared/values'
import { findStats } from '../../shared/files.ts'
import { createGateway } from '../../gateway/gateway.ts'
import { SECRET_NAME } from '../../shared/secret-text.ts'
import { createSecrets } from '../../gateway/policy/secrets/secrets.ts'
import { createRedactor, type Redactor } from '../../gateway/policy/secrets/redact.ts'
import { isTraffic, readTraffic, toCatalogRecording } from '../../gateway/traffic/recording.ts'
import { createAdviceSource } from '../../inspector/advice/source.ts'
import { createApprovalSource } from '../../inspector/catalog/approvals.ts'
import { createCatalogSource, type CatalogSource } from '../../inspector/catalog/source.ts'
import { createClientStore, type ClientStore } from '../../inspector/clients/store.ts'
import { followComparison, isComparison, type CompareSource } from '../../inspector/compare/source.ts'
import { createInspector, type InspectorSource } from '../../inspector/inspector.ts'
import { createPromptSource } from '../../inspector/prompt/source.ts'
import { serveRuns } from '../../inspector/runs/resources.ts'
import { createRunSource } from '../../inspector/runs/source.ts'
import { createRunStore, type RunStore } from '../../inspector/runs/store.ts'
import { openBrowser } from '../../system/open-browser.ts'
import { EXIT } from '../support/exit-codes.ts'
import { readAdvicePrice, readPrices, toRates, type PriceOptions } from '../support/prices.ts'
import { loadPrompt, toInspectedPrompt, type ValueOptions } from '../support/prompt-module.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { createReporter, getGatewayOptions, type ServerOptions } from '../support/session.ts'
import { hasConfigFile, openConfig } from '../support/trust.ts'

export interface InspectOptions
  extends ValueOptions, ServerOptions, Pick<PriceOptions, 'model' | 'prices' | 'perHour'> {
  readonly port?: number
  /** The module of the prompt whose runs are shown. */
  readonly prompt?: string
  /** Whether a browser is opened. Default true, on a terminal. */
  readonly open?: boolean
  /** Serves the recording to an agent over standard input and output instead of showing the page. */
  readonly mcp?: boolean
}

/** Something that the page shows, and how to end it. */
interface Opened {
  readonly sources: readonly InspectorSource[]
  close?(): Promise<void>
}

/** `foldout inspect`: serves the inspector until it is interrupted. Returns the exit code. */
export async function inspect(
  target: string | undefined,
  options: InspectOptions,
  surroundings: Surroundings,
): Promise<number> {
  const opened: Opened[] = []
  try {
    const { model, perHour } = options
    const prices = options.prices === undefined ? undefined : await readPrices(options.prices)
    const store = createRunStore(prices && toRates(prices))
    const redactor = createRedactor(createSecrets(findSecretValues(surroundings.env)))
    const clients = createClientStore()
    const runs = createRunSource(store, { redactor, clients })
    opened.push({ sources: [], close: async () => closeAll(store, clients) })
    if (options.mcp) return await serveRecording(target, { store, redactor }, surroundings)
    const served = serveRuns(store, redactor)
    opened.push({ sources: [], close: () => served.close() })
    const module = options.prompt ?? (target !== undefined && isModule(target) ? target : undefined)
    const prompt = module === undefined ? undefined : await loadPrompt(module, options)
    const recording = target === module ? undefined : target
    const comparison = await openComparison(recording, store)
    opened.push({ sources: [], close: async () => closeAll(...comparison) })
    const isRecording = recording !== undefined && comparison.length === 0
    const use = isRecording ? await openRecording(recording, store, clients) : undefined
    const hasServers = options.config !== undefined || (target === undefined && !module && hasConfigFile(options))
    const servers = hasServers ? await openServers(options, surroundings) : undefined
    if (servers) opened.push(servers)
    const price = await readAdvicePrice(dropUndefined({ model, prices: options.prices, perHour }))
    const others = [
      ...(prompt ? [createPromptSource(toInspectedPrompt(prompt))] : []),
      ...opened.flatMap((each) => each.sources),
      ...(prompt || use ? [createAdviceSource({ runs: store, prompt, price, getUse: use, clients })] : []),
    ]
    // Runs of other processes can be recorded to any inspector; they come first if they are what was asked for.
    const isAsked = store.runs.length > 0 || clients.clients.length > 0
    const sources = [...comparison, ...(isAsked ? [runs, ...others] : [...others, runs])]
    const title = target ?? module ?? servers?.title ?? 'Recorded runs'
    const { handle: mcp } = served
    const inspector = await createInspector(sources, { title, port: options.port, mcp })
    opened.push({ sources: [], close: () => inspector.close() })
    announce(inspector.url, options, surroundings)
    await untilStopped(surroundings.signal)
    return EXIT.done
  } finally {
    await Promise.allSettled(opened.map(async (each) => each.close?.()))
  }
}

/** `foldout inspect --mcp`: standard output belongs to the agent that started this, so there is no page. */
async function serveRecording(
  target: string | undefined,
  { store, redactor }: { readonly store: RunStore; readonly redactor: Redactor },
  { signal, releaseOutput }: Surroundings,
): Promise<number> {
  if (target === undefined || isModule(target))
    throw new UsageError('Name the recording to serve: foldout inspect runs.jsonl --mcp')
  if (await isTraffic(target))
    throw new UsageError(`${target} is traffic of a gateway. foldout inspect --mcp serves recordings of runs.`)
  const comparison = await openComparison(target, store)
  if (comparison.length === 0) await openRecording(target, store)
  const served = serveRuns(store, redactor)
  try {
    // The connection keeps standard output for its messages.
    releaseOutput?.()
    const { closed } = await served.stdio()
    await Promise.race([closed, untilStopped(signal)])
    return EXIT.done
  } finally {
    closeAll(...comparison)
    await served.close()
  }
}

/** The values of environment variables whose names mark them as secret. */
function findSecretValues(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) && value ? [value] : []))
}

function isModule(target: string): boolean {
  return /\.[cm]?[jt]sx?(#.*)?$/.test(target)
}

/**
 * Reads a recording of runs, or traffic of the gateway, and follows it while it grows. Returns what says how tools are used, if it is
 * traffic.
 */
async function openRecording(
  target: string,
  store: RunStore,
  clients?: ClientStore,
): Promise<(() => Promise<CatalogRecording>) | undefined> {
  if (!findStats(target)?.isFile())
    throw new UsageError(`There is no file ${target}. Name a recording, or a module that exports a prompt.`)
  if (clients && (await isTraffic(target))) {
    await clients.follow(target)
    return async () => toCatalogRecording(await readTraffic(target))
  }
  await store.follow(target)
  if (store.runs.length === 0 && store.skipped > 0)
    throw new UsageError(
      `${target} is not a recording of runs. Record them with recordRun() or createFileRecorder() of foldout/node.`,
    )
  return undefined
}

/** Opens a saved comparison, if the target is one. */
async function openComparison(target: string | undefined, store: RunStore): Promise<readonly CompareSource[]> {
  if (target === undefined || !(await isComparison(target))) return []
  return [await followComparison(target, store)]
}

function closeAll(...stores: readonly { close(): void }[]): void {
  for (const store of stores) store.close()
}

interface OpenedServers extends Opened {
  /** The files of the configuration. */
  readonly title: string
}

/** Shows the tools of all servers. The page opens at once and fills as the servers answer. */
async function openServers(options: InspectOptions, surroundings: Surroundings): Promise<OpenedServers> {
  const report = createReporter(options, surroundings)
  let source: CatalogSource | undefined
  const { config, files, trustSkill } = await openConfig(options, surroundings)
  const gateway = await createGateway(config, {
    ...getGatewayOptions(options, surroundings.env),
    ...dropUndefined({ trustSkill }),
    onEvent(event) {
      report(event)
      source?.notify()
    },
  })
  const { preset } = options
  source = createCatalogSource({
    get servers() {
      return gateway.servers
    },
    get ownTools() {
      return gateway.ownTools
    },
    get ownInstructions() {
      return gateway.ownInstructions
    },
    getCatalog: () => gateway.getCatalog(dropUndefined({ preset })),
  })
  const sources = [source, createApprovalSource(gateway.approvals)]
  return { title: files.join(', '), sources, close: () => gateway.close() }
}

/** The URL is for this user only: with it, anyone can see and do everything the page can. */
function announce(url: string, { open = true, json }: InspectOptions, { stdout, env }: Surroundings): void {
  stdout.write(json ? `${JSON.stringify({ url })}\n` : `Inspector: ${url}\n`)
  if (open && stdout.isTTY) openBrowser(url, env)
}
