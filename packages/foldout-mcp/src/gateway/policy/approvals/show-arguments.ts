import { isObject } from 'foldout-shared/values'
import { MAX_SHOWN_CHARACTERS, MAX_SHOWN_CUT_CHARACTERS } from './limits.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { showInvisible } from '../../../shared/visible.ts'

/** How much of each value is shown. */
interface Cut {
  readonly characters: number
  readonly items: number
}

/** From the least to the most. */
const CUTS: readonly Cut[] = [
  { characters: 40, items: 3 },
  { characters: 100, items: 5 },
  { characters: 300, items: 10 },
  { characters: 1_000, items: 30 },
  { characters: 3_000, items: 100 },
]
const WHOLE: Cut = { characters: Infinity, items: Infinity }

/**
 * The arguments of a call as JSON, for the person who approves it. Long texts and lists are cut one by one, and no field is left
 * out, so that no argument can hide another. Returns undefined if they do not fit even so, or are nested too deeply.
 */
export function showArguments(
  args: Readonly<Record<string, unknown>>,
  secrets: Pick<Secrets, 'hide'>,
): string | undefined {
  const format = (cut: Cut): string => showInvisible(secrets.hide(new Formatter(cut, secrets).format(args)))
  try {
    const shortest = format(CUTS[0] ?? WHOLE)
    if (shortest.length > MAX_SHOWN_CUT_CHARACTERS) return undefined
    let shown = shortest
    for (const cut of [...CUTS, WHOLE]) {
      const longer = format(cut)
      if (longer.length > MAX_SHOWN_CHARACTERS) return shown
      shown = longer
    }
    return shown
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Writes JSON. What is cut is counted outside of the quotes, where no text can imitate it. */
class Formatter {
  readonly #cut: Cut
  readonly #secrets: Pick<Secrets, 'hide'>

  constructor(cut: Cut, secrets: Pick<Secrets, 'hide'>) {
    this.#cut = cut
    this.#secrets = secrets
  }

  format(value: unknown, indent = ''): string {
    if (typeof value === 'string') return this.#formatText(value)
    const inner = `${indent}  `
    if (Array.isArray(value)) return wrap('[', this.#formatItems(value, inner), ']', indent)
    if (!isObject(value)) return JSON.stringify(value) ?? 'null'
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    const lines = fields.map(([name, field]) => `${this.#formatText(name)}: ${this.format(field, inner)}`)
    return wrap('{', lines, '}', indent)
  }

  #formatItems(items: readonly unknown[], indent: string): readonly string[] {
    const { items: most } = this.#cut
    const shown = items.slice(0, most).map((item) => this.format(item, indent))
    const left = items.length - shown.length
    if (left === 0) return shown
    return [...shown, `… (${left} more items are not shown)`]
  }

  #formatText(text: string): string {
    const { characters } = this.#cut
    if (text.length <= characters) return JSON.stringify(text)
    // Before the cut, which could leave half of a secret.
    const hidden = this.#secrets.hide(text)
    const left = hidden.length - characters
    if (left <= 0) return JSON.stringify(hidden)
    return `${JSON.stringify(hidden.slice(0, characters))}… (${left} more characters are not shown)`
  }
}

function wrap(open: string, lines: readonly string[], close: string, indent: string): string {
  if (lines.length === 0) return `${open}${close}`
  return `${open}\n${lines.map((line) => `${indent}  ${line}`).join(',\n')}\n${indent}${close}`
}
