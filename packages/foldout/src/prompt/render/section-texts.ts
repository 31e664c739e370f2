import type { SectionText } from '../../find/section-text.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { Frame } from './frame.ts'
import type { Slot } from '../definition/registry.ts'
import type { Renderer } from './renderer.ts'

/** A view of sections. */
interface View {
  readonly renderer: Renderer
  /** Returns a frame with every enabled section open. */
  allOpen(): Frame
}

const known = new WeakMap<object, readonly SectionText[]>()

/**
 * Lists what the sections of a prompt say, without the bound values, so all conversations with the prompt share one
 * list. What a custom renderer returns is listed as the first view shows it.
 */
export function listSectionTexts(view: View): readonly SectionText[] {
  const { registry, overrides } = view.renderer.options
  const key = overrides ?? registry
  const listed = known.get(key) ?? Object.freeze(registry.slots.map((slot) => new SlotText(slot, view)))
  known.set(key, listed)
  return listed
}

/** Its texts are read on first use, because a custom renderer may be slow, or fail for this view. */
class SlotText implements SectionText {
  readonly path: string
  readonly title: string
  readonly #slot: Slot
  readonly #view: View
  #body: string | undefined

  constructor(slot: Slot, view: View) {
    this.path = slot.path
    this.title = slot.section.title
    this.#slot = slot
    this.#view = view
  }

  get summary(): string | undefined {
    return this.#view.renderer.writer.describeSummary(this.#slot)?.literals.join(' ')
  }

  get body(): string {
    return (this.#body ??= this.#read())
  }

  get tools(): readonly AnyTool[] {
    return this.#view.renderer.writer.getTools(this.#slot)
  }

  #read(): string {
    const body = this.#view.renderer.writer.getBody(this.#slot)
    if (typeof body !== 'function') return body.literals.join(' ')
    try {
      const node = this.#view.allOpen().node(this.#slot.index)
      return node?.text.slice(this.#slot.heading.length) ?? ''
    } catch {
      // What cannot be shown now is found by its title and its summary.
      return ''
    }
  }
}
