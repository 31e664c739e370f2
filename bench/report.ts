import { cpus } from 'node:os'
import { styleText } from 'node:util'

/** One row of a bench's table; `null` if nothing was measured. */
export type Row = Readonly<Record<string, string | number | null>>

export interface Goal {
  readonly name: string
  readonly value: number
  /** The goal for the value, such as `<= 4`. */
  readonly goal: string
  readonly met: boolean
}

export interface BenchResult {
  readonly bench: string
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
}

interface Column {
  /** The name of the value in a row. */
  readonly key: string
  readonly label: string
}

export interface BenchOptions {
  /** Fewer rounds: enough to see that it works, too few to trust the figures. */
  readonly quick: boolean
  /** Files with other data, for benches that take some. */
  readonly files: readonly string[]
}

export interface Bench {
  readonly name: string
  readonly question: string
  readonly columns: readonly Column[]
  run(options: BenchOptions): Promise<Omit<BenchResult, 'bench'>>
}

type Comparison = '<=' | '<' | '>='

export function goal(name: string, value: number, comparison: Comparison, limit: number): Goal {
  const met = { '<=': value <= limit, '<': value < limit, '>=': value >= limit }[comparison]
  return { name, value: rounded(value), goal: `${comparison} ${limit.toLocaleString('en')}`, met }
}

/** Four significant digits below a thousand, whole numbers above. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4))
}

export function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

export function printResult(bench: Bench, result: BenchResult): void {
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor'
  console.log(`${styled('bold', bench.name)}: ${bench.question}`)
  console.log(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores of ${processor}\n`)
  console.log(table(bench.columns, result.rows))
  if (result.goals.length === 0) return
  console.log('\nGoals')
  const goals = result.goals.map(({ name, value, goal, met }) => ({ met: met ? 'met' : 'MISSED', name, value, goal }))
  const columns = ['met', 'name', 'value', 'goal'].map((key) => ({ key, label: '' }))
  for (const line of table(columns, goals).split('\n').slice(1)) {
    console.log(styled(line.startsWith('met') ? 'green' : 'red', line))
  }
}

/** Columns that hold numbers are aligned on the right. Empty columns are left out. */
function table(columns: readonly Column[], rows: readonly Row[]): string {
  const filled = columns.filter(({ key }) => rows.some((row) => row[key] !== undefined && row[key] !== null))
  const isNumeric = filled.map(({ key }) => rows.some((row) => typeof row[key] === 'number'))
  const lines = [
    filled.map(({ label }) => label),
    ...rows.map((row) => filled.map(({ key }, i) => cell(row[key], isNumeric[i] ? '-' : ''))),
  ]
  const widths = filled.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)))
  return lines
    .map((line) =>
      line
        .map((text, i) => (isNumeric[i] ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cell(value: string | number | null | undefined, absent: string): string {
  if (value === null || value === undefined) return absent
  return typeof value === 'number' ? rounded(value).toLocaleString('en', { maximumFractionDigits: 4 }) : value
}

function styled(style: 'bold' | 'green' | 'red', text: string): string {
  return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText(style, text) : text
}
