import type { TokenCounter } from '../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { PromptOverrides } from '../prompt/overrides/overrides.ts'
import { getCounter, getRegistry, type BoundPrompt, type RenderOptions } from '../prompt/prompt.ts'
import type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
import type { SessionReader } from '../session/session.ts'
import { visibility, type Visibility } from '../session/visibility.ts'
import { toolTokens } from '../tools/definition.ts'
import type { AnyTool } from '../tools/tool.ts'

/**
 * The tokens of a tool's definition.
 *
 * @example
 * ```ts
 * const total = (tools: readonly ToolCost[]): number => tools.reduce((sum, { tokens }) => sum + tokens, 0)
 * ```
 */
export interface ToolCost {
  readonly name: string
  readonly tokens: number
}

/**
 * The cost of a section when it is open and when it is folded, without the sections inside it.
 *
 * @example
 * ```ts
 * const savedByFolding = ({ fullTokens, summaryTokens }: SectionCost): number => fullTokens - (summaryTokens ?? 0)
 * ```
 */
export interface SectionCost {
  readonly path: string
  /** How it is shown by default once the sections around it are open. */
  readonly visibility: Visibility
  readonly fullTokens: number
  /** The cost of its summary; null if it has none. */
  readonly summaryTokens: number | null
  /** Its own tools. */
  readonly tools: readonly ToolCost[]
}

export interface CostOptions {
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** The session that selectors read; the sections opened in it are ignored. */
  readonly session?: SessionReader | undefined
  readonly disclosure?: DisclosureStrategy | undefined
  readonly overrides?: PromptOverrides | undefined
  readonly counter: TokenCounter
}

const NO_BUDGET = { tokens: Number.MAX_SAFE_INTEGER }

/** Renders a prompt with the given visibilities, ignoring the session's openings and any budget. */
export function renderAsked(options: CostOptions, asked: Readonly<Record<string, Visibility>>): RenderedPrompt {
  const { prompt: bound, session, disclosure, overrides, counter } = options
  const given: RenderOptions = {
    counter,
    budget: NO_BUDGET,
    visibility: asked,
    ...(session && { session: withoutOpenings(session) }),
    ...(disclosure && { disclosure }),
    ...(overrides && { overrides }),
  }
  return bound.render(given)
}

function withoutOpenings(session: SessionReader): SessionReader {
  return {
    has: (slice) => session.has(slice),
    get: (slice) => {
      if ((slice as unknown) === visibility) return slice.initial
      return session.get(slice)
    },
  }
}

export const toolCosts = (tools: readonly AnyTool[], counter: TokenCounter): ToolCost[] =>
  tools.map((tool) => ({ name: tool.name, tokens: toolTokens(tool, counter) }))

/**
 * The costs of the parts of a prompt.
 *
 * @example
 * ```ts
 * const { sections }: PromptCosts = measurePrompt(bound)
 * const largest = sections.toSorted((one, other) => other.fullTokens - one.fullTokens)[0]
 * ```
 */
export interface PromptCosts {
  /** Every enabled section, in the order of the prompt. */
  readonly sections: readonly SectionCost[]
  /** The tools that open sections. */
  readonly disclosureTools: readonly ToolCost[]
}

/**
 * Options of {@link measurePrompt}.
 *
 * @example
 * ```ts
 * const options: MeasureOptions = { disclosure: openSections(), counter: await gptTokenizer() }
 * ```
 */
export interface MeasureOptions {
  /** The session that selectors read; the sections opened in it are ignored. */
  readonly session?: SessionReader
  /** The strategy that opens sections. Default: the prompt's own. */
  readonly disclosure?: DisclosureStrategy
  readonly overrides?: PromptOverrides
  /** The token counter. Default: the prompt's own. */
  readonly counter?: TokenCounter
}

/**
 * Measures the cost of every section of a prompt, open and folded, without a run.
 *
 * @example
 * ```ts
 * for (const { path, fullTokens, summaryTokens } of measurePrompt(bound).sections) {
 *   if (summaryTokens !== null && summaryTokens >= fullTokens) console.log(`${path} costs more folded than open.`)
 * }
 * ```
 */
export function measurePrompt(
  prompt: Pick<BoundPrompt, 'prompt' | 'render'>,
  options: MeasureOptions = {},
): PromptCosts {
  return promptCosts({ counter: getCounter(prompt.prompt), ...options, prompt })
}

/** Computes the cost of every enabled section, in the order of the prompt, and of the tools that open sections. */
export function promptCosts(options: CostOptions): PromptCosts {
  const { prompt: bound, overrides, counter } = options
  const { slots } = getRegistry(bound.prompt)
  const fullUpTo = (depth: number): Record<string, Visibility> =>
    Object.fromEntries(slots.filter((slot) => slot.depth < depth).map(({ path }) => [path, 'full']))
  const canFold = new Set(
    slots
      .filter(({ path, section }) => section.summary || overrides?.sections?.[path]?.summary !== undefined)
      .map(({ path }) => path),
  )
  const open = renderAsked(options, fullUpTo(Number.POSITIVE_INFINITY)).nodes
  const byDefault = new Map<string, Visibility>()
  const summaries = new Map<string, number>()
  const disclosureTools = new Map<string, ToolCost>()
  const own = new Set(open.flatMap((node) => node.tools.map(({ name }) => name)))
  // One render per depth: the sections above are open; otherwise, the sections of this depth would not be shown.
  for (let depth = 0; open.some((node) => node.depth === depth); depth++) {
    const above = fullUpTo(depth)
    for (const node of renderAsked(options, above).nodes)
      if (node.depth === depth) byDefault.set(node.path, node.visibility)
    const folding = slots.filter((slot) => slot.depth === depth && canFold.has(slot.path))
    const folded = renderAsked(options, {
      ...above,
      ...Object.fromEntries(folding.map(({ path }): [string, Visibility] => [path, 'summary'])),
    })
    for (const node of folded.nodes) if (node.visibility === 'summary') summaries.set(node.path, node.tokens)
    for (const cost of toolCosts(folded.tools, counter)) if (!own.has(cost.name)) disclosureTools.set(cost.name, cost)
  }
  return {
    sections: open.map((node) => ({
      path: node.path,
      visibility: byDefault.get(node.path) ?? node.visibility,
      fullTokens: node.tokens,
      summaryTokens: canFold.has(node.path) ? (summaries.get(node.path) ?? null) : null,
      tools: toolCosts(node.tools, counter),
    })),
    disclosureTools: [...disclosureTools.values()],
  }
}
