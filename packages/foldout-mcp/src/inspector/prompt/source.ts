import { toTotals } from '../totals.ts'
import type { BoundPrompt, DisclosureStrategy, RenderedPrompt } from 'foldout'
import type { RenderedNode } from 'foldout/prompt'
import type { PromptCosts } from 'foldout/telemetry'
import { dropUndefined } from 'foldout-shared/values'
import type { InspectorSource } from '../inspector.ts'
import type { PromptRequest, PromptTool, PromptView, StrategyName, TextSpan } from '../protocol/protocol.ts'
import { lintFolds } from './lint.ts'
import { createTree, toRows } from './tree.ts'

/** A prompt, and what the copy of the library that made it knows about it. */
export interface InspectedPrompt {
  readonly bound: BoundPrompt
  createStrategy(name: StrategyName): DisclosureStrategy
  measure(disclosure: DisclosureStrategy | undefined): PromptCosts
}

/** The prompt view: renders a prompt as it would be if a model opened this or that. */
export function createPromptSource(prompt: InspectedPrompt): InspectorSource {
  return { view: 'prompt', handlers: { 'prompt/render': (request) => describePrompt(prompt, request) } }
}

export function describePrompt(prompt: InspectedPrompt, { visibility, strategy }: PromptRequest): PromptView {
  const { bound } = prompt
  const disclosure = strategy === undefined ? undefined : prompt.createStrategy(strategy)
  const options = dropUndefined({ disclosure })
  const costs = prompt.measure(disclosure)
  const asked = Object.fromEntries(
    costs.sections.flatMap(({ path }) => {
      const state = Object.hasOwn(visibility, path) ? visibility[path] : undefined
      if (state === undefined) return []
      return [[path, state === 'open' ? 'full' : 'summary'] as const]
    }),
  )
  const everything = bound.render({ ...options, visibility: openAll(costs) }).nodes
  const rendered = bound.render({ ...options, visibility: asked })
  const { prompt: definition } = bound
  const tree = createTree({ nodes: rendered.nodes, everything, costs, asked })
  const rows = toRows(tree)
  const { counter, exact } = rendered.tokens
  return {
    name: `${definition.ns}/${definition.key}`,
    strategy: rendered.disclosure.name,
    counter: { name: counter, exact },
    tokens: toTotals(rendered.tokens),
    tokensIfAllOpen: toTotals(rendered.tokensIfAllOpen),
    sections: rows,
    tools: describeTools(rendered, costs),
    text: rendered.text,
    spans: findSpans(rendered.text, rendered.nodes),
    findings: lintFolds(rows, costs),
  }
}

function openAll({ sections }: PromptCosts): Readonly<Record<string, 'full'>> {
  return Object.fromEntries(sections.map(({ path }) => [path, 'full']))
}

function describeTools({ tools, nodes }: RenderedPrompt, costs: PromptCosts): readonly PromptTool[] {
  const sections = new Map(nodes.flatMap((node) => node.tools.map((tool) => [tool.name, node.path])))
  const known = [...costs.sections.flatMap((section) => section.tools), ...costs.disclosureTools]
  const tokens = new Map(known.map((tool) => [tool.name, tool.tokens]))
  return tools.map(({ name, description }) => ({
    name,
    description,
    tokens: tokens.get(name) ?? 0,
    section: sections.get(name),
  }))
}

/** Where each section is in the text. They are there in the same order. */
function findSpans(text: string, nodes: readonly RenderedNode[]): readonly TextSpan[] {
  let from = 0
  return nodes.flatMap((node): readonly TextSpan[] => {
    const start = text.indexOf(node.text, from)
    if (start === -1) return []
    from = start + node.text.length
    return [{ path: node.path, state: node.visibility === 'full' ? 'open' : 'folded', start, end: from }]
  })
}
