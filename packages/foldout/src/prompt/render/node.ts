import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { Visibility } from '../../session/visibility.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { Slot } from '../definition/registry.ts'

const NO_TOOLS: readonly AnyTool[] = Object.freeze([])

/**
 * A section as one render shows it. Renders that show it the same way share the node.
 *
 * @example
 * ```ts
 * const isFolded = ({ visibility }: RenderedNode): boolean => visibility === 'summary'
 * bound.render().nodes.filter(isFolded).map(({ path }) => path) // => [ 'refunds', 'guide' ]
 * ```
 */
export class RenderedNode {
  readonly path: string
  readonly depth: number
  readonly number: string
  readonly visibility: Visibility
  /** Heading and body, or heading, summary and suffix. */
  readonly text: string
  /** The tools that the section offers; empty while it is folded. */
  readonly tools: readonly AnyTool[]
  readonly #slot: Slot
  readonly #counter: TokenCounter

  constructor(slot: Slot, visibility: Visibility, text: string, tools: readonly AnyTool[], counter: TokenCounter) {
    this.path = slot.path
    this.depth = slot.depth
    this.number = slot.number
    this.visibility = visibility
    this.text = text
    if (visibility === 'full') this.tools = tools
    else this.tools = NO_TOOLS
    this.#slot = slot
    this.#counter = counter
    Object.freeze(this)
  }

  /** The token count of the text, computed on first use. */
  get tokens(): number {
    return this.#counter.count(this.text)
  }

  /** The text with an unnumbered heading of a given depth, for showing the section on its own. */
  standalone(depth: number): string {
    const { heading, section } = this.#slot
    return `${'#'.repeat(Math.min(depth + 1, 6))} ${section.title}${this.text.slice(heading.length)}`
  }
}

/** A folded section in a shortened table of contents. It may be empty, if another section's line names it. */
export class ListedNode extends RenderedNode {
  constructor(slot: Slot, text: string, counter: TokenCounter) {
    super(slot, 'summary', text, NO_TOOLS, counter)
  }

  override standalone(depth: number): string {
    // Only headings are numbered.
    if (this.text.startsWith('#')) return super.standalone(depth)
    return this.text
  }
}

/** Lists the tools of nodes in document order, without duplicates. */
export function collectTools(nodes: readonly RenderedNode[]): AnyTool[] {
  return [...new Set(nodes.flatMap((node) => node.tools))]
}
