import { formatCount } from 'foldout-shared/numbers'
import { isUnknown, type Catalog } from 'foldout/catalog'
import { summarizeResult } from '../../gateway/traffic/lines.ts'
import { readTraffic, type RecordedTraffic } from '../../gateway/traffic/recording.ts'
import { EXIT } from '../support/exit-codes.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { withServers, type ServerOptions } from '../support/session.ts'
import { createStyler, toLine } from '../support/text.ts'

export interface ReplayOptions extends ServerOptions {
  /** Also repeats calls of read-only tools. */
  readonly calls?: boolean
}

type Search = Extract<RecordedTraffic, { type: 'search' }>
type Call = Extract<RecordedTraffic, { type: 'call' }>

interface ReplayedSearch {
  readonly query: string
  readonly before: readonly string[]
  readonly now: readonly string[]
  /** Tools that were found before and no longer are. */
  readonly lost: readonly string[]
  readonly isSame: boolean
}

interface ReplayedCall {
  readonly tool: string
  readonly outcome: 'same' | 'different' | 'fails now' | 'works now' | 'skipped'
  /** Why it was skipped, or the error message. */
  readonly reason: string | undefined
}

/** `foldout replay <file>`: repeats recorded traffic and compares the results. Returns the exit code. */
export async function replay(file: string, options: ReplayOptions, surroundings: Surroundings): Promise<number> {
  const traffic = await readTraffic(file)
  return withServers(options, surroundings, async ({ catalog, progress, failed }) => {
    const searches: ReplayedSearch[] = []
    const calls: ReplayedCall[] = []
    const asked = findSearches(traffic)
    const skipped = traffic.filter((line) => line.type === 'search' && line.isRedacted).length
    const repeated = options.calls === true ? traffic.filter((line) => line.type === 'call') : []
    await progress.during(
      () => `Repeated ${searches.length + calls.length} of ${asked.length + repeated.length}`,
      async () => {
        for (const search of asked) searches.push(await repeatSearch(catalog, search))
        for (const call of repeated) calls.push(await repeatCall(catalog, call, surroundings.signal))
      },
    )
    const result = { searches, calls, skippedSearches: skipped, failed }
    const { stdout } = surroundings
    stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : formatResult(result, surroundings))
    const isWorse = searches.some(({ lost }) => lost.length > 0) || calls.some(({ outcome }) => outcome === 'fails now')
    if (isWorse) return EXIT.failed
    return EXIT.done
  })
}

/** The last search for each query, because its results may have changed during the recording. */
function findSearches(traffic: readonly RecordedTraffic[]): readonly Search[] {
  const searches = traffic.filter((line): line is Search => line.type === 'search' && !line.isRedacted)
  return [...new Map(searches.map((search) => [search.query, search])).values()]
}

const DEFAULT_LIMIT = 5

async function repeatSearch(catalog: Catalog, { query, hits: before }: Search): Promise<ReplayedSearch> {
  const { hits } = await catalog.search(query, { limit: Math.max(DEFAULT_LIMIT, before.length) })
  const now = hits.map(({ tool }) => tool.qualified)
  const isSame = before.length === now.length && before.every((name, i) => name === now[i])
  return { query, before, now, lost: before.filter((name) => !now.includes(name)), isSame }
}

async function repeatCall(catalog: Catalog, call: Call, signal: AbortSignal): Promise<ReplayedCall> {
  const { tool } = call
  const reason = findObstacle(catalog, call)
  if (reason !== undefined) return { tool, outcome: 'skipped', reason }
  const result = await catalog.call(tool, call.arguments, { signal })
  const isOk = result.isError !== true
  if (isOk !== call.ok) {
    const [first] = result.content
    const says = typeof first?.['text'] === 'string' ? first['text'] : undefined
    if (isOk) return { tool, outcome: 'works now', reason: undefined }
    return { tool, outcome: 'fails now', reason: says }
  }
  const isSame = call.result?.hash === summarizeResult(result).hash
  return { tool, outcome: isSame ? 'same' : 'different', reason: undefined }
}

/** Why a call cannot be repeated. Both the recording and the server must say that the tool is read-only. */
function findObstacle(catalog: Catalog, { tool, isReadOnly, isRedacted, result }: Call): string | undefined {
  const entry = catalog.resolve(tool)
  if (isUnknown(entry)) return 'the tool no longer exists'
  if (!isReadOnly || entry.annotations?.readOnlyHint !== true) return 'the tool may change something'
  if (isRedacted) return 'its arguments were not recorded in full'
  if (result === undefined) return 'it was not answered'
  return undefined
}

interface Result {
  readonly searches: readonly ReplayedSearch[]
  readonly calls: readonly ReplayedCall[]
  readonly skippedSearches: number
}

function formatResult({ searches, calls, skippedSearches }: Result, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const same = searches.filter(({ isSame }) => isSame).length
  const changed = searches
    .filter(({ isSame }) => !isSame)
    .flatMap(({ query, before, now, lost }) => [
      style(lost.length > 0 ? 'red' : 'yellow', `“${toLine(query)}”`),
      `  before: ${toLine(before.join(', ')) || 'nothing'}`,
      `  now:    ${toLine(now.join(', ')) || 'nothing'}`,
    ])
  const noted = calls
    .filter(({ outcome }) => outcome !== 'same')
    .map(
      ({ tool, outcome, reason }) => `${toLine(tool)}: ${outcome}${reason === undefined ? '' : `, ${toLine(reason)}`}`,
    )
  const skipped = skippedSearches > 0 ? `, ${skippedSearches} skipped because they were not recorded in full` : ''
  const counts = (['same', 'different', 'works now', 'fails now', 'skipped'] as const)
    .map((outcome) => [outcome, calls.filter((call) => call.outcome === outcome).length] as const)
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
  const summary = [
    `${formatCount(searches.length, 'search', 'searches')}: ${same} found the same${skipped}`,
    ...(calls.length === 0 ? [] : [`${formatCount(calls.length, 'call')}: ${counts.join(', ')}`]),
  ]
  return `${[...changed, ...noted, ...summary].join('\n')}\n`
}
