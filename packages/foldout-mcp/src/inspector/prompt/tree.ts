import { sum } from 'foldout-shared/numbers'
import type { RenderedNode } from 'foldout/prompt'
import type { PromptCosts, SectionCost } from 'foldout/telemetry'
import type { SectionRow } from '../protocol/protocol.ts'

/** A section with the sections in it, and what it costs. */
export interface Branch {
  readonly path: string
  readonly number: string
  readonly title: string
  readonly depth: number
  readonly cost: SectionCost
  /** As it is shown now; undefined while a section around it is folded. */
  readonly node: RenderedNode | undefined
  /** How it is shown as soon as the sections around it are open. */
  readonly visibility: 'full' | 'summary'
  readonly children: readonly Branch[]
}

export interface TreeParts {
  readonly nodes: readonly RenderedNode[]
  /** The nodes of a render with everything open. */
  readonly everything: readonly RenderedNode[]
  readonly costs: PromptCosts
  readonly asked: Readonly<Record<string, 'full' | 'summary'>>
}

export function createTree({ nodes, everything, costs, asked }: TreeParts): readonly Branch[] {
  const shown = new Map(nodes.map((node) => [node.path, node]))
  const costByPath = new Map(costs.sections.map((section) => [section.path, section]))
  const roots: Branch[] = []
  const stack: (Branch & { readonly children: Branch[] })[] = []
  for (const { path, number, depth, standalone } of everything.map(readNode)) {
    const cost = costByPath.get(path)
    if (!cost) continue
    const node = shown.get(path)
    const branch = {
      path,
      number,
      title: standalone,
      depth,
      cost,
      node,
      visibility: node?.visibility ?? asked[path] ?? cost.visibility,
      children: [],
    }
    stack.length = Math.min(stack.length, depth)
    const siblings = stack.at(-1)?.children ?? roots
    siblings.push(branch)
    stack.push(branch)
  }
  return roots
}

function readNode(node: RenderedNode): Pick<RenderedNode, 'path' | 'number' | 'depth'> & { standalone: string } {
  const { path, number, depth } = node
  // From `# Title` on.
  const [heading = path] = node.standalone(0).split('\n', 1)
  return { path, number, depth, standalone: heading.replace(/^#+ /, '') }
}

/** Every section in the order of the prompt, with what it costs now, open and folded. */
export function toRows(tree: readonly Branch[]): readonly SectionRow[] {
  const rows: SectionRow[] = []
  const add = (branch: Branch): void => {
    const { path, number, title, depth, cost, node } = branch
    rows.push({
      path,
      number,
      title,
      depth,
      state: getState(node),
      canFold: cost.summaryTokens !== null,
      own: node?.tokens ?? 0,
      subtree: countNow(branch),
      ifOpen: countOpen(branch),
      ifFolded: cost.summaryTokens ?? undefined,
      tools: cost.tools.map(({ name }) => name),
    })
    for (const child of branch.children) add(child)
  }
  for (const branch of tree) add(branch)
  return rows
}

function getState(node: RenderedNode | undefined): SectionRow['state'] {
  if (!node) return 'hidden'
  if (node.visibility === 'full') return 'open'
  return 'folded'
}

const countTools = ({ tools }: SectionCost): number => sum(tools.map(({ tokens }) => tokens))

function countNow({ node, cost, children }: Branch): number {
  if (!node) return 0
  if (node.visibility === 'summary') return node.tokens
  return node.tokens + countTools(cost) + sum(children.map(countNow))
}

/** What a section would take if it were open, with the sections in it as they are then. */
function countOpen({ cost, children }: Branch): number {
  const inside = children.map((child) =>
    child.visibility === 'summary' ? (child.cost.summaryTokens ?? 0) : countOpen(child),
  )
  return cost.fullTokens + countTools(cost) + sum(inside)
}
