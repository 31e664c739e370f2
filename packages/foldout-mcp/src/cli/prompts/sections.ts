import type { BoundPrompt, RenderOptions } from 'foldout'
import { UsageError } from '../../gateway/config/config.ts'
import { toLine } from '../support/text.ts'

/** The tokens of each section when everything is open. Opening a section may reveal more folded ones. */
export function measureSections(bound: BoundPrompt, rendering: RenderOptions = {}): ReadonlyMap<string, number> {
  const opened = new Set<string>()
  for (;;) {
    const { nodes, summarized } = bound.render({ ...rendering, visibility: toVisibility([...opened]) })
    const folded = summarized.filter((path) => !opened.has(path))
    if (folded.length === 0) return new Map(nodes.map((node) => [node.path, node.tokens]))
    for (const path of folded) opened.add(path)
  }
}

/** @throws UsageError if there is no such section. */
export function checkPaths(paths: readonly string[], known: ReadonlyMap<string, number>, what = 'Unknown'): void {
  const unknown = paths.find((path) => !known.has(path))
  if (unknown === undefined) return
  throw new UsageError(`${what} section '${toLine(unknown)}'. Choose from: ${[...known.keys()].join(', ')}.`)
}

/** Opens sections and their ancestors. */
export function toVisibility(paths: readonly string[]): Readonly<Record<string, 'full'>> {
  const all = paths.flatMap((path) => {
    const keys = path.split('.')
    return keys.map((_, i) => keys.slice(0, i + 1).join('.'))
  })
  return Object.fromEntries(all.map((path) => [path, 'full']))
}
