import { getAncestors } from '../core/text.ts'
import type { RecordedOpening, RecordedRender, RecordedRun } from './recording.ts'
import type { SectionCost, ToolCost } from './section-costs.ts'

/** What a change would have saved; less than nothing where it would have cost more. */
export interface Saving {
  /** Input and output of all requests. */
  readonly tokens: number
  readonly requests: number
  readonly restarts: number
}

/** A recorded prompt with something changed. */
export interface Change {
  /** What the model would not have had to open any more. */
  readonly spares: (opening: { readonly keys: readonly string[] }) => boolean
  /** How a render would have differed. */
  readonly render: (render: RecordedRender) => RenderChange
}

interface RenderChange {
  /** Tokens of its text that come in addition. */
  readonly text: number
  readonly adds: readonly ToolCost[]
  readonly removes: readonly ToolCost[]
}

const UNCHANGED: RenderChange = { text: 0, adds: [], removes: [] }

/** Counts a run again as it would have been: the same requests, without those that only opened what need not be opened. */
export function replay(run: RecordedRun, change: Change): Saving {
  const spared = run.openings.filter((opening) => opening.answeredBy !== 'none' && change.spares(opening))
  const isSpared = new Set(spared.map(({ callId }) => callId))
  let tokens = 0
  let requests = 0
  for (const [at, request] of run.requests.entries()) {
    const calls = run.toolCalls.filter((call) => call.request === at)
    if (calls.length > 0 && calls.every(({ callId }) => isSpared.has(callId))) {
      requests += 1
      tokens += request.systemTokens + request.toolTokens + request.conversationTokens + request.outputTokens
      continue
    }
    const { text, adds, removes } = change.render(run.renders[request.render]!)
    const offered = new Set(request.tools)
    const added = adds.filter(({ name }) => !offered.has(name))
    const removed = removes.filter(({ name }) => offered.has(name))
    const earlier = spared.filter((opening: RecordedOpening) => opening.request < at)
    tokens += sum(earlier) + sum(removed) - sum(added) - text
  }
  return { tokens, requests, restarts: run.restarts.filter(change.spares).length }
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

/** A section is shown in full from the start. */
export function showing(run: RecordedRun, path: string): Change {
  const shown = shownSections(run, path)
  const open = shown.filter(({ how }) => how === 'full')
  const full = new Set(open.map(({ section }) => section.path))
  const leavesFolds = shown.length > open.length
  const text = sum(shown.map(({ section, how }) => ({ tokens: costAs(section, how) })))
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

/** A section is folded from the start. Where it has no summary yet, that costs nothing. */
export function folding(run: RecordedRun, path: string): Change {
  return { spares: () => false, render: (render) => foldedIn(run, render, path, []) }
}

/** A tool is offered from the start, and its section is not opened where that was only for the tool. */
export function offering(run: RecordedRun, tool: ToolCost, path: string): Change {
  const asked = new Set([...getAncestors(path), path])
  const others = new Set(
    run.sections
      .filter((section) => isWithin(section.path, path.split('.')[0]!))
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
      const change = isOpened ? foldedIn(run, render, folded.path, [tool.name]) : UNCHANGED
      return { ...change, adds: [...change.adds, tool] }
    },
  }
}

function foldedIn(run: RecordedRun, render: RecordedRender, path: string, keeps: readonly string[]): RenderChange {
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

/** What is shown of a section that is open: itself, and what lies in it as it is by default. */
function shownSections(
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

const costAs = (section: SectionCost, how: 'full' | 'summary'): number =>
  how === 'full' ? section.fullTokens : (section.summaryTokens ?? 0)

export function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`)
}

function sum(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0)
}
