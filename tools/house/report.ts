import type { ClassSize, NamedFunction } from './functions.ts'
import type { FolderPair } from './graph.ts'
import { getMeasures, type Ratchet } from './goals.ts'
import type { Habits } from './habits.ts'
import { LARGE_FOLDER, LONG_FILE, LONG_FUNCTION, SMALL_FILE, type House } from './measure.ts'

/** How many rows of a long list are printed without `--all`. */
const MOST_ROWS = 12
const LABEL_WIDTH = 50

export interface ReportOptions {
  /** Every row of every list. */
  readonly all: boolean
  readonly ratchet: Ratchet
}

/** Formats the report. Entries, habits and the ratchet concern the whole repository, so a report on a folder has none. */
export function formatReport(house: House, habits: Habits | undefined, options: ReportOptions): string {
  const limit = options.all ? Infinity : MOST_ROWS
  return [
    formatTable(house, habits, options.ratchet),
    formatList(
      `Files over ${LONG_FILE} lines`,
      house.longFiles.map(({ path, lines }) => `${String(lines).padStart(5)}  ${path}`),
      limit,
    ),
    formatList(`Functions over ${LONG_FUNCTION} lines`, house.longFunctions.map(formatFunction), limit),
    formatList('Most `!`', house.nonNull.files.map(formatCount), limit),
    formatList('Most ternaries', house.ternaries.files.map(formatCount), limit),
    formatList('Silent catches', house.silentCatches.files.map(formatCount), limit),
    formatList('Large classes', house.largeClasses.map(formatClass), limit),
    formatList(
      'Functions written in several places',
      house.repeated.map(({ name, places }) => `  ${name}  ${places.join(', ')}`),
      limit,
    ),
    formatList('Folders that import each other', house.twoWayFolders.map(formatPair), limit),
    formatList(
      'Import cycles',
      house.cycles.map((files) => `${String(files.length).padStart(5)}  ${files.join(', ')}`),
      limit,
    ),
    formatList(
      'Files that load the MCP SDK',
      house.sdkImports.map((path) => `  ${path}`),
      limit,
    ),
    formatList('Named …Of', house.named.ofs.map(formatFunction), limit),
    formatList('Named by a participle', house.named.participles.map(formatFunction), limit),
    formatList('Fixed sleeps', (habits?.fixedSleeps ?? []).map(formatCount), limit),
    habits ? formatEntries(house) : '',
    formatList('Without a doc comment', house.undocumented.map(formatExport), limit),
    formatList('Without an `@example`', house.withoutExample.map(formatExport), limit),
    formatList(
      `Under ${SMALL_FILE} lines with a single importer`,
      house.smallFiles.map(({ path, lines, importer }) => `${String(lines).padStart(5)}  ${path}  ← ${importer}`),
      limit,
    ),
    formatList(
      `Folders with more than ${LARGE_FOLDER} source files`,
      house.largeFolders.map(({ path, files }) => `${String(files).padStart(5)}  ${path}`),
      limit,
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function formatTable(house: House, habits: Habits | undefined, ratchet: Ratchet): string {
  const { p50, p90, count } = house.functions
  const sizes = [
    ['source files, lines', `${house.files}, ${house.lines}`],
    ['longest file, median file', `${house.longestFile.lines} (${house.longestFile.path}), ${house.medianFile}`],
    ['functions: p50 / p90 lines', `${p50} / ${p90} (${count} functions)`],
    ['named …Of, by a participle', `${formatShare(house, 'ofs')}, ${formatShare(house, 'participles')}`],
    ...(habits ? [['words of documentation', String(habits.words)] as const] : []),
    ...(habits ? [['seconds of the last `npm test`', String(habits.testSeconds ?? '-')] as const] : []),
  ] as const
  const measures = getMeasures(house, habits).filter(({ name }) => habits || name !== 'rootExports')
  const rows = measures.map(({ name, label, value, goal }) => {
    const aim = goal === undefined ? '' : `goal ${goal}${value > goal ? '' : ', met'}`
    const reached = habits ? `ratchet ${ratchet[name] ?? '-'}` : ''
    return `${label.padEnd(LABEL_WIDTH)}${String(value).padStart(6)}  ${aim.padEnd(12)}  ${reached}`.trimEnd()
  })
  return [...sizes.map(([label, value]) => `${label.padEnd(LABEL_WIDTH)}  ${value}`), ...rows].join('\n')
}

function formatShare({ named }: House, kind: 'ofs' | 'participles'): string {
  return `${((named[kind].length * 100) / Math.max(1, named.count)).toFixed(1)} %`
}

function formatEntries({ entries }: House): string {
  const rows = entries.map(
    ({ entry, values, types }) => `  ${entry.padEnd(18)}${values + types} (${values} values, ${types} types)`,
  )
  return ['Exports per entry', ...rows].join('\n')
}

function formatFunction({ name, path, line, lines }: NamedFunction): string {
  return `${String(lines).padStart(5)}  ${name || '(anonymous)'}  ${path}:${line}`
}

function formatClass({ name, path, line, lines, fields, methods }: ClassSize): string {
  return `${String(lines).padStart(5)}  ${name}  ${fields} fields, ${methods} methods  ${path}:${line}`
}

function formatPair({ folders, examples }: FolderPair): string {
  return [`  ${folders.join(' ↔ ')}`, ...examples.map((example) => `      ${example}`)].join('\n')
}

function formatCount({ path, count }: { readonly path: string; readonly count: number }): string {
  return `${String(count).padStart(5)}  ${path}`
}

function formatExport({ entry, name, path }: House['undocumented'][number]): string {
  return `  ${entry.padEnd(16)}${name}  ${path}`
}

function formatList(title: string, rows: readonly string[], limit: number): string {
  if (rows.length === 0) return ''
  const left = rows.length - limit
  const more = left > 0 ? [`       and ${left} more (--all)`] : []
  return [`${title} (${rows.length})`, ...rows.slice(0, limit), ...more].join('\n')
}
