import type { VisibilityOverrides } from '../session/visibility.ts'
import type { RenderedNode } from './node.ts'
import type { SelectorContext } from './section.ts'

/** By slot: what is shown there, if anything. */
export type Nodes = (RenderedNode | undefined)[]

/** What one render shows, decided. */
export interface Frame {
  readonly nodes: readonly (RenderedNode | undefined)[]
  readonly context: SelectorContext
  readonly asked: VisibilityOverrides
  /** The whole text. */
  text(): string
}

interface Progress {
  readonly earlier: Frame
  /** Slots whose node is another than in the earlier frame. */
  readonly changed: ReadonlySet<number>
}

// Text is joined in blocks, so that after a change only the blocks it touches are joined again.
const BLOCK = 64
const blocksOf = new WeakMap<Frame, (string | undefined)[]>()

export function createFrame(
  nodes: Nodes,
  input: { readonly context: SelectorContext; readonly asked: VisibilityOverrides },
  progress?: Progress,
): Frame {
  const blocks: (string | undefined)[] = progress
    ? [...blocksOf.get(progress.earlier)!]
    : new Array(Math.ceil(nodes.length / BLOCK)).fill(undefined)
  for (const index of progress?.changed ?? []) blocks[Math.floor(index / BLOCK)] = undefined
  let whole: string | undefined
  const frame: Frame = {
    nodes,
    context: input.context,
    asked: input.asked,
    text() {
      if (whole !== undefined) return whole
      for (let i = 0; i < blocks.length; i++) blocks[i] ??= blockText(nodes, i * BLOCK)
      return (whole = joinNodes(blocks))
    },
  }
  blocksOf.set(frame, blocks)
  return frame
}

function blockText(nodes: Nodes, from: number): string {
  const texts: string[] = []
  const to = Math.min(from + BLOCK, nodes.length)
  for (let i = from; i < to; i++) {
    const node = nodes[i]
    if (node !== undefined) texts.push(node.text)
  }
  return texts.join('\n\n')
}

/** Texts with one blank line between them; those that are absent or empty take no room. */
export function joinNodes(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join('\n\n')
}
