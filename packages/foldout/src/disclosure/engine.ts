import { getAncestors, nearest } from '../core/text.ts'
import { fail, type Opening, type ToolFailure } from '../tools/result.ts'
import type { DisclosureView } from './strategy.ts'

export const MAX_REASON = 256

/** What a call asks for, worked out before anything is rendered or done. */
export interface OpeningPlan {
  readonly keys: readonly string[]
  readonly reason: string
  /** For each key what has to open: the section itself and every folded section it lies in, outermost first. */
  readonly getPaths: ReadonlyMap<string, readonly string[]>
  /** Whether anything that opens has tools, in itself or below. */
  readonly hasTools: boolean
}

/** Says what is wrong with the keys of a call, or nothing. All are looked at before anything happens. */
export function checkKeys(
  view: DisclosureView,
  keys: readonly string[],
  options: { readonly takesFull: boolean },
): ToolFailure | undefined {
  if (keys.length === 0) return fail('At least one section key must be provided.')
  for (const key of keys) {
    const state = view.state(key)
    if (state === undefined) return fail(unknownSection(view, key))
    if (state === 'full' && !options.takesFull) return fail(`Section '${key}' is already expanded.`)
  }
  return undefined
}

function unknownSection(view: DisclosureView, key: string): string {
  const near = nearest(key, view.keys)
  const hint = near.length > 0 ? ` Nearest keys: ${near.join(', ')}.` : ''
  return `Section '${key}' does not exist in this prompt.${hint}`
}

/** Plans the opening of folded sections. The keys have been checked. */
export function planOpening(view: DisclosureView, keys: readonly string[], reason: string): OpeningPlan {
  const getPaths = new Map<string, readonly string[]>()
  for (const key of keys)
    getPaths.set(
      key,
      [...getAncestors(key), key].filter((path) => view.state(path) === 'folded'),
    )
  return {
    keys: [...getPaths.keys()],
    reason: reason.slice(0, MAX_REASON),
    getPaths,
    hasTools: [...getPaths.keys()].some((key) => bearsTools(view, getPaths.get(key)!)),
  }
}

/** Whether the outermost of some sections that open together has tools, in itself or below: then so has the opening. */
export function bearsTools(view: DisclosureView, paths: readonly string[]): boolean {
  return view.hasTools(paths[0]!)
}

/** A plan carried out in a view of its own: the texts it shows, and what a result says of it. */
export function getOpening(
  view: DisclosureView,
  plan: OpeningPlan,
  options: { readonly halts: boolean },
): { readonly content: string; readonly opening: Opening } {
  const paths = [...new Set([...plan.getPaths.values()].flat())]
  const after = view.opened(paths)
  const offered = new Set(view.tools.map((tool) => tool.name))
  const tools = after.tools.filter((tool) => !offered.has(tool.name))
  const roots = outermost([...plan.getPaths.values()].map((path) => path[0]!))
  const content = roots.map((root) => after.content(root)).join('\n\n')
  return { content, opening: { keys: plan.keys, reason: plan.reason, paths, tools, halts: options.halts } }
}

/** Paths without repetition and without those that lie in another. */
function outermost(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}.`)))
}
