import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'

/** The texts that a model can read: the system text and the results of tools. */
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

/** Whether a model can read a section's body, wherever it is; a section without a body is shown while it is open. */
export function isSectionShown(
  path: string,
  body: string | undefined,
  shown: { readonly texts: ShownTexts; readonly rendered: RenderedPrompt },
): boolean {
  if (body) return shown.texts.some((text) => text.includes(body))
  return shown.rendered.nodes.some((node) => node.path === path && node.visibility === 'full')
}
