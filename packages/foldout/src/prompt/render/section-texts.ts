import type { SectionText } from '../../find/section-text.ts'
import { joinWords } from '../../core/text.ts'
import type { DisclosureView } from '../../disclosure/strategy.ts'
import { fail, ok, type ToolResult } from '../../tools/result.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { Frame } from './frame.ts'
import type { Slot } from '../definition/registry.ts'
import type { LoadContext } from '../definition/section.ts'
import type { Renderer } from './renderer.ts'

/** A view of sections. */
interface View {
  readonly renderer: Renderer
  readonly frame: Frame
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
      const node = this.#view.renderer.frameAllOpen(this.#view.frame.context).node(this.#slot.index)
      return node?.text.slice(this.#slot.heading.length) ?? ''
    } catch {
      // What cannot be shown now is found by its title and its summary.
      return ''
    }
  }
}

/** Reads a file of a section: of an open one by its path, of any one by its path behind the section's key. */
export async function readSectionFile(
  slots: readonly Slot[],
  view: Pick<DisclosureView, 'state'>,
  given: string,
): Promise<ToolResult | undefined> {
  const path = given
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
  if (path === '' || path.split('/').includes('..')) return undefined
  const found: { readonly name: string; readonly text: string }[] = []
  for (const slot of slots) {
    const state = view.state(slot.path)
    const start = [`${slot.path}/`, `${slot.section.key}/`].find((each) => path.startsWith(each))
    if (state === undefined || (start === undefined && state === 'folded')) continue
    const name = path.slice(start?.length ?? 0)
    const text = await slot.section.files?.read(name)
    if (text !== undefined) found.push({ name: `${slot.path}/${name}`, text })
  }
  const [first, ...others] = found
  if (!first || others.length === 0) return first && ok(first.text)
  return fail(`Several sections have a file ${path}. Ask for one of ${joinWords(found.map(({ name }) => name))}.`)
}

/** Loads what sections show when they are open; false if there is nothing to load. */
export function loadSections(
  byPath: ReadonlyMap<string, Slot>,
  paths: readonly string[],
  context: LoadContext,
): Promise<boolean> | false {
  const loads = [...new Set(paths)].flatMap((path) => byPath.get(path)?.section.load ?? [])
  return loads.length > 0 && Promise.all(loads.map((load) => load(context))).then(() => true)
}
