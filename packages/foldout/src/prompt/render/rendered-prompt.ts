import { tokenCount, type TokenCount } from '../../core/tokens/tokens.ts'
import type { DisclosureStrategy, DisclosureView } from '../../disclosure/strategy.ts'
import { toolTokens } from '../../tools/definition.ts'
import type { AnyTool, PromptView } from '../../tools/tool.ts'
import type { AutoTrace } from './auto-fold.ts'
import type { BudgetTrace } from './budget.ts'
import type { PromptDescriptor } from '../overrides/descriptor.ts'
import type { Frame } from './frame.ts'
import { collectTools, type RenderedNode } from './node.ts'
import type { OutputSpec } from '../definition/output.ts'
import { FOLDED, OPEN } from '../definition/registry.ts'
import type { IgnoredOverride } from '../overrides/overrides.ts'
import { findIgnored, type SectionsView } from './sections-view.ts'

/**
 * A requested visibility for a section that does not exist.
 *
 * @example
 * ```ts
 * const session = createSession({ slices: [visibility.seed({ gone: 'full' })] })
 * const [entry] = bound.render({ session }).trace
 * const ignored = entry as IgnoredVisibility
 * ignored.path // => 'gone'
 * ```
 */
export interface IgnoredVisibility {
  readonly type: 'visibility-ignored'
  readonly path: string
  readonly by: 'session' | 'render'
  readonly message: string
}

/**
 * A record of something that a render ignored or folded, with the reason.
 *
 * @example
 * ```ts
 * const isFolded = ({ type }: TraceEntry): boolean => type === 'budget-folded'
 * bound.render({ budget: { tokens: 4_000 } }).trace.some(isFolded) // => false
 * ```
 */
export type TraceEntry = IgnoredVisibility | IgnoredOverride | AutoTrace | BudgetTrace

/**
 * A prompt as the model sees it. Immutable; costly parts are computed on first use.
 *
 * @example
 * ```ts
 * const rendered: RenderedPrompt = bound.render()
 * rendered.summarized // => [ 'refunds', 'guide' ]
 * rendered.tools.map(({ name }) => name) // => [ 'look', 'read_section' ]
 * rendered.tokens.total < rendered.tokensIfAllOpen.total // => true
 * ```
 */
export interface RenderedPrompt<
  Keys extends string = string,
  Output = unknown,
  Spec = OutputSpec<Output> | undefined,
> extends PromptView {
  readonly text: string
  /** The tools of the open sections in document order, then the strategy's tools if anything is folded. */
  readonly tools: readonly AnyTool[]
  /** Every visible section, in document order. */
  readonly nodes: readonly RenderedNode[]
  /** The paths of the folded sections. */
  readonly summarized: readonly Keys[]
  /** The strategy that tells the model how to open folded sections. */
  readonly disclosure: DisclosureStrategy
  /** The render as a strategy sees it. */
  readonly view: DisclosureView
  /** Tools that are not offered yet, each with the path of the folded section that adds it when opened. */
  readonly toolsInFolds: ReadonlyMap<string, string>
  /** Finds a tool that an open section offers on demand, whether or not it was opened. */
  findToolOnDemand(name: string): AnyTool | undefined
  /** The form of the answer and how to parse it; present if the prompt has an `output`. */
  readonly output: Spec
  readonly descriptor: PromptDescriptor
  /** The deadline of the run, as passed to `render`. */
  readonly deadline: Date | undefined
  /** The token count of this render. */
  readonly tokens: TokenCount
  /** The token count if every section were open. */
  readonly tokensIfAllOpen: TokenCount
  readonly trace: readonly TraceEntry[]
}

export interface RenderedParts {
  readonly view: SectionsView
  readonly output: OutputSpec<unknown> | undefined
  readonly descriptor: () => PromptDescriptor
  readonly deadline: Date | undefined
}

export function createRenderedPrompt(parts: RenderedParts): RenderedPrompt {
  return Object.freeze(new LazyRenderedPrompt(parts))
}

/**
 * This is a class because each object literal with getters gets its own hidden class, which keeps everything its
 * getters refer to alive long after the render is used.
 */
class LazyRenderedPrompt implements RenderedPrompt {
  readonly output: OutputSpec<unknown> | undefined
  readonly deadline: Date | undefined
  readonly #view: SectionsView
  readonly #descriptor: () => PromptDescriptor
  #nodes: readonly RenderedNode[] | undefined
  #summarized: readonly string[] | undefined
  #toolsInFolds: ReadonlyMap<string, string> | undefined
  #tokens: TokenCount | undefined
  #tokensIfAllOpen: TokenCount | undefined
  #trace: readonly TraceEntry[] | undefined

  static getView(rendered: RenderedPrompt): SectionsView | undefined {
    if (#view in rendered) return rendered.#view
    return undefined
  }

  constructor(parts: RenderedParts) {
    this.output = parts.output
    this.deadline = parts.deadline
    this.#view = parts.view
    this.#descriptor = parts.descriptor
  }

  get text(): string {
    return this.#view.finalFrame.text()
  }

  get tools(): readonly AnyTool[] {
    return this.#view.tools
  }

  get nodes(): readonly RenderedNode[] {
    return (this.#nodes ??= Object.freeze(this.#view.finalFrame.nodes()))
  }

  get summarized(): readonly string[] {
    return (this.#summarized ??= Object.freeze(this.#view.sections.list(FOLDED)))
  }

  get disclosure(): DisclosureStrategy {
    return this.#view.renderer.options.strategy
  }

  get view(): DisclosureView {
    return this.#view
  }

  get toolsInFolds(): ReadonlyMap<string, string> {
    return (this.#toolsInFolds ??= this.#view.offered.mapFolded(this.#view))
  }

  findSection(tool: string): string | undefined {
    return this.#view.offered.findSection(tool)
  }

  findToolOnDemand(name: string): AnyTool | undefined {
    return this.#view.offered.findOnDemand(name)
  }

  get descriptor(): PromptDescriptor {
    return this.#descriptor()
  }

  get tokens(): TokenCount {
    return (this.#tokens ??= this.#measure(this.#view.finalFrame, this.#view.tools))
  }

  get tokensIfAllOpen(): TokenCount {
    if (this.#tokensIfAllOpen) return this.#tokensIfAllOpen
    const { renderer, frame } = this.#view
    const open = renderer.frameAllOpen(frame.context)
    return (this.#tokensIfAllOpen = this.#measure(open, collectTools(open.nodes())))
  }

  get trace(): readonly TraceEntry[] {
    if (this.#trace) return this.#trace
    const view = this.#view
    const overridden = view.renderer.options.overrides?.ignored ?? []
    return (this.#trace = Object.freeze([
      ...findIgnored(view).map(describeIgnored),
      ...overridden,
      ...view.parts.autoTrace,
      ...view.parts.budgetTrace,
    ]))
  }

  #measure(frame: Frame, tools: readonly AnyTool[]): TokenCount {
    const { counter } = this.#view.renderer.options
    const ofTools = tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
    return tokenCount(counter, counter.count(frame.text()), ofTools)
  }
}

function describeIgnored({
  path,
  by,
}: {
  readonly path: string
  readonly by: 'session' | 'render'
}): IgnoredVisibility {
  const who = by === 'session' ? 'session' : 'caller of render()'
  const message = `The ${who} set the visibility of section '${path}', which does not exist.`
  return { type: 'visibility-ignored', path, by, message }
}

/** Returns the view behind a render. A `RenderedPrompt` from elsewhere has none. */
export function getView(rendered: RenderedPrompt): SectionsView | undefined {
  return LazyRenderedPrompt.getView(rendered)
}

/** Lists the open sections, without building their texts. */
export function listOpenPaths(rendered: RenderedPrompt): readonly string[] {
  const view = getView(rendered)
  if (view) return view.sections.list(OPEN)
  return rendered.nodes.filter((node) => node.visibility === 'full').map(({ path }) => path)
}

/** Computes a value on first use and keeps it. */
export function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => (known ??= { value: compute() }).value
}
