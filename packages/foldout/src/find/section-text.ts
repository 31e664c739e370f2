import type { AnyTool } from '../tools/tool.ts'

/**
 * What a section says, for searches: its own texts without those of its children, and without the bound values.
 *
 * @example
 * ```ts
 * const format = ({ path, title, tools }: SectionText): string => `${path}: ${title} (${tools.length} tools)`
 * bound.render().view.texts.map(format).includes('guide: Guide (0 tools)') // => true
 * ```
 */
export interface SectionText {
  readonly path: string
  readonly title: string
  readonly summary: string | undefined
  readonly body: string
  readonly tools: readonly AnyTool[]
}
