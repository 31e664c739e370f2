import { stripVTControlCharacters } from 'node:util'
import { formatCount } from 'foldout-shared/numbers'

/** Control, invisible and bidirectional characters. Removing them keeps a server from controlling the terminal. */
const UNPRINTABLE = String.raw`[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]+`
/** Compiled when it is first used: as a literal, it would take 1 ms of every start. */
let unprintable: RegExp | undefined

/** Removes everything that could control a terminal, line breaks included. */
export function toPrintable(text: string): string {
  unprintable ??= new RegExp(UNPRINTABLE, 'gu')
  // Without its first character, a color code would be left as text.
  return stripVTControlCharacters(text).replace(unprintable, ' ')
}

/** One line of text that is safe to print. */
export function toLine(text: string): string {
  return toPrintable(text).replaceAll(/ {2,}/g, ' ').trim()
}

/** Several lines, each safe to print. */
export function toLines(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map(toLine)
    .filter((line) => line !== '')
}

/** Lines such as those of JSON, safe to print. Their indentation shows what is inside what. */
export function indentBlock(text: string, indent: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => `${indent}${toPrintable(line)}`.trimEnd())
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A bar for a share from 0 to 1, padded to its width. A share above 0 is never invisible. */
export function formatBar(share: number, width: number): string {
  const within = Math.min(Math.max(share, 0), 1)
  const eighths = Math.max(Math.round(within * width * 8), within > 0 ? 1 : 0)
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8] ?? ''}`.padEnd(width)
}

export function shorten(text: string, width: number): string {
  if (text.length <= width) return text
  return `${text.slice(0, Math.max(1, width - 1)).trimEnd()}…`
}

/** Breaks a text between words. A word that is longer than a line is cut. */
export function wrap(text: string, width = Infinity, indent = ''): readonly string[] {
  const most = Math.max(1, width - indent.length)
  return breakLines(text, most).map((line) => `${indent}${shorten(line, most)}`)
}

/** The same for text that people may need whole: a path or URL that is longer than a line is not cut. */
export function wrapWhole(text: string, width = Infinity, indent = ''): readonly string[] {
  return breakLines(text, Math.max(1, width - indent.length)).map((line) => `${indent}${line}`)
}

/** Sentences as people read them: each one safe to print, and broken between words at the edge of a terminal. */
export function formatSentences(sentences: readonly string[], { columns }: Stream): string {
  return `${sentences.flatMap((sentence) => wrapWhole(toLine(sentence), columns)).join('\n')}\n`
}

function breakLines(text: string, most: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length <= most || line === '') line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

/** The lines of the first layout that fits the width, or of the last one, cut. */
export function chooseLayout(width: number, layouts: readonly (() => readonly string[])[]): readonly string[] {
  let lines: readonly string[] = []
  for (const create of layouts) {
    lines = create()
    if (lines.every((line) => line.length <= width)) return lines
  }
  return lines.map((line) => shorten(line, width))
}

/** The codes that turn a style on and off. Not Node's `styleText`: whether that colors depends on the version. */
const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39] } as const
type Style = keyof typeof STYLES

export interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Colors text only on a terminal, and only if the user has not turned colors off. */
export function createStyler(stream: Stream, env: NodeJS.ProcessEnv): (style: Style, text: string) => string {
  const isColored = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return (style, text) => {
    const [on, off] = STYLES[style]
    if (isColored) return `\u001B[${on}m${text}\u001B[${off}m`
    return text
  }
}

/** Formats rows with aligned columns. On a terminal, the last column is cut to fit. */
export function formatTable(rows: readonly (readonly string[])[], width = Infinity): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) => {
    const cells = row.slice(0, -1).map((cell, i) => cell.padEnd(widths[i] ?? 0))
    const used = cells.reduce((sum, cell) => sum + cell.length + 2, 0)
    return [...cells, shorten(row.at(-1) ?? '', Math.max(20, width - used))].join('  ').trimEnd()
  })
}

/** `36 of 38 servers work.` */
export function formatWorking(working: number, failed: number): string {
  const all = working + failed
  return `${working} of ${formatCount(all, 'server')} ${all === 1 ? 'works' : 'work'}.`
}

/** What to run to see why the other servers do not work, with the files that were named. */
export function formatDoctorHint(config: readonly string[] = []): string {
  return ['For more about the others: foldout doctor', ...config.map((file) => `--config ${quoteWord(file)}`)].join(' ')
}

/** Quotes a word of a command line if a shell would split or change it. */
export function quoteWord(word: string): string {
  if (/^[\w./:\\@%+=-]+$/.test(word)) return word
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
