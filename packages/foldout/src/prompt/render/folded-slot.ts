import type { FoldedSection } from '../../disclosure/strategy.ts'
import type { Slot } from './registry.ts'
import type { Renderer } from './renderer.ts'
import type { SelectorContext } from '../section.ts'

/** Asks only when it is asked: an `enabled` below a folded section need not run for strategies that do not care. */
export class FoldedSlot implements FoldedSection {
  readonly path: string
  readonly #renderer: Renderer
  readonly #slot: Slot
  readonly #context: SelectorContext

  constructor(renderer: Renderer, slot: Slot, context: SelectorContext) {
    this.path = slot.path
    this.#renderer = renderer
    this.#slot = slot
    this.#context = context
  }

  get childKeys(): readonly string[] {
    return this.#renderer.enabledChildren(this.#slot, this.#context).map((child) => child.section.key)
  }

  get hasTools(): boolean {
    return this.#renderer.hasTools(this.#slot, this.#context)
  }
}
