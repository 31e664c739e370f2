import type { CompareReport } from '../contract/report.ts'
import { checkNumber } from '../../core/check-number.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { getVerdict, toName, toRows, toSigned } from './rows.ts'

/**
 * How a comparison is written: for a terminal, for a pull request, or for a build server.
 *
 * @example
 * ```ts
 * const forms: ComparisonForm[] = ['text', 'markdown', 'junit']
 * ```
 */
export type ComparisonForm = 'text' | 'markdown' | 'junit'

/**
 * Options of {@link formatComparison}.
 *
 * @example
 * ```ts
 * const options: ComparisonFormat = { as: 'text', columns: 80 }
 * ```
 */
export interface ComparisonFormat {
  /** Default `'text'`. */
  readonly as?: ComparisonForm
  /** The width of the terminal, for `'text'`. Default: unlimited. */
  readonly columns?: number
}

/**
 * Writes a comparison as text, as Markdown, or as JUnit's XML, in which an arm that is worse is a failure. For JSON, write
 * the report itself.
 *
 * @example
 * ```ts
 * formatComparison(report, { as: 'markdown' }).includes('| folded |') // => true
 * ```
 */
export function formatComparison(report: CompareReport, { as = 'text', columns }: ComparisonFormat = {}): string {
  checkNumber('columns', columns, { code: 'compare-invalid', least: 1 })
  if (as === 'markdown') return formatMarkdown(report)
  if (as === 'junit') return formatJUnit(report)
  return formatText(report, columns ?? Infinity)
}

function formatText(report: CompareReport, columns: number): string {
  const { title, arms, costs, sentences } = toRows(report)
  const blocks = [
    wrap(title, columns),
    alignOrList(arms, columns),
    alignOrList(costs, columns),
    sentences.flatMap((sentence) => wrap(sentence, columns)),
  ]
  return `${blocks.flatMap((lines) => lines.join('\n') || []).join('\n\n')}\n`
}

/** A table, or a list of its rows if it is too wide. */
function alignOrList(rows: readonly (readonly string[])[], columns: number): readonly string[] {
  const [head = [], ...others] = rows
  const widths = head.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  if (lines.every((line) => line.length <= columns)) return lines
  return others.flatMap((row) => [
    row[0] ?? '',
    ...row.slice(1).flatMap((cell, i) => (cell === '–' ? [] : [`  ${head[i + 1] ?? ''}: ${cell}`])),
  ])
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length <= columns || line === '') line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

function formatMarkdown(report: CompareReport): string {
  const { title, arms, costs, sentences } = toRows(report)
  const blocks = [
    escapeMarkdown(title),
    toMarkdownTable(arms),
    toMarkdownTable(costs),
    sentences.map((sentence) => `- ${escapeMarkdown(sentence)}`).join('\n'),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function toMarkdownTable(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const [head = [], ...others] = rows.map((row) => `| ${row.map(escapeMarkdown).join(' | ')} |`)
  const rule = `|${(rows[0] ?? []).map(() => ' --- |').join('')}`
  return [head, rule, ...others].join('\n')
}

/** Names and errors come from files and models: they must not become links, images, mentions or tables. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\\`*_{}[\]<>|#!~]/g, String.raw`\$&`)
    .replaceAll('@', '@\u200B')
    .replaceAll('&', '&amp;')
}

function formatJUnit(report: CompareReport): string {
  const others = Object.entries(report.arms).filter(([, { against }]) => against)
  const count = (verdicts: readonly string[]): number =>
    others.filter(([, { against }]) => against && verdicts.includes(against.verdict)).length
  const cases = others.map(([name, arm]) => {
    const { against, seconds, runs } = arm
    const attributes = `name="${escapeXml(`${toName(name)} is not worse than ${toName(report.base)}`)}" classname="compare" time="${(seconds.p50 * runs).toFixed(3)}"`
    const low = toSigned(against?.interval.low ?? 0)
    const high = toSigned(against?.interval.high ?? 0)
    const figures = `${toSigned(against?.difference ?? 0)} points, between ${low} and ${high}. ${(against?.reasons ?? []).join(' ')}`
    const message = escapeXml(`${getVerdict(against?.verdict ?? 'no-signal')}: ${figures.trim()}`)
    if (against?.verdict === 'worse') return `    <testcase ${attributes}><failure message="${message}"/></testcase>`
    if (against?.verdict === 'not-worse') return `    <testcase ${attributes}/>`
    return `    <testcase ${attributes}><skipped message="${message}"/></testcase>`
  })
  const totals = `tests="${others.length}" failures="${count(['worse'])}" skipped="${count(['undecided', 'no-signal'])}" errors="0"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="compare" ${totals}>`,
    ...cases,
    `    <system-out>${escapeXml(formatText(report, Infinity))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** XML 1.0 has no control characters, not even escaped. */
function escapeXml(text: string): string {
  return toVisibleText(text)
    .replaceAll(/[\uFFFE\uFFFF]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
