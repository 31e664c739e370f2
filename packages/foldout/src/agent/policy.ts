import { describeLeft, describeRestart, describeWaiting, getNewTools } from '../disclosure/opening.ts'
import type { DisclosureView } from '../disclosure/strategy.ts'
import type { Opening } from '../tools/result.ts'

/**
 * Which openings that need a new render are applied together: `'eager'`, all openings of a turn; `'conservative'`, one
 * section at a time; `'batched'`, the openings of several turns, as soon as a turn opens nothing more.
 *
 * @example
 * ```ts
 * const opening: OpeningPolicy = 'batched'
 * await runAgent(bound, { adapter, opening })
 * ```
 */
export type OpeningPolicy = 'eager' | 'conservative' | 'batched'

/**
 * The sections that are opened by one new render.
 *
 * @example
 * ```ts
 * const format = ({ keys, reason }: Expansion): string => `Opened ${keys.join(', ')}: ${reason}`
 * const { turns } = await runAgent(bound, { adapter })
 * const openings = turns.flatMap((turn) => (turn.type === 'restart' ? [format(turn.expansion)] : []))
 * ```
 */
export interface Expansion {
  readonly keys: readonly string[]
  readonly paths: readonly string[]
  readonly reason: string
}

/** A policy's decision about an opening that needs a new render. */
export interface AcceptedOpening {
  /** The sections that the next render opens; undefined if the model has to ask again. */
  readonly expansion: Expansion | undefined
  /** The text for the model. */
  readonly text: string
}

/** Decides about an opening that needs a new render; `isFirst` means that no other opening waits for the render. */
export function acceptOpening(
  opening: Opening,
  policy: OpeningPolicy,
  { view, isFirst }: { readonly view: DisclosureView; readonly isFirst: boolean },
): AcceptedOpening {
  const { keys, paths, reason } = opening
  const whole: Expansion = { keys, paths, reason }
  if (policy === 'batched') return { expansion: whole, text: describeWaiting(keys) }
  if (policy === 'eager') {
    return { expansion: whole, text: describeRestart(keys, opening.tools) }
  }
  const [key, ...left] = keys
  if (!isFirst || key === undefined) return { expansion: undefined, text: describeLeft(keys) }
  const own = paths.filter((path) => path === key || key.startsWith(`${path}.`))
  const tools = getNewTools(view.opened(own), new Set(view.tools.map(({ name }) => name)))
  const opened = describeRestart([key], tools)
  return {
    expansion: { keys: [key], paths: own, reason },
    text: left.length === 0 ? opened : `${opened} ${describeLeft(left)}`,
  }
}

/** Merges the openings of one or more turns. None is lost, and none is applied twice. */
export function mergeOpenings(openings: readonly Expansion[]): Expansion {
  return {
    keys: unique(openings.flatMap(({ keys }) => keys)),
    paths: unique(openings.flatMap(({ paths }) => paths)),
    reason: unique(openings.map(({ reason }) => reason).filter(Boolean)).join('; '),
  }
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)]
}
