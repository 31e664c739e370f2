import type { SessionReader } from '../session/session.ts'
import type { AnyTool } from '../tools/tool.ts'

/** A section that a render shows as its summary. */
export interface FoldedSection {
  readonly path: string
  /** Keys of its direct, enabled children. */
  readonly childKeys: readonly string[]
  /** Whether it or any enabled section in it has tools. */
  readonly hasTools: boolean
}

/** A render as a strategy sees it. */
export interface DisclosureView {
  readonly folded: readonly FoldedSection[]
  /** The tools offered, the strategy's own included. */
  readonly tools: readonly AnyTool[]
  /** Paths of all enabled sections, shown or not. */
  readonly keys: readonly string[]
  /**
   * `'full'` if the section is shown in full, `'folded'` if it is summarised or lies in a section that is, `undefined` if it
   * does not exist or is disabled.
   */
  state(path: string): 'full' | 'folded' | undefined
  hasTools(path: string): boolean
  /** The section and what is shown in it, by itself: from `# Title` on, without numbers. */
  content(path: string): string
  /** This view with some sections opened. */
  opened(paths: readonly string[]): DisclosureView
  /** The same prompt as a session has it now: a strategy's tool may be called long after the render that offered it. */
  at(session: SessionReader): DisclosureView
}

/** How folded sections speak to the model, and what happens when it asks for one. Pass one in, or write your own. */
export interface DisclosureStrategy {
  readonly name: string
  /** Every tool it may offer. No tool of a prompt may have such a name. */
  readonly toolNames: readonly string[]
  /** Whether each summary also says what opening it costs. */
  readonly showCost: boolean
  /** The last line of a summary. */
  suffix(section: FoldedSection): string
  /** The tools for a render that has something folded. */
  tools(view: DisclosureView): readonly AnyTool[]
}

export interface StrategyOptions {
  /** Says below each summary how many tokens opening it costs. Default false. */
  readonly showCost?: boolean
}

/** A strategy whose only option is `showCost`. There is one value for each setting, so that equal renders know each other. */
export function strategyWithCost(
  parts: Omit<DisclosureStrategy, 'showCost'>,
): (options?: StrategyOptions) => DisclosureStrategy {
  const plain = Object.freeze({ ...parts, showCost: false })
  const withCost = Object.freeze({ ...parts, showCost: true })
  return (options = {}) => (options.showCost ? withCost : plain)
}
