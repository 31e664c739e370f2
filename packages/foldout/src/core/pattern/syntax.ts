import { MAX_PATTERN_DEPTH } from './limits.ts'

/** Tests whether a character code belongs to a set. */
export type CharacterTest = (code: number) => boolean

/**
 * The syntax tree of a regular expression. It has no captures, because the engine only decides whether a text matches.
 */
export type PatternNode =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'assertion'; readonly at: 'start' | 'end' | 'boundary' | 'no-boundary' }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly isAhead: boolean; readonly isNegative: boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }

/** Thrown for a valid pattern that this engine does not run. `message` completes "the pattern …". */
export class UnsupportedPattern extends Error {}

const EMPTY: PatternNode = { kind: 'sequence', parts: [] }

/**
 * Parses a regular expression that the JavaScript engine has already accepted with the same flags, so the syntax is
 * known to be valid. Single characters and classes are left to the JavaScript engine, which knows Unicode.
 */
export function parsePattern(source: string, flags: string): PatternNode {
  return new PatternParser(source, flags).parse()
}

class PatternParser {
  private at = 0
  private depth = 0
  private readonly isUnicode: boolean

  private readonly source: string
  private readonly flags: string

  constructor(source: string, flags: string) {
    this.source = source
    this.flags = flags
    this.isUnicode = flags.includes('u')
  }

  parse(): PatternNode {
    return this.choice()
  }

  private choice(): PatternNode {
    const parts = [this.sequence()]
    while (this.takes('|')) parts.push(this.sequence())
    const [only] = parts
    if (parts.length === 1 && only) return only
    return { kind: 'choice', parts }
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.at < this.source.length && !this.isNext('|') && !this.isNext(')')) parts.push(this.repeat(this.term()))
    return { kind: 'sequence', parts }
  }

  private repeat(body: PatternNode): PatternNode {
    const bounds = this.bounds()
    if (!bounds) return body
    this.takes('?')
    const [min, max] = bounds
    // A lookaround consumes nothing, so repeating it makes no difference.
    if (body.kind === 'look') {
      if (min === 0) return EMPTY
      return body
    }
    return { kind: 'repeat', body, min, max }
  }

  private bounds(): readonly [number, number] | undefined {
    if (this.takes('*')) return [0, Infinity]
    if (this.takes('+')) return [1, Infinity]
    if (this.takes('?')) return [0, 1]
    const braces = this.match(/\{(\d+)(?:(,)(\d*))?\}/y)
    if (!braces) return undefined
    const [, min, comma, max] = braces
    if (comma === undefined) return [Number(min), Number(min)]
    return [Number(min), max === '' ? Infinity : Number(max)]
  }

  private term(): PatternNode {
    if (this.takes('^')) return { kind: 'assertion', at: 'start' }
    if (this.takes('$')) return { kind: 'assertion', at: 'end' }
    if (this.takes('\\b')) return { kind: 'assertion', at: 'boundary' }
    if (this.takes('\\B')) return { kind: 'assertion', at: 'no-boundary' }
    if (this.takes('(')) return this.group()
    if (this.takes('.')) return this.native('.')
    if (this.isNext('[')) return this.characterClass()
    if (this.isNext('\\')) return this.escape()
    return this.literal()
  }

  private group(): PatternNode {
    this.depth += 1
    if (this.depth > MAX_PATTERN_DEPTH) throw new UnsupportedPattern('is nested too deeply')
    const look = this.match(/\?(<?)([=!])/y)
    if (!look && !this.match(/\?:|\?<[^>]*>/y) && this.isNext('?'))
      throw new UnsupportedPattern('has a group with flags of its own')
    const body = this.choice()
    this.takes(')')
    this.depth -= 1
    if (look) return { kind: 'look', body, isAhead: look[1] === '', isNegative: look[2] === '!' }
    return body
  }

  private characterClass(): PatternNode {
    let end = this.at + 1
    while (this.source[end] !== ']') end += this.source[end] === '\\' ? 2 : 1
    const source = this.source.slice(this.at, end + 1)
    this.at = end + 1
    return this.native(source)
  }

  private escape(): PatternNode {
    if (this.match(/\\[1-9k]/y)) throw new UnsupportedPattern('refers back to a group')
    const source = this.match(
      this.isUnicode
        ? /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[^])/uy
        : /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|0[0-7]{0,2}|[^c])/y,
    )
    if (!source) throw new UnsupportedPattern('has an escape that is not supported')
    return this.native(source[0])
  }

  private literal(): PatternNode {
    const code = this.isUnicode ? this.source.codePointAt(this.at) : this.source.charCodeAt(this.at)
    if (code === undefined) return EMPTY
    this.at += code > 0xffff ? 2 : 1
    if (!this.flags.includes('i')) return { kind: 'character', test: (other) => other === code }
    const hex = code.toString(16)
    return this.native(this.isUnicode ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`)
  }

  private native(source: string): PatternNode {
    return { kind: 'character', test: nativeTest(source, this.flags) }
  }

  private isNext(text: string): boolean {
    return this.source.startsWith(text, this.at)
  }

  private takes(text: string): boolean {
    if (!this.isNext(text)) return false
    this.at += text.length
    return true
  }

  private match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at
    const found = expression.exec(this.source)
    if (!found) return undefined
    this.at += found[0].length
    return found
  }
}

const KNOWN_CODES = 256
const MAX_REMEMBERED = 5_000

/** Tests single characters with the JavaScript engine, which cannot take long on one character. Results are cached. */
export function nativeTest(source: string, flags: string): CharacterTest {
  const expression = new RegExp(`^${source}$`, flags)
  const ask = flags.includes('u')
    ? (code: number) => expression.test(String.fromCodePoint(code))
    : (code: number) => expression.test(String.fromCharCode(code))
  const low: (boolean | undefined)[] = Array.from({ length: KNOWN_CODES })
  const high = new Map<number, boolean>()
  return (code) => {
    if (code < KNOWN_CODES) return (low[code] ??= ask(code))
    const known = high.get(code)
    if (known !== undefined) return known
    if (high.size === MAX_REMEMBERED) high.clear()
    const answer = ask(code)
    high.set(code, answer)
    return answer
  }
}
