import type { PackedVectors } from '../../packages/foldout/src/catalog/search/vectors/vector-table.ts'
import type { SearchField } from '../../packages/foldout/src/catalog/search/contract.ts'
import { DIGITS, ZERO } from '../../packages/foldout/src/catalog/search/vectors/vectors.ts'
import { FIELDS, getWordVectors, type Model } from './model.ts'

const LARGEST = DIGITS.length - 1 - ZERO

/** A model as a table of six-bit numbers. Each row has its own scale, which is folded into its weights. */
export function pack(model: Model, words: readonly string[]): PackedVectors {
  const { dimensions, size, emphasis } = model
  const vectors = getWordVectors(model).values
  const heads: [number, number][] = []
  const bodies: string[] = []
  for (let word = 0; word < size; word++) {
    const row = vectors.subarray(word * dimensions, (word + 1) * dimensions)
    const scale = row.reduce((top, value) => Math.max(top, Math.abs(value)), 1e-9) / LARGEST
    bodies.push(Array.from(row, (value) => DIGITS[Math.round(value / scale) + ZERO]).join(''))
    heads.push([Math.log(scale) + emphasis[word]!, Math.log(scale) + emphasis[size + word]!])
  }
  const logarithms = heads.flat().sort((a, b) => a - b)
  const high = logarithms.at(-1)!
  // Words with almost no weight do not need an exact one.
  const low = Math.max(logarithms[0]!, high - 9)
  const digit = (value: number): string =>
    DIGITS[Math.round((Math.max(0, value - low) / (high - low)) * (DIGITS.length - 1))]!
  return {
    dimensions,
    words: words.join(' '),
    rows: bodies.map((body, word) => digit(heads[word]![0]) + digit(heads[word]![1]) + body).join(''),
    weights: [rounded(low), rounded(high)],
    fields: getFieldWeights(model),
  }
}

/** How many words a module of the table has: few enough to load one without blocking a process for long. */
const PART_WORDS = 3_000

/** The modules that carry a table, by the names of their files. */
export function formatModules({
  dimensions,
  words,
  rows,
  weights,
  fields,
}: PackedVectors): ReadonlyMap<string, string> {
  const list = words.split(' ')
  const width = rows.length / list.length
  const modules = new Map<string, string>()
  for (let from = 0; from < list.length; from += PART_WORDS) {
    const part = list.slice(from, from + PART_WORDS)
    const body = rows.slice(from * width, (from + part.length) * width)
    modules.set(
      `word-vectors-${modules.size}.js`,
      `${NOTE}export const words = '${part.join(' ')}'\nexport const rows = '${body}'\n`,
    )
  }
  const imports = Array.from(modules.keys(), (file) => `  () => import('./${file}'),\n`)
  modules.set(
    'index.js',
    `${NOTE}export const dimensions = ${dimensions}
export const size = ${list.length}
export const weights = [${weights.join(', ')}]
export const fields = ${JSON.stringify(fields)}
export const parts = [
${imports.join('')}]
`,
  )
  return modules
}

const NOTE = '// Made by `npm run search:train`. Do not edit.\n'

function getFieldWeights(model: Model): Record<SearchField, number> {
  const computeWeight = (field: (typeof FIELDS)[number]): number =>
    rounded(Math.exp(model.fieldEmphasis[FIELDS.indexOf(field)]!))
  return {
    name: computeWeight('name'),
    source: computeWeight('source'),
    description: computeWeight('description'),
    tags: computeWeight('tags'),
    category: computeWeight('category'),
    parameters: computeWeight('parameters'),
  }
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
