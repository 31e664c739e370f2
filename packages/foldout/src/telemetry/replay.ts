import { getAncestors } from '../core/text.ts'
import { estimatedTokens } from '../core/tokens/tokens.ts'
import type { RecordedRender, RecordedRequest, RecordedRun } from './recording.ts'
import type { SectionCost, ToolCost } from './section-costs.ts'
import { billRequests, type CacheOptions } from './simulate/cache.ts'
import type { Part, RequestParts } from './simulate/request.ts'

/**
 * The saving of a change; negative if it would have cost more.
 *
 * @example
 * ```ts
 * for (const { saved } of advise(recordings, { prompt: bound })) {
 *   console.log(`${saved.tokens} tokens, ${saved.requests} requests, ${saved.restarts} restarts`)
 * }
 * ```
 */
export interface Saving {
  /** Input and output tokens of all requests, without a prompt cache. */
  readonly tokens: number
  readonly requests: number
  readonly restarts: number
  /** The same as {@link Bill}`.cost`, with the cache of the options; left out if they name none. */
  readonly cost?: number
}

/** A recorded prompt with something changed. */
export interface Change {
  /** Whether an opening would have been unnecessary. */
  readonly spares: (opening: { readonly keys: readonly string[] }) => boolean
  /** How a render would have differed. */
  readonly render: (render: RecordedRender) => RenderChange
}

interface RenderChange {
  /** The number of tokens that the text would have gained. */
  readonly text: number
  readonly adds: readonly ToolCost[]
  readonly removes: readonly ToolCost[]
}

const UNCHANGED: RenderChange = { text: 0, adds: [], removes: [] }

/** A request in tokens. Those with the same beginning are sent with the same tools and system text. */
interface ReplayedRequest extends Pick<
  RecordedRequest,
  'systemTokens' | 'toolTokens' | 'conversationTokens' | 'outputTokens'
> {
  readonly beginning: number
}

/** Computes the saving of a change in a run: the same requests, except those that only made unnecessary openings. */
export function replay(run: RecordedRun, change: Change, price?: CacheOptions): Saving {
  const before = replayRequests(run, UNCHANGED_RUN)
  const after = replayRequests(run, change)
  return {
    tokens: sum(before.map(countTokens)) - sum(after.map(countTokens)),
    requests: before.length - after.length,
    restarts: run.restarts.filter(change.spares).length,
    ...(price && { cost: bill(before, price) - bill(after, price) }),
  }
}

const UNCHANGED_RUN: Change = { spares: () => false, render: () => UNCHANGED }

const countTokens = (request: ReplayedRequest): { readonly tokens: number } => ({
  tokens: request.systemTokens + request.toolTokens + request.conversationTokens + request.outputTokens,
})

/** Lists the requests that are left with a change, as they would have been. */
function replayRequests(run: RecordedRun, change: Change): readonly ReplayedRequest[] {
  const spared = run.openings.filter((opening) => opening.answeredBy !== 'none' && change.spares(opening))
  const isSpared = new Set(spared.map(({ callId }) => callId))
  const calls = groupByRequest(run.toolCalls)
  const sparedBy = groupByRequest(spared)
  const keptRestarts = groupByRequest(run.restarts.filter((restart) => !change.spares(restart)))
  const anyRestarts = groupByRequest(run.restarts)
  const left: ReplayedRequest[] = []
  // Tokens of unnecessary openings in earlier requests, whose calls and results later requests would not contain.
  let earlier = sum(sparedBy.get(-1) ?? [])
  let beginning = 0
  for (const [at, request] of run.requests.entries()) {
    const isOther = at > 0 && request.render !== run.requests[at - 1]?.render
    if (isOther && (keptRestarts.has(at - 1) || !anyRestarts.has(at - 1))) beginning++
    const made = calls.get(at) ?? []
    const opened = sum(sparedBy.get(at) ?? [])
    if (made.length === 0 || made.some(({ callId }) => !isSpared.has(callId))) {
      const render = run.renders[request.render]
      if (render === undefined) throw new RangeError(`There is no render ${request.render}.`)
      const { text, adds, removes } = change.render(render)
      const offered = new Set(request.tools)
      const added = adds.filter(({ name }) => !offered.has(name))
      const removed = removes.filter(({ name }) => offered.has(name))
      left.push({
        beginning,
        systemTokens: request.systemTokens + text,
        toolTokens: request.toolTokens + sum(added) - sum(removed),
        conversationTokens: request.conversationTokens - earlier,
        outputTokens: request.outputTokens,
      })
    }
    earlier += opened
  }
  return left
}

/** Bills requests as `simulate` does: tools that join a conversation are sent behind it. */
function bill(requests: readonly ReplayedRequest[], price: CacheOptions): number {
  let first: ReplayedRequest | undefined
  let sent = 0
  let messages: readonly Part[] = []
  const parts = requests.map((request, at): RequestParts => {
    const { beginning, systemTokens, toolTokens, conversationTokens, outputTokens } = request
    const isSame = first?.beginning === beginning
    const start = isSame && first ? first : request
    const length = conversationTokens + toolTokens - start.toolTokens
    // A conversation that has become shorter is another one.
    const isLonger = isSame && length >= sent
    const part = { text: `message ${at}`, tokens: length - (isLonger ? sent : 0) }
    if (isLonger) messages = [...messages, part]
    else messages = [part]
    sent = length
    first = start
    return {
      tools: [{ text: `tools ${beginning}`, tokens: start.toolTokens }],
      system: { text: `text ${beginning}`, tokens: systemTokens },
      messages,
      outputTokens,
      afterMs: 0,
    }
  })
  return billRequests(parts, price, estimatedTokens).cost
}

/** Groups calls or openings by the request whose reply made them. */
export function groupByRequest<Item extends { readonly request: number }>(items: readonly Item[]): Map<number, Item[]> {
  const groups = new Map<number, Item[]>()
  for (const item of items) {
    const group = groups.get(item.request)
    if (group) group.push(item)
    else groups.set(item.request, [item])
  }
  return groups
}

export const NO_SAVING: Saving = { tokens: 0, requests: 0, restarts: 0 }

export function addSavings(savings: readonly Saving[]): Saving {
  return savings.reduce(
    (all, one) => ({
      tokens: all.tokens + one.tokens,
      requests: all.requests + one.requests,
      restarts: all.restarts + one.restarts,
      ...(one.cost !== undefined && { cost: (all.cost ?? 0) + one.cost }),
    }),
    NO_SAVING,
  )
}

/** Creates the change that opens every section from the start, so nothing has to be opened. */
export function showAll(run: RecordedRun): Change {
  const text = run.sections.reduce((total, { fullTokens }) => total + fullTokens, 0)
  const tools = run.sections.flatMap((section) => section.tools)
  return {
    spares: () => true,
    render: ({ sections }) => ({ text: text - sum(sections), adds: tools, removes: run.disclosureTools }),
  }
}

/** Creates the change that opens a section from the start. */
export function showSection(run: RecordedRun, path: string): Change {
  const shown = getShownSections(run, path)
  const open = shown.filter(({ how }) => how === 'full')
  const full = new Set(open.map(({ section }) => section.path))
  const leavesFolds = shown.length > open.length
  const text = sum(shown.map(({ section, how }) => ({ tokens: getCost(section, how) })))
  return {
    spares: ({ keys }) => keys.every((key) => full.has(key)),
    render({ sections }) {
      const folded = sections.filter(({ visibility }) => visibility === 'summary')
      const own = folded.find((section) => section.path === path)
      if (!own) return UNCHANGED
      return {
        text: text - own.tokens,
        adds: open.flatMap(({ section }) => section.tools),
        removes: folded.length === 1 && !leavesFolds ? run.disclosureTools : [],
      }
    },
  }
}

/** Creates the change that folds a section from the start. A summary that is not written yet costs nothing. */
export function foldSection(run: RecordedRun, path: string): Change {
  return { spares: () => false, render: (render) => foldIn(run, render, path, []) }
}

/**
 * Creates the change that offers a tool from the start; its section is not opened if it was opened only for the tool.
 */
export function offerTool(run: RecordedRun, tool: ToolCost, path: string): Change {
  const asked = new Set([...getAncestors(path), path])
  const [root = path] = path.split('.')
  const others = new Set(
    run.sections
      .filter((section) => isWithin(section.path, root))
      .flatMap((section) => section.tools.map(({ name }) => name)),
  )
  others.delete(tool.name)
  const isForToolAlone = !run.toolCalls.some(({ name }) => others.has(name))
  const spares = ({ keys }: { readonly keys: readonly string[] }): boolean =>
    isForToolAlone && keys.every((key) => asked.has(key))
  const opened = run.restarts.filter(spares).flatMap(({ keys }) => keys)
  const folded = run.renders[0]?.sections.find(
    (section) => section.visibility === 'summary' && isWithin(path, section.path),
  )
  return {
    spares,
    render(render) {
      const isOpened = folded !== undefined && opened.some((key) => isWithin(key, folded.path))
      const change = isOpened ? foldIn(run, render, folded.path, [tool.name]) : UNCHANGED
      return { ...change, adds: [...change.adds, tool] }
    },
  }
}

function foldIn(run: RecordedRun, render: RecordedRender, path: string, keeps: readonly string[]): RenderChange {
  const own = render.sections.find((section) => section.path === path)
  if (own?.visibility !== 'full') return UNCHANGED
  const within = render.sections.filter((section) => isWithin(section.path, path))
  const summary = run.sections.find((section) => section.path === path)?.summaryTokens ?? 0
  return {
    text: summary - sum(within),
    adds: run.disclosureTools,
    removes: run.sections
      .filter((section) => isWithin(section.path, path))
      .flatMap((section) => section.tools)
      .filter(({ name }) => !keeps.includes(name)),
  }
}

/**
 * Lists the sections shown when a section is open: the section itself, and those inside it with their default
 * visibility.
 */
function getShownSections(
  run: RecordedRun,
  path: string,
): { readonly section: SectionCost; readonly how: 'full' | 'summary' }[] {
  const byPath = new Map(run.sections.map((section) => [section.path, section]))
  const isFull = (at: string): boolean => at === path || byPath.get(at)?.visibility === 'full'
  return run.sections
    .filter((section) => isWithin(section.path, path))
    .filter((section) =>
      getAncestors(section.path)
        .filter((ancestor) => isWithin(ancestor, path))
        .every(isFull),
    )
    .map((section) => ({ section, how: isFull(section.path) ? 'full' : 'summary' }))
}

const getCost = (section: SectionCost, how: 'full' | 'summary'): number => {
  if (how === 'full') return section.fullTokens
  return section.summaryTokens ?? 0
}

export function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`)
}

function sum(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0)
}
