import type { SectionText } from '../find/section-text.ts'
import type { SessionReader } from '../session/session.ts'
import type { ToolResult } from '../tools/result.ts'
import type { AnyTool, ToolContext, ToolGroup } from '../tools/tool.ts'
import { ASK_SECTION, askSectionTool } from './ask-tool.ts'

/**
 * A section that a render shows as its summary.
 *
 * @example
 * ```ts
 * const [first] = bound.render().view.folded
 * const format = ({ path, hasTools }: FoldedSection): string => `${path}${hasTools ? ', with tools' : ''}`
 * first && format(first) // => 'refunds, with tools'
 * ```
 */
export interface FoldedSection {
  readonly path: string
  /** Keys of its direct, enabled children. */
  readonly childKeys: readonly string[]
  /** Whether it or any enabled section in it has tools. */
  readonly hasTools: boolean
}

/**
 * A rendered prompt as a strategy sees it.
 *
 * @example
 * ```ts
 * const view: DisclosureView = bound.render().view
 * view.folded.map(({ path }) => path) // => [ 'refunds', 'guide' ]
 * view.opened(['guide']).content('guide').includes('one sentence') // => true
 * ```
 */
export interface DisclosureView {
  /** The folded sections that can be opened. */
  readonly folded: readonly FoldedSection[]
  /** The tools offered, the strategy's own included. */
  readonly tools: readonly AnyTool[]
  /** The paths of all enabled sections, open or folded. */
  readonly keys: readonly string[]
  /** What every section says, enabled or not. All renders of a prompt share the list. */
  readonly texts: readonly SectionText[]
  /**
   * `'full'` if the section is shown in full, `'folded'` if it or a section around it is folded, `undefined` if it does
   * not exist or is disabled.
   */
  state(path: string): 'full' | 'folded' | undefined
  hasTools(path: string): boolean
  /**
   * Returns the text of a section by itself, as far as it is open: it starts at `# Title` and has no numbers. With
   * `within`, it leaves out folded sections that are not at or below one of these paths.
   */
  content(path: string, within?: readonly string[]): string
  /**
   * Finds a section by its path, number, title or heading, and returns its path; `undefined` if no section or several
   * sections match.
   */
  resolve(key: string): string | undefined
  /** Finds all sections that a key may mean, as `resolve` does: several, if they have the same title. */
  resolveAll(key: string): readonly string[]
  /** Finds a tool of any enabled section, open or folded, by its name. */
  findTool(name: string): AnyTool | undefined
  /**
   * Finds what a tool of an enabled section belongs to: its server, or the closest section around it that can be folded. It
   * does not depend on what is open.
   */
  findToolGroup(name: string): ToolGroup | undefined
  /** The tools of the open sections at or below a path. */
  toolsIn(path: string): readonly AnyTool[]
  /**
   * Returns the path of the folded section at or around a path whose questions an agent answers; `undefined` if there is
   * none. Such a section is asked instead of opened.
   */
  findDelegate(path: string): string | undefined
  /** Who answers questions about a section: a model's name, `true` for the run's own, or `false`. */
  getDelegateName(path: string): string | boolean
  /**
   * Reads a file of a section: of an open one by its path as the text names it, `fees.md`, of any one behind its key,
   * `refunds/fees.md`. Returns `undefined` if there is no such file.
   */
  readFile(path: string): Promise<ToolResult | undefined>
  /** Loads what sections show when they are open. Returns whether any had something to load. */
  load(paths: readonly string[], context: Pick<ToolContext, 'session' | 'signal'>): Promise<boolean> | false
  /** Returns this view with some sections opened. */
  opened(paths: readonly string[]): DisclosureView
  /**
   * Returns the view for the current state of a session: a strategy's tool may be called long after the render that
   * offered it.
   */
  at(session: SessionReader): DisclosureView
}

/**
 * A call of a strategy's tool.
 *
 * @example
 * ```ts
 * const calls: readonly OpeningCall[] | undefined = strategy.getCalls?.(view, ['guide'])
 * calls // => [ { name: 'read_section', arguments: { section_key: 'guide' } } ]
 * ```
 */
export interface OpeningCall {
  readonly name: string
  readonly arguments: unknown
}

/**
 * The sections that a call of a strategy's tool asks for, whether or not they exist.
 *
 * @example
 * ```ts
 * const request: OpeningRequest | undefined = strategy.describeCall?.({
 *   name: 'read_section',
 *   arguments: { section_key: 'guide' },
 * })
 * request?.keys // => [ 'guide' ]
 * ```
 */
export interface OpeningRequest {
  /** The keys as the model gave them. */
  readonly keys: readonly string[]
  readonly reason: string
}

/**
 * What a folded section says to the model, and what opening it does. Pass a built-in strategy, or write your own: no
 * other code knows its tools or their arguments.
 *
 * @example
 * ```ts
 * const unfold: DisclosureStrategy = {
 *   name: 'unfold',
 *   toolNames: ['unfold'],
 *   showCost: false,
 *   suffix: ({ path }) => `(Call unfold with "${path}" for more.)`,
 *   tools: (view) => [createUnfoldTool(view)],
 *   getCalls: (_view, keys) => keys.map((key) => ({ name: 'unfold', arguments: { what: key } })),
 *   describeCall: ({ arguments: args }) => ({ keys: [String((args as { what?: unknown }).what)], reason: '' }),
 * }
 * ```
 */
export interface DisclosureStrategy {
  readonly name: string
  /** The names of all tools it may offer. A prompt's own tools cannot use them. */
  readonly toolNames: readonly string[]
  /** Whether each summary also says what opening it costs. */
  readonly showCost: boolean
  /**
   * Says how to open sections of which the model sees a list, headings, names or a count, by their keys or, in a prompt
   * with many sections, by a query. Without it, every folded section shows its summary.
   */
  contentsHint?(isSearchable: boolean): string
  /** The last line of a summary. */
  suffix(section: FoldedSection): string
  /** Throws if the strategy cannot work with a view that has folded sections. */
  check?(view: DisclosureView): void
  /** The tools to offer while sections are folded. */
  tools(view: DisclosureView): readonly AnyTool[]
  /**
   * Returns one of the strategy's tools, even if the view no longer needs it, because a tool that was offered once
   * stays callable. Default: the tool of that name in `tools(view)`.
   */
  findTool?(name: string, view: DisclosureView): AnyTool | undefined
  /**
   * Returns the calls with which a model opens sections. Without it, hints to the model only name the strategy's tools.
   */
  getCalls?(view: DisclosureView, keys: readonly string[]): readonly OpeningCall[]
  /** Reads the keys and the reason from a call. Default: the keys that its result opens. */
  describeCall?(call: OpeningCall): OpeningRequest
}

/**
 * Reads a call with a strategy's `describeCall`. Never throws, although the arguments come from a model and may be
 * anything.
 */
export function readRequest(strategy: DisclosureStrategy, call: OpeningCall): OpeningRequest {
  try {
    const { keys = [], reason = '' } = strategy.describeCall?.(call) ?? {}
    return { keys: keys.filter((key) => typeof key === 'string'), reason: typeof reason === 'string' ? reason : '' }
  } catch {
    return { keys: [], reason: '' }
  }
}

/** Finds a strategy's tool by its name, whether or not a view needs it. */
export function findStrategyTool(
  strategy: DisclosureStrategy,
  name: string,
  view: DisclosureView,
): AnyTool | undefined {
  if (name === ASK_SECTION) return askSectionTool
  if (!strategy.toolNames.includes(name)) return undefined
  return strategy.findTool?.(name, view) ?? strategy.tools(view).find((tool) => tool.name === name)
}

/**
 * The options of every built-in strategy.
 *
 * @example
 * ```ts
 * const options: StrategyOptions = { showCost: true }
 * await runAgent(bound, { adapter, disclosure: readSection(options) })
 * ```
 */
export interface StrategyOptions {
  /** Whether each summary says how many tokens opening the section costs. Default false. */
  readonly showCost?: boolean
}

/**
 * Creates a strategy whose only option is `showCost`. Each setting always returns the same strategy, so caches
 * recognize equal renders.
 */
export function strategyWithCost(
  parts: Omit<DisclosureStrategy, 'showCost'>,
): (options?: StrategyOptions) => DisclosureStrategy {
  const plain = Object.freeze({ ...parts, showCost: false })
  const withCost = Object.freeze({ ...parts, showCost: true })
  return (options = {}) => {
    if (options.showCost) return withCost
    return plain
  }
}
