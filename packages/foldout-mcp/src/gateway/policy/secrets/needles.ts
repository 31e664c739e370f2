/** A part of a text, from a character up to another. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The shortest text that can be looked for. */
const START = 8
/** The characters at a position that decide whether to look closer. */
const WINDOW = 4
const FEWEST_SLOTS = 4_096
/** The more slots there are for each text, the fewer positions are looked at for nothing. */
const SLOTS_EACH = 8

/**
 * Finds any of many texts in another text. It reads that text once, however many there are to look for: clients can make a gateway
 * know thousands of secrets.
 */
export class Needles {
  /** How often each text was added. */
  readonly #added = new Map<string, number>()
  /** The texts by their first characters. */
  readonly #byStart = new Map<string, Set<string>>()
  /** How many texts begin with characters that have this hash. */
  #slots = new Uint32Array(FEWEST_SLOTS)

  get size(): number {
    return this.#added.size
  }

  /** Texts that are too short are ignored. */
  add(needle: string): void {
    if (needle.length < START) return
    const times = this.#added.get(needle) ?? 0
    this.#added.set(needle, times + 1)
    if (times > 0) return
    const start = needle.slice(0, START)
    const known = this.#byStart.get(start)
    if (known) known.add(needle)
    else this.#byStart.set(start, new Set([needle]))
    if (this.#added.size * SLOTS_EACH > this.#slots.length) this.#grow()
    else this.#count(needle, 1)
  }

  /** Takes back one addition. */
  remove(needle: string): void {
    const times = this.#added.get(needle) ?? 0
    if (times > 1) this.#added.set(needle, times - 1)
    if (times !== 1) return
    this.#added.delete(needle)
    const start = needle.slice(0, START)
    const known = this.#byStart.get(start)
    known?.delete(needle)
    if (known?.size === 0) this.#byStart.delete(start)
    this.#count(needle, -1)
  }

  isIn(text: string): boolean {
    return this.#search(text, () => true)
  }

  /** The parts of a text that consist of what is looked for, in order. Parts that touch are one. */
  find(text: string): readonly Range[] {
    const found: Range[] = []
    this.#search(text, (start, length) => {
      const last = found.at(-1)
      if (!last || start > last.end) found.push({ start, end: start + length })
      else if (start + length > last.end) found[found.length - 1] = { start: last.start, end: start + length }
      return false
    })
    return found
  }

  /** Calls back with each occurrence until it returns true. Returns whether it did. */
  #search(text: string, onFound: (start: number, length: number) => boolean): boolean {
    if (this.#added.size === 0) return false
    const slots = this.#slots
    const mask = slots.length - 1
    let window = 0
    for (let i = 0; i < text.length; i++) {
      window = (window << 8) | (text.charCodeAt(i) & 0xff)
      if (i < WINDOW - 1 || slots[toSlot(window, mask)] === 0) continue
      const start = i - WINDOW + 1
      for (const needle of this.#byStart.get(text.slice(start, start + START)) ?? NONE)
        if (text.startsWith(needle, start) && onFound(start, needle.length)) return true
    }
    return false
  }

  #count(needle: string, change: number): void {
    let window = 0
    for (let i = 0; i < WINDOW; i++) window = (window << 8) | (needle.charCodeAt(i) & 0xff)
    const slot = toSlot(window, this.#slots.length - 1)
    this.#slots[slot] = (this.#slots[slot] ?? 0) + change
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 4)
    for (const needle of this.#added.keys()) this.#count(needle, 1)
  }
}

const NONE: readonly string[] = []

function toSlot(window: number, mask: number): number {
  return (Math.imul(window, 0x9e3779b1) >>> 8) & mask
}
