import { nearest, shorten } from '../core/text.ts'
import { toVisibleText } from '../core/visible-text.ts'
import { describeHowToAsk } from './ask-section.ts'
import { MAX_NAME_SHOWN } from './limits.ts'
import type { DisclosureStrategy, DisclosureView, OpeningCall } from './strategy.ts'

/**
 * The part of a rendered prompt that hints are made from.
 *
 * @example
 * ```ts
 * const source: HintSource = bound.render()
 * describeUnknownTool('refund', ['look'], source).includes('refund') // => true
 * ```
 */
export interface HintSource {
  readonly view: DisclosureView
  readonly disclosure: DisclosureStrategy
  /** Tools that are not offered yet, each with the path of the folded section that contains it. */
  readonly toolsInFolds: ReadonlyMap<string, string>
}

/**
 * Describes to the model how to get a tool of a folded section that it called.
 *
 * @example
 * const rendered = bound.render({ session })
 * const path = rendered.toolsInFolds.get('refund_order')
 * if (path !== undefined) console.log(describeFoldedTool('refund_order', path, rendered))
 */
export function describeFoldedTool(name: string, path: string, source: HintSource): string {
  return `Tool '${name}' belongs to the section '${path}', which is not open yet. ${describeHowToOpen(path, source)}`
}

function describeHowToOpen(path: string, { view, disclosure }: HintSource): string {
  const delegate = view.findDelegate(path)
  if (delegate !== undefined) return describeHowToAsk(delegate)
  const calls = disclosure.getCalls?.(view, [path]) ?? []
  if (calls.length > 0) return calls.map(formatCall).join(' ')
  const tools = disclosure.toolNames.map((name) => `\`${name}\``)
  return `Open that section with ${tools.join(' or ')} first.`
}

function formatCall({ name, arguments: args }: OpeningCall): string {
  const given = Object.entries((args ?? {}) as Record<string, unknown>).filter(([, value]) => value !== '')
  const said = given.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(' and ')
  if (said === '') return `Call \`${name}\` first.`
  return `Call \`${name}\` with ${said} first.`
}

/**
 * Describes to the model that a tool it called does not exist, and which one it may have meant.
 *
 * @example
 * console.log(describeUnknownTool('refund', ['look'], bound.render({ session })))
 */
export function describeUnknownTool(name: string, callable: Iterable<string>, source: HintSource): string {
  const missing = `There is no tool '${toVisibleText(shorten(name, MAX_NAME_SHOWN))}'.`
  const meant = findMeant(name, [...callable, ...source.toolsInFolds.keys()])
  if (meant === undefined) return `${missing} Call one of the tools in your list.`
  const path = source.toolsInFolds.get(meant)
  return `${missing} Did you mean ${meant}?${path === undefined ? '' : ` Open section '${path}' to get it.`}`
}

/** Finds the known name that was most likely meant, or undefined if no name is similar. */
function findMeant(given: string, known: readonly string[]): string | undefined {
  const name = given.slice(0, MAX_NAME_SHOWN).toLowerCase()
  const related = known.filter((candidate) => isRelated(name, candidate.toLowerCase()))
  if (related.length > 0) return nearest(name, related, 1)[0]
  const [best] = nearest(name, known, 1)
  if (best !== undefined && getLikeness(name, best.toLowerCase()) >= 0.4) return best
  return undefined
}

function isRelated(name: string, candidate: string): boolean {
  if (name.length < 3 || candidate.length < 3) return false
  return candidate.includes(name) || name.includes(candidate)
}

/** The share of letter pairs that two words have in common, from 0 to 1. */
function getLikeness(one: string, other: string): number {
  const pairs = getPairs(one)
  const others = getPairs(other)
  let shared = 0
  for (const pair of pairs) if (others.has(pair)) shared += 1
  return (2 * shared) / Math.max(1, pairs.size + others.size)
}

function getPairs(word: string): Set<string> {
  const pairs = new Set<string>()
  for (let i = 0; i + 1 < word.length; i++) pairs.add(word.slice(i, i + 2))
  return pairs
}
