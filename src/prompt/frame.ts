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
  /** The text of each block of slots, as far as it is known. */
  blocks(): readonly (string | undefined)[]
}

interface FrameInput {
  readonly context: SelectorContext
  readonly asked: VisibilityOverrides
}

// After a change only the blocks it touches are joined again; the others are taken over.
const BLOCK = 64
const SEPARATOR = '\n\n'

/** A frame by itself: its text is joined at one go, and cut into blocks once another frame goes on from it. */
export function newFrame(nodes: Nodes, input: FrameInput): Frame {
  let whole: string | undefined
  return {
    nodes,
    context: input.context,
    asked: input.asked,
    text: () => (whole ??= textOf(nodes, 0, nodes.length)),
    blocks: () => (whole === undefined ? new Array(blockCount(nodes)).fill(undefined) : cut(whole, nodes)),
  }
}

/** A frame that differs from an earlier one in some slots. */
export function nextFrame(nodes: Nodes, input: FrameInput, earlier: Frame, changed: ReadonlySet<number>): Frame {
  const blocks = [...earlier.blocks()]
  for (const index of changed) blocks[Math.floor(index / BLOCK)] = undefined
  let whole: string | undefined
  return {
    nodes,
    context: input.context,
    asked: input.asked,
    text() {
      if (whole !== undefined) return whole
      for (let i = 0; i < blocks.length; i++) blocks[i] ??= textOf(nodes, i * BLOCK, (i + 1) * BLOCK)
      return (whole = concatenated(blocks as string[]))
    },
    blocks: () => blocks,
  }
}

const blockCount = (nodes: Nodes): number => Math.ceil(nodes.length / BLOCK)

function textOf(nodes: Nodes, from: number, to: number): string {
  const texts: string[] = []
  for (let i = from; i < to && i < nodes.length; i++) {
    const node = nodes[i]
    if (node !== undefined) texts.push(node.text)
  }
  return texts.join(SEPARATOR)
}

/** The blocks of a whole text. Parts of a string share its memory, so this copies nothing. */
function cut(whole: string, nodes: Nodes): string[] {
  const blocks: string[] = []
  let from = 0
  for (let start = 0; start < nodes.length; start += BLOCK) {
    let length = 0
    for (let i = start; i < start + BLOCK && i < nodes.length; i++) {
      const node = nodes[i]
      if (node !== undefined) length += node.text.length + SEPARATOR.length
    }
    blocks.push(length === 0 ? '' : whole.slice(from, from + length - SEPARATOR.length))
    from += length
  }
  return blocks
}

/** Put together and not joined: the engine copies the whole only once somebody reads it. */
function concatenated(texts: readonly string[]): string {
  let whole = ''
  for (const text of texts) {
    if (text !== '') whole = whole === '' ? text : `${whole}${SEPARATOR}${text}`
  }
  return whole
}

/** Texts with one blank line between them; those that are absent or empty take no room. */
export function joinTexts(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join(SEPARATOR)
}
