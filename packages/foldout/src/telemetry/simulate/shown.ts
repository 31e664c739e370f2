import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'

/** The texts that a model has before it: the system text and the results of tools. */
export type ShownTexts = readonly string[]

/** What each section says when it is open, without its heading, by path. */
export function sectionBodies(inFull: RenderedPrompt): ReadonlyMap<string, string> {
  return new Map(
    inFull.nodes.map((node) => {
      const text = node.standalone(0)
      const headingEnd = text.indexOf('\n')
      return [node.path, headingEnd === -1 ? '' : text.slice(headingEnd).trim()]
    }),
  )
}

/** Whether a model has a section's body before it, wherever it was put; one without a body is shown while it is open. */
export function isSectionShown(
  path: string,
  body: string | undefined,
  shown: { readonly texts: ShownTexts; readonly rendered: RenderedPrompt },
): boolean {
  if (body) return shown.texts.some((text) => text.includes(body))
  return shown.rendered.nodes.some((node) => node.path === path && node.visibility === 'full')
}
