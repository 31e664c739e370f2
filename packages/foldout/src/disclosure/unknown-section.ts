import { nearest, shorten } from '../core/text.ts'
import { toVisibleText } from '../core/visible-text.ts'
import { MAX_NAME_SHOWN } from './limits.ts'
import type { DisclosureView } from './strategy.ts'

/** Tells the model that a key means no section, or several. */
export function describeUnknownSection(view: DisclosureView, key: string): string {
  const shown = toVisibleText(shorten(key, MAX_NAME_SHOWN))
  const meant = view.resolveAll(key)
  if (meant.length > 1) return `Several sections are called '${shown}'. Use one of these keys: ${meant.join(', ')}.`
  const near = findNear(view, key)
  const hint = near.length > 0 ? ` Nearest keys: ${near.join(', ')}.` : ''
  return `Section '${shown}' does not exist in this prompt.${hint}`
}

const MAX_NEAR = 3

/** Finds the folded sections that a key may mean; only folded sections can be opened. */
function findNear(view: DisclosureView, key: string): readonly string[] {
  const folded = view.keys.filter((path) => view.state(path) === 'folded')
  // A model often writes only the last part of a path, or mistypes it.
  const byLast = new Map<string, string[]>()
  for (const path of folded) byLast.set(getLast(path), [...(byLast.get(getLast(path)) ?? []), path])
  const byLastPart = nearest(getLast(key), byLast.keys(), MAX_NEAR).flatMap((last) => byLast.get(last) ?? [])
  return [...new Set([...nearest(key, folded, MAX_NEAR), ...byLastPart])].slice(0, MAX_NEAR)
}

function getLast(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}
