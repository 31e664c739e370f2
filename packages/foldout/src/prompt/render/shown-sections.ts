import { deferPattern } from '../../core/defer-pattern.ts'
import type { FoldedSection } from '../../disclosure/strategy.ts'
import { ABSENT, FOLDED, getSlot, OPEN, type Registry, type Shown, type Slot } from '../definition/registry.ts'
import type { Frame } from './frame.ts'
import type { Renderer } from './renderer.ts'

/** Which sections a view shows, and how: each is open, folded, inside a fold, or disabled. */
export class ShownSections {
  readonly #renderer: Renderer
  readonly #frame: Frame

  constructor(renderer: Renderer, frame: Frame) {
    this.#renderer = renderer
    this.#frame = frame
  }

  get #registry(): Registry {
    return this.#renderer.options.registry
  }

  /** The paths of the sections that are shown in a way. */
  list(shown: Shown): readonly string[] {
    return this.#listSlots(shown).map(({ path }) => path)
  }

  /** The paths of all enabled sections. */
  listEnabled(): readonly string[] {
    const { slots } = this.#registry
    const paths: string[] = []
    for (let index = 0; index < slots.length;) {
      const slot = getSlot(slots, index)
      const isEnabled = this.#renderer.writer.isEnabled(slot, this.#frame.context)
      if (isEnabled) paths.push(slot.path)
      if (isEnabled) index = index + 1
      else index = slot.end
    }
    return paths
  }

  /** The folded sections that can be opened. */
  describeFolded(): readonly FoldedSection[] {
    const { writer } = this.#renderer
    return this.#listSlots(FOLDED)
      .filter((slot) => !writer.isAsked(slot))
      .map((slot) => writer.describeFolded(slot, this.#frame.context))
  }

  /** Whether a section is folded that can be opened, or has files that can be read. */
  canOpen(): boolean {
    if (this.#registry.withFiles.some(({ index }) => this.#frame.at(index) === OPEN)) return true
    if (!this.#frame.isFolded) return false
    const asked = this.findAsked().length
    return asked === 0 || this.#frame.shown.reduce((sum, shown) => sum + Number(shown === FOLDED), 0) > asked
  }

  /** The folded sections whose questions an agent answers. */
  findAsked(): readonly Slot[] {
    const { delegated } = this.#registry
    if (delegated.length === 0) return delegated
    return delegated.filter((slot) => this.#frame.at(slot.index) === FOLDED && this.#renderer.writer.isAsked(slot))
  }

  getState(path: string): 'full' | 'folded' | undefined {
    const slot = this.#registry.byPath.get(path)
    if (!slot) return undefined
    const shown = this.#frame.at(slot.index)
    if (shown === OPEN) return 'full'
    if (shown === FOLDED || this.#isInFold(slot)) return 'folded'
    return undefined
  }

  /** Finds all sections that a key may mean. */
  resolve(key: string): readonly string[] {
    const path = [key, trimName(key)].find((each) => this.#registry.byPath.has(each))
    if (path !== undefined) return [path]
    return findPathsByName(this.#registry, key).filter((each) => this.getState(each) !== undefined)
  }

  /** Whether a section without a node is enabled and is only hidden by a folded ancestor. */
  #isInFold(slot: Slot): boolean {
    if (!this.#renderer.writer.isEnabled(slot, this.#frame.context) || slot.parent === -1) return false
    const parent = getSlot(this.#registry.slots, slot.parent)
    const shown = this.#frame.at(parent.index)
    if (shown === ABSENT) return this.#isInFold(parent)
    return shown === FOLDED
  }

  #listSlots(shown: Shown): readonly Slot[] {
    return this.#registry.slots.filter(({ index }) => this.#frame.shown[index] === shown)
  }
}

const sectionNames = new WeakMap<Registry, ReadonlyMap<string, readonly string[]>>()

/** Maps the other names a model may use for a section (its number, its title, or both) to its path. */
function getSectionNames(registry: Registry): ReadonlyMap<string, readonly string[]> {
  const known = sectionNames.get(registry)
  if (known) return known
  const names = new Map<string, string[]>()
  for (const { path, number, section } of registry.slots) {
    for (const name of [number, section.title, `${number} ${section.title}`].map(normalizeName)) {
      const paths = names.get(name)
      if (paths) paths.push(path)
      else names.set(name, [path])
    }
  }
  sectionNames.set(registry, names)
  return names
}

/** Finds the sections with this name, ignoring case and what models write around a name. */
function findPathsByName(registry: Registry, name: string): readonly string[] {
  return getSectionNames(registry).get(normalizeName(name)) ?? []
}

const LONGEST_NAME = 1000

// What models write around a name: heading marks, quotes, brackets, the end of a sentence.
const getEdges = deferPattern(String.raw`^[\s#"'\u0060\p{Pi}\p{Pf}<(\[{*]+|[\s"'\u0060\p{Pi}\p{Pf}>)\]}*.:,;]+$`, 'gu')

/** Removes marks and blanks around a name, and composes its letters. */
function trimName(name: string): string {
  return name.slice(0, LONGEST_NAME).normalize('NFC').replace(getEdges(), '')
}

function normalizeName(name: string): string {
  return trimName(name).toLowerCase()
}
