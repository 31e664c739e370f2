import { MAX_JSON_DEPTH, MAX_JSON_STARTS } from './limits.ts'

export { MAX_JSON_DEPTH }

/** A complete JSON value in a text. */
export interface FoundJson {
  readonly value: unknown
  /** The number of characters it takes in the text. */
  readonly length: number
}

/** A piece of text that starts like JSON but is not valid JSON. */
export interface BrokenJson {
  readonly container: 'object' | 'array'
  readonly length: number
  readonly reason: 'cut-off' | 'malformed' | 'too-deep'
  /** The offset in the text where it stops being valid JSON. */
  readonly offset: number
}

export interface JsonInText {
  /**
   * The whole text if it is JSON; otherwise the fenced blocks, then the objects and arrays within other text, in order.
   */
  readonly found: readonly FoundJson[]
  /** The longest broken piece. JSON inside such a piece is ignored, because it is not an answer on its own. */
  readonly broken: BrokenJson | undefined
}

/** Finds the JSON in a model's text, in linear time. */
export function findJson(text: string): JsonInText {
  const trimmed = text.trim()
  const whole = parseWhole(trimmed)
  if (whole) return { found: [whole], broken: undefined }
  const found: FoundJson[] = []
  const starts = new Set<number>()
  for (const block of findFencedBlocks(text)) {
    const content = text.slice(block.start, block.end)
    const parsed = parseWhole(content.trim())
    if (!parsed) continue
    found.push(parsed)
    starts.add(block.start + content.length - content.trimStart().length)
  }
  let broken: BrokenJson | undefined
  let partners: Int32Array | undefined
  let left = MAX_JSON_STARTS
  for (let at = nextOpener(text, 0); at < text.length && left > 0; left--) {
    const scan = scanContainer(text, at)
    if ('end' in scan) {
      if (!starts.has(at)) found.push({ value: JSON.parse(text.slice(at, scan.end)), length: scan.end - at })
      at = nextOpener(text, scan.end)
    } else if (scan.begun) {
      const length = scan.offset - at
      if (length > (broken?.length ?? 0)) {
        const container = text[at] === '{' ? 'object' : 'array'
        broken = { container, length, reason: scan.reason, offset: scan.offset }
      }
      partners ??= matchBrackets(text)
      at = nextOpener(text, Math.max(scan.offset, partners[at] ?? 0))
    } else {
      at = nextOpener(text, scan.innermost + 1)
    }
  }
  return { found, broken }
}

function parseWhole(text: string): FoundJson | undefined {
  if (scanValue(text) === text.length) return { value: JSON.parse(text), length: text.length }
  return undefined
}

function scanValue(text: string): number | undefined {
  if (text[0] === '"') return scanString(text, 0)
  if (text[0] !== '{' && text[0] !== '[') return scanWord(text, 0)
  const scan = scanContainer(text, 0)
  if ('end' in scan) return scan.end
  return undefined
}

// With `s`, the rest of the line always matches, so nothing is tried twice.
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/s

/** Finds the contents of blocks fenced with ``` or ~~~. An unclosed block extends to the end of the text. */
function findFencedBlocks(text: string): { readonly start: number; readonly end: number }[] {
  const blocks: { start: number; end: number }[] = []
  let open: { readonly fence: string; readonly start: number } | undefined
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const match = FENCE.exec(text.slice(start, end).trimEnd())
    const next = end + 1
    if (match) {
      const [, fence = '', info = ''] = match
      if (open === undefined) {
        // A backtick in the info string means inline code, such as ```{}```.
        if (fence[0] === '~' || !info.includes('`')) open = { fence, start: next }
      } else if (info === '' && fence.startsWith(open.fence)) {
        blocks.push({ start: open.start, end: start })
        open = undefined
      }
    }
    start = next
  }
  if (open !== undefined && open.start < text.length) blocks.push({ start: open.start, end: text.length })
  return blocks
}

/**
 * Finds the next bracket that can start JSON, judging by the character after it; returns the end of the text if there
 * is none.
 */
function nextOpener(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const next = skipSpace(text, at + 1)
      if (next === text.length || canFollow(code, text.charCodeAt(next))) return at
      // The whitespace was already scanned and contains no bracket.
      at = next - 1
    }
  }
  return text.length
}

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const QUOTE = 0x22

function canFollow(opener: number, code: number): boolean {
  if (code === QUOTE) return true
  if (opener === OPEN_BRACE) return code === CLOSE_BRACE
  const isDigitOrMinus = (code >= 0x30 && code <= 0x39) || code === 0x2d
  const beginsWord = code === 0x74 || code === 0x66 || code === 0x6e
  return isDigitOrMinus || beginsWord || code === OPEN_BRACE || code === OPEN_BRACKET || code === CLOSE_BRACKET
}

/**
 * Maps each opening bracket to the offset after its closing bracket, or to 0. Only counts brackets: inside broken JSON,
 * strings cannot be trusted.
 */
function matchBrackets(text: string): Int32Array {
  const partners = new Int32Array(text.length)
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      open.push(at)
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      const opener = open.pop()
      if (opener !== undefined) partners[opener] = at + 1
    }
  }
  return partners
}

interface Container {
  readonly at: number
  readonly isObject: boolean
  /** Whether the scan got past the first `"key":` or `value,`, which a bracket in prose does not. */
  begun: boolean
}

type Scan =
  | { readonly end: number }
  | {
      readonly reason: BrokenJson['reason']
      readonly offset: number
      readonly begun: boolean
      /** The offset of the innermost unclosed container. */
      readonly innermost: number
    }

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end'

/**
 * Follows the JSON grammar from an opening bracket to its end. After a failed scan, there is no need to scan again from
 * the brackets it passed: the unclosed ones would fail at the same place. Only a string that was mistaken for JSON can
 * hide others, and `innermost` leads there.
 */
function scanContainer(text: string, start: number): Scan {
  const open: Container[] = []
  let expected: Expected = 'value'
  let at = start
  const fail = (reason: BrokenJson['reason'], offset: number): Scan => ({
    reason: reason === 'malformed' && offset >= text.length ? 'cut-off' : reason,
    offset: Math.min(offset, text.length),
    begun: reason === 'too-deep' || open.some((container) => container.begun),
    innermost: open.at(-1)?.at ?? start,
  })
  for (;;) {
    at = skipSpace(text, at)
    const char = text[at]
    const inner = open.at(-1)
    if ((char === '}' || char === ']') && inner !== undefined) {
      if (!expected.endsWith('-or-end') || inner.isObject !== (char === '}')) return fail('malformed', at)
      open.pop()
      at++
      if (open.length === 0) return { end: at }
      expected = 'comma-or-end'
    } else if (expected === 'comma-or-end' || expected === 'colon') {
      if (char !== (expected === 'colon' ? ':' : ',')) return fail('malformed', at)
      const isInList = inner?.isObject === false
      if (inner && (expected === 'colon' || isInList)) inner.begun = true
      if (expected === 'colon' || isInList) expected = 'value'
      else expected = 'key'
      at++
    } else if (expected === 'key' || expected === 'key-or-end') {
      const end = scanString(text, at)
      if (end < 0) return fail('malformed', ~end)
      at = end
      expected = 'colon'
    } else if (char === '{' || char === '[') {
      if (open.length === MAX_JSON_DEPTH) return fail('too-deep', at)
      open.push({ at, isObject: char === '{', begun: false })
      if (char === '{') expected = 'key-or-end'
      else expected = 'value-or-end'
      at++
    } else {
      const end = char === '"' ? scanString(text, at) : scanWord(text, at)
      if (end < 0) return fail('malformed', ~end)
      at = end
      expected = 'comma-or-end'
    }
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

const HEX = /[0-9a-fA-F]{4}/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Returns the end of the string that begins here, or the complement (`~`) of the offset where it is invalid. */
function scanString(text: string, start: number): number {
  if (text[start] !== '"') return ~start
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) return ~at
    if (code !== 0x5c) continue
    at++
    if (text[at] === 'u') {
      HEX.lastIndex = at + 1
      if (!HEX.test(text)) return ~at
      at += 4
    } else if (at < text.length && !'"\\/bfnrt'.includes(text.charAt(at))) return ~at
  }
  return ~text.length
}

/**
 * Returns the end of the number, `true`, `false` or `null` that begins here, or the complement (`~`) of the offset
 * where it is invalid.
 */
function scanWord(text: string, start: number): number {
  for (const word of ['true', 'false', 'null']) if (text.startsWith(word, start)) return start + word.length
  NUMBER.lastIndex = start
  if (NUMBER.test(text)) return NUMBER.lastIndex
  return ~start
}
