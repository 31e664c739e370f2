import type { Asked } from './asked.ts'
import type { RenderedNode } from './node.ts'
import type { SelectorContext } from '../definition/section.ts'
import { ABSENT, FOLDED, type Shown } from '../definition/registry.ts'

export interface FrameParts {
  /** A {@link Shown} for each slot. */
  readonly shown: Uint8Array
  /** Nodes that cannot be rebuilt from the bound values alone, because selectors or custom renderers created them. */
  readonly made: ReadonlyMap<number, RenderedNode>
  readonly context: SelectorContext
  readonly asked: Asked
}

/** Builds the node of a slot from the bound values. */
export interface SlotSource {
  textAt(index: number, shown: Shown): string
  nodeAt(index: number, shown: Shown): RenderedNode
}

// Slots are joined into blocks, and blocks into groups. A change re-joins only the blocks and groups it touches.
const BLOCK = 8
const GROUP = 16
const SEPARATOR = '\n\n'

/** The decisions of one render. Texts and nodes are built on demand. */
export class Frame {
  readonly shown: Uint8Array
  readonly made: ReadonlyMap<number, RenderedNode>
  readonly context: SelectorContext
  readonly asked: Asked
  readonly #source: SlotSource
  readonly #blocks: Texts
  readonly #groups: Texts
  #text: string | undefined

  constructor(parts: FrameParts, source: SlotSource, known?: { readonly blocks: Texts; readonly groups: Texts }) {
    this.shown = parts.shown
    this.made = parts.made
    this.context = parts.context
    this.asked = parts.asked
    this.#source = source
    const blockCount = Math.ceil(parts.shown.length / BLOCK)
    this.#blocks = known?.blocks ?? new Array<undefined>(blockCount).fill(undefined)
    this.#groups = known?.groups ?? new Array<undefined>(Math.ceil(blockCount / GROUP)).fill(undefined)
  }

  /** Creates a frame that differs from this one in some slots. */
  next(parts: FrameParts, changed: readonly number[]): Frame {
    const blocks = this.#blocks.slice()
    const groups = this.#groups.slice()
    for (const index of changed) {
      blocks[Math.floor(index / BLOCK)] = undefined
      groups[Math.floor(index / BLOCK / GROUP)] = undefined
    }
    return new Frame(parts, this.#source, { blocks, groups })
  }

  at(index: number): Shown {
    return this.shown[index] as Shown
  }

  node(index: number): RenderedNode | undefined {
    const shown = this.at(index)
    if (shown === ABSENT) return undefined
    return this.made.get(index) ?? this.#source.nodeAt(index, shown)
  }

  /** Returns the nodes of a range of slots, except absent ones. */
  nodes(from = 0, to = this.shown.length): RenderedNode[] {
    const nodes: RenderedNode[] = []
    for (let index = from; index < to; index++) {
      const node = this.node(index)
      if (node) nodes.push(node)
    }
    return nodes
  }

  get isFolded(): boolean {
    return this.shown.includes(FOLDED)
  }

  /** Returns the whole text. It is built by concatenation, which the engine copies only when the text is read. */
  text(): string {
    if (this.#text !== undefined) return this.#text
    let whole = ''
    for (let i = 0; i < this.#groups.length; i++) {
      whole = append(whole, (this.#groups[i] ??= this.#groupText(i * GROUP)))
    }
    return (this.#text = whole)
  }

  #groupText(from: number): string {
    let text = ''
    const to = Math.min(from + GROUP, this.#blocks.length)
    for (let i = from; i < to; i++) text = append(text, (this.#blocks[i] ??= this.#blockText(i * BLOCK)))
    return text
  }

  #blockText(from: number): string {
    const texts: string[] = []
    const to = Math.min(from + BLOCK, this.shown.length)
    for (let index = from; index < to; index++) {
      const shown = this.at(index)
      if (shown === ABSENT) continue
      const made = this.made.size > 0 ? this.made.get(index) : undefined
      const text = made ? made.text : this.#source.textAt(index, shown)
      if (text !== '') texts.push(text)
    }
    return texts.join(SEPARATOR)
  }
}

type Texts = (string | undefined)[]

function append(text: string, next: string): string {
  if (next === '') return text
  if (text === '') return next
  return `${text}${SEPARATOR}${next}`
}

/** Joins texts with a blank line between them, skipping absent and empty ones. */
export function joinTexts(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join(SEPARATOR)
}
