import { tokenCount, type TokenCount } from '../core/tokens.ts'
import { toolTokens, type AnyTool, type PromptView } from '../tools/tool.ts'
import type { BudgetTrace } from './budget.ts'
import type { PromptDescriptor } from './descriptor.ts'
import type { Frame } from './frame.ts'
import type { RenderedNode } from './node.ts'
import type { OutputSpec } from './output.ts'
import type { IgnoredOverride } from './overrides.ts'
import type { SectionsView } from './rendering.ts'

/** A visibility asked for a section that does not exist. */
export interface IgnoredVisibility {
  readonly type: 'visibility-ignored'
  readonly path: string
  readonly by: 'session' | 'render'
  readonly message: string
}

/** Something a render did not do as asked, or did unasked, and why. */
export type TraceEntry = IgnoredVisibility | IgnoredOverride | BudgetTrace

/** A prompt as a model is to see it. Immutable; what is costly is worked out when first asked for. */
export interface RenderedPrompt<Keys extends string = string, Output = unknown> extends PromptView {
  readonly text: string
  /** The open sections' tools in walking order, then the strategy's if anything is folded. */
  readonly tools: readonly AnyTool[]
  /** Every section shown, in walking order. */
  readonly nodes: readonly RenderedNode[]
  /** Paths of the sections shown as summaries. */
  readonly summarized: readonly Keys[]
  /** What the answer must look like, if the prompt says so. */
  readonly output: OutputSpec<Output> | undefined
  readonly descriptor: PromptDescriptor
  /** When the run must be finished, as given to `render`. */
  readonly deadline: Date | undefined
  /** What this render costs. */
  readonly tokens: TokenCount
  /** What it would cost with every section open. */
  readonly tokensIfAllOpen: TokenCount
  readonly trace: readonly TraceEntry[]
}

export interface RenderedParts {
  readonly view: SectionsView
  readonly output: OutputSpec<unknown> | undefined
  readonly descriptor: () => PromptDescriptor
  readonly deadline: Date | undefined
}

export function renderedPrompt(parts: RenderedParts): RenderedPrompt {
  const { view } = parts
  const { counter, overrides } = view.renderer.options
  const shown = once(() => {
    const nodes = view.frame.nodes.filter((node) => node !== undefined)
    for (const node of nodes) Object.freeze(node)
    return Object.freeze(nodes)
  })
  const measure = (frame: Frame, tools: readonly AnyTool[]): TokenCount =>
    tokenCount(
      counter,
      counter.count(frame.text()),
      tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0),
    )
  const tokens = once(() => measure(view.frame, view.tools))
  const tokensIfAllOpen = once(() => {
    const open = view.allOpen()
    return measure(
      open,
      open.nodes.flatMap((node) => node?.tools ?? []),
    )
  })
  const summarized = once(() => Object.freeze(view.folded.map(({ path }) => path)))
  const trace = once(() => {
    const ignored = view.ignored().map(({ path, by }): IgnoredVisibility => ({
      type: 'visibility-ignored',
      path,
      by,
      message: `There is no section '${path}' whose visibility the ${by === 'session' ? 'session' : 'caller of render()'} could set.`,
    }))
    return Object.freeze([...ignored, ...(overrides?.ignored ?? []), ...view.budgetTrace])
  })
  return Object.freeze({
    get text() {
      return view.frame.text()
    },
    get tools() {
      return view.tools
    },
    get nodes() {
      return shown()
    },
    get summarized() {
      return summarized()
    },
    get descriptor() {
      return parts.descriptor()
    },
    get tokens() {
      return tokens()
    },
    get tokensIfAllOpen() {
      return tokensIfAllOpen()
    },
    get trace() {
      return trace()
    },
    output: parts.output,
    deadline: parts.deadline,
  })
}

/** Works a value out when first asked and keeps it. */
export function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => (known ??= { value: compute() }).value
}
