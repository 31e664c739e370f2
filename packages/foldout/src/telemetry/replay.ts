import { getAncestors } from '../core/text.ts'
import type { RecordedRender, RecordedRun } from './recording.ts'
import type { SectionCost, ToolCost } from './section-costs.ts'

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
  /** Input and output tokens of all requests. */
  readonly tokens: number
  readonly requests: number
  readonly restarts: number
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

/** Computes the saving of a change in a run: the same requests, except those that only made unnecessary openings. */
export function replay(run: RecordedRun, change: Change): Saving {
  const spared = run.openings.filter((opening) => opening.answeredBy !== 'none' && change.spares(opening))
  const isSpared = new Set(spared.map(({ callId }) => callId))
  const calls = groupByRequest(run.toolCalls)
  const sparedBy = groupByRequest(spared)
  let tokens = 0
  let requests = 0
  // Tokens of unnecessary openings in earlier requests, whose calls and results later requests would not contain.
  let earlier = sum(sparedBy.get(-1) ?? [])
  for (const [at, request] of run.requests.entries()) {
    const made = calls.get(at) ?? []
    const opened = sum(sparedBy.get(at) ?? [])
    if (made.length > 0 && made.every(({ callId }) => isSpared.has(callId))) {
      requests += 1
      tokens += request.systemTokens + request.toolTokens + request.conversationTokens + request.outputTokens
      earlier += opened
      continue
    }
    const render = run.renders[request.render]
    if (render === undefined) throw new RangeError(`There is no render ${request.render}.`)
    const { text, adds, removes } = change.render(render)
    const offered = new Set(request.tools)
    const added = adds.filter(({ name }) => !offered.has(name))
    const removed = removes.filter(({ name }) => offered.has(name))
    tokens += earlier + sum(removed) - sum(added) - text
    earlier += opened
  }
  return { tokens, requests, restarts: run.restarts.filter(change.spares).length }
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

export function addSavings(savings: readonly Saving[]): Saving {
  return savings.reduce(
    (all, one) => ({
      tokens: all.tokens + one.tokens,
      requests: all.requests + one.requests,
      restarts: all.restarts + one.restarts,
    }),
    { tokens: 0, requests: 0, restarts: 0 },
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

const getCost = (section: SectionCost, how: 'full' | 'summary'): number =>
  how === 'full' ? section.fullTokens : (section.summaryTokens ?? 0)

export function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`)
}

function sum(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0)
}
