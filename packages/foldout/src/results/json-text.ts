import { isObject } from 'foldout-shared/values'

/** How deep a value is written. */
const MAX_DEPTH = 100
const CUT = '…'

/** A value as JSON, up to a number of characters. */
export interface JsonText {
  readonly text: string
  /** Whether all of the value is there. */
  readonly isWhole: boolean
}

/** Writes the beginning of a value. `JSON.stringify` would write all of it, and fails on values that are nested deep. */
export function writeJson(value: unknown, most: number): JsonText {
  const writer = new Writer(most)
  writer.write(value, 0)
  return { text: writer.text, isWhole: writer.isWhole }
}

class Writer {
  text = ''
  isWhole = true
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** Returns whether there is room for more. */
  write(value: unknown, depth: number): boolean {
    if (depth > MAX_DEPTH) {
      this.isWhole = false
      return this.#add(CUT)
    }
    if (Array.isArray(value)) return this.#writeAll('[', value, ']', (item) => this.write(item, depth + 1))
    if (!isObject(value)) return this.#addScalar(value)
    return this.#writeAll('{', Object.keys(value), '}', (key) => {
      return this.#addScalar(key) && this.#add(':') && this.write(value[key], depth + 1)
    })
  }

  #writeAll<Item>(open: string, items: readonly Item[], close: string, write: (item: Item) => boolean): boolean {
    if (!this.#add(open)) return false
    for (const [i, item] of items.entries()) if (!((i === 0 || this.#add(',')) && write(item))) return false
    return this.#add(close)
  }

  #addScalar(value: unknown): boolean {
    // A long text is cut before it is written.
    const text = typeof value === 'string' ? value.slice(0, this.#most - this.text.length + 1) : value
    return this.#add(JSON.stringify(text) ?? 'null')
  }

  #add(piece: string): boolean {
    const room = this.#most - this.text.length
    this.text +=
      piece.length > room ? `${piece.slice(0, Math.max(room, 0)).replace(/[\uD800-\uDBFF]$/, '')}${CUT}` : piece
    if (piece.length <= room) return true
    this.isWhole = false
    return false
  }
}

/** Part of the path of a value, as JSONPath writes it. */
export function formatStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  if (/^[A-Za-z_]\w*$/.test(key)) return `.${key}`
  return `[${JSON.stringify(key)}]`
}

const SHOWN_PATH = 400

/** The path of a value, as JSONPath writes it. One that is too long to be shown has a gap. */
export function formatPath(location: readonly (string | number)[]): string {
  const path = `$${location.map(formatStep).join('')}`
  if (path.length <= SHOWN_PATH) return path
  return `${path.slice(0, SHOWN_PATH / 2)}${CUT}${path.slice(-SHOWN_PATH / 2)}`
}
