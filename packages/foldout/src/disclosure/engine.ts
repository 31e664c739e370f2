import { getAncestors } from '../core/text.ts'
import { fail, type Opening, type ToolFailure } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'
import { describeHowToAsk } from './ask-section.ts'
import { MAX_REASON } from './limits.ts'
import type { DisclosureView } from './strategy.ts'
import { describeUnknownSection } from './unknown-section.ts'

/**
 * The sections that a call opens, computed before anything is rendered or changed.
 *
 * @example
 * ```ts
 * const plan: OpeningPlan = planOpening(view, ['refunds'], 'The customer wants a refund.')
 * plan.hasTools // => true
 * ```
 */
export interface OpeningPlan {
  readonly keys: readonly string[]
  readonly reason: string
  /** The sections to open for each key: the section itself and every folded section around it, outermost first. */
  readonly pathsByKey: ReadonlyMap<string, readonly string[]>
  /** Whether any of these sections, or a section inside them, has tools. */
  readonly hasTools: boolean
  /** Whether the model found a section by what it says, so it does not need to see what is beside it. */
  readonly isFound?: boolean
}

/**
 * The paths of the sections that a call asks for, or the failure to return.
 *
 * @example
 * ```ts
 * const resolved: ResolvedKeys = resolveKeys(view, ['refnds'], { takesFull: false })
 * 'fault' in resolved && resolved.fault.ok // => false
 * ```
 */
export type ResolvedKeys = { readonly keys: readonly string[] } | { readonly fault: ToolFailure }

/**
 * Finds the sections that a call asks for. One unknown key makes the whole call fail. With `takesFull: false`, so does a
 * section that is already open.
 *
 * @example
 * const resolved = resolveKeys(view, [key], { takesFull: false })
 * const result = 'fault' in resolved ? resolved.fault : answerInPlace(view, planOpening(view, resolved.keys, ''))
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
    const delegate = view.findDelegate(path)
    if (delegate !== undefined)
      return { fault: fail(`Section '${delegate}' cannot be opened. ${describeHowToAsk(delegate)}`) }
    keys.push(path)
  }
  return { keys }
}

/**
 * Plans the opening of folded sections. Pass keys from {@link resolveKeys}.
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

/** Whether sections that open together bring tools: whether the outermost one has any, or a section inside it. */
export function bearsTools(view: DisclosureView, [outermost]: readonly string[]): boolean {
  return outermost !== undefined && view.hasTools(outermost)
}

/** The outcome of a plan. */
export interface PlannedOpening {
  /** The text of the opened sections. */
  readonly content: string
  /** The tools of the opened sections, and others that become available with them. */
  readonly tools: readonly AnyTool[]
  readonly opening: Opening
}

/** Computes the outcome of a plan in a copy of the view; nothing is opened yet. */
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
    content: roots.map((root) => after.content(root, plan.isFound ? plan.keys : undefined)).join('\n\n'),
    tools: [...shown.values()],
    opening: { keys: plan.keys, reason: plan.reason, paths, tools: added, halts: options.halts },
  }
}

/** Returns the text of sections after they are opened. */
export function getOpenedText(view: DisclosureView, paths: readonly string[]): string {
  const after = view.opened(paths)
  return getOutermost([...new Set(paths)])
    .map((root) => after.content(root))
    .join('\n\n')
}

/** Leaves out paths that are inside another path of the list. */
function getOutermost(paths: readonly string[]): string[] {
  const all = new Set(paths)
  return paths.filter((path) => !getAncestors(path).some((ancestor) => all.has(ancestor)))
}
