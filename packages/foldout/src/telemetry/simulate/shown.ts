import { getAncestors } from '../../core/text.ts'
import type { FoldedSection } from '../../disclosure/strategy.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'

/** The texts that a model can read: the system text, messages to it and the results of tools. */
export type ShownTexts = readonly string[]

/** Returns the text of each open section without its heading, by path. */
export function sectionBodies(inFull: RenderedPrompt): ReadonlyMap<string, string> {
  return new Map(
    inFull.nodes.map((node) => {
      const text = node.standalone(0)
      const headingEnd = text.indexOf('\n')
      return [node.path, headingEnd === -1 ? '' : text.slice(headingEnd).trim()]
    }),
  )
}

/**
 * Whether a model has a section: it is open, or it has no tools at or below it and its body can be read somewhere, such
 * as in a file or in its own summary. Text alone never brings tools.
 */
export function isSectionShown(
  path: string,
  body: string | undefined,
  shown: { readonly texts: ShownTexts; readonly rendered: RenderedPrompt },
): boolean {
  const { texts, rendered } = shown
  if (rendered.nodes.some((node) => node.path === path && node.visibility === 'full')) return true
  return Boolean(body) && !bringsTools(path, rendered) && texts.some((text) => text.includes(body ?? ''))
}

/** Whether opening a section brings tools. Several sections can have the same one. */
function bringsTools(path: string, { view, tools }: RenderedPrompt): boolean {
  if (!view.hasTools(path)) return false
  const offered = new Set(tools)
  const inside = view.opened([...getAncestors(path), path])
  return inside.toolsIn(path).some((tool) => !offered.has(tool)) || inside.folded.some((one) => isBelow(one, path))
}

const isBelow = (section: FoldedSection, path: string): boolean =>
  section.hasTools && section.path.startsWith(`${path}.`)
