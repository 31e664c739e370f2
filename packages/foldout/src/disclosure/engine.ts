import { getAncestors, nearest, shorten } from '../core/text.ts'
import { fail, type Opening, type ToolFailure } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'
import { MAX_NAME_SHOWN, MAX_REASON } from './limits.ts'
import type { DisclosureView } from './strategy.ts'

/** What a call asks for, worked out before anything is rendered or done. */
export interface OpeningPlan {
  readonly keys: readonly string[]
  readonly reason: string
  /** For each key what has to open: the section itself and every folded section it lies in, outermost first. */
  readonly pathsByKey: ReadonlyMap<string, readonly string[]>
  /** Whether anything that opens has tools, in itself or below. */
  readonly hasTools: boolean
}

/** The paths that a call's keys stand for, or what is wrong with them. */
export type ResolvedKeys = { readonly keys: readonly string[] } | { readonly fault: ToolFailure }

/**
 * Finds the sections that a call asks for. All keys are looked at before anything happens.
 *
 * @example
 * const resolved = resolveKeys(view, [key], { takesFull: false })
 * if ('fault' in resolved) return resolved.fault
 */
export function resolveKeys(
  view: DisclosureView,
  given: readonly string[],
  options: { readonly takesFull: boolean },
): ResolvedKeys {
  if (given.length === 0) return { fault: fail('At least one section key must be provided.') }
  const keys: string[] = []
  for (const key of given) {
    const path = view.resolve(key)
    const state = path === undefined ? undefined : view.state(path)
    if (path === undefined || state === undefined) return { fault: fail(describeUnknownSection(view, key)) }
    if (state === 'full' && !options.takesFull) return { fault: fail(`Section '${path}' is already expanded.`) }
    keys.push(path)
  }
  return { keys }
}

function describeUnknownSection(view: DisclosureView, key: string): string {
  // What is open need not be opened: only folded sections are worth naming.
  const near = nearest(
    key,
    view.keys.filter((path) => view.state(path) === 'folded'),
  )
  const hint = near.length > 0 ? ` Nearest keys: ${near.join(', ')}.` : ''
  return `Section '${shorten(key, MAX_NAME_SHOWN)}' does not exist in this prompt.${hint}`
}

/**
 * Plans the opening of folded sections. The keys have been resolved.
 *
 * @example
 * const plan = planOpening(view, ['guide'], 'The user asks how.')
 */
export function planOpening(view: DisclosureView, keys: readonly string[], reason: string): OpeningPlan {
  const pathsByKey = new Map<string, readonly string[]>()
  for (const key of keys) {
    const paths = [...getAncestors(key), key].filter((path) => view.state(path) === 'folded')
    pathsByKey.set(key, paths)
  }
  return {
    keys: [...pathsByKey.keys()],
    reason: reason.slice(0, MAX_REASON),
    pathsByKey,
    hasTools: [...pathsByKey.values()].some((paths) => bearsTools(view, paths)),
  }
}

/** Whether the outermost of some sections that open together has tools, in itself or below: then so has the opening. */
export function bearsTools(view: DisclosureView, [outermost]: readonly string[]): boolean {
  return outermost !== undefined && view.hasTools(outermost)
}

/** What a plan comes to when it is carried out. */
export interface PlannedOpening {
  /** The texts that it shows. */
  readonly content: string
  /** The tools of what it shows, and those that come with it. */
  readonly tools: readonly AnyTool[]
  readonly opening: Opening
}

/** A plan carried out in a view of its own: the texts it shows, and what a result says of it. */
export function getOpening(
  view: DisclosureView,
  plan: OpeningPlan,
  options: { readonly halts: boolean },
): PlannedOpening {
  const paths = [...new Set([...plan.pathsByKey.values()].flat())]
  const after = view.opened(paths)
  const offered = new Set(view.tools.map(({ name }) => name))
  const added = after.tools.filter(({ name }) => !offered.has(name))
  const roots = getOutermost(paths)
  const shown = new Map<string, AnyTool>()
  for (const tool of [...roots.flatMap((root) => after.toolsIn(root)), ...added]) shown.set(tool.name, tool)
  return {
    content: roots.map((root) => after.content(root)).join('\n\n'),
    tools: [...shown.values()],
    opening: { keys: plan.keys, reason: plan.reason, paths, tools: added, halts: options.halts },
  }
}

/** Paths without those that lie in another. */
function getOutermost(paths: readonly string[]): string[] {
  const all = new Set(paths)
  return paths.filter((path) => !getAncestors(path).some((ancestor) => all.has(ancestor)))
}
