import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createKeptEncoder } from '../../bench/search-encoder.ts'
import { getEncoderText } from '../../packages/foldout/src/catalog/search/text/tool-text.ts'
import { DIGITS, ZERO } from '../../packages/foldout/src/catalog/search/vectors/vectors.ts'
import { readTrainingSets, type LabeledQuery, type LabeledSet } from './data.ts'
import { toSearchable } from './fields.ts'
import { createLeastSquares } from './least-squares.ts'

/**
 * Learns where the vector of a request should point: to the tools that answer it. One linear map for all requests, by least squares
 * on the labeled requests of the training sets.
 */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')
const DIMENSIONS = 384
/** So many requests of a set are enough: the largest has nine in ten of all. */
const MOST_QUERIES = 2_500
/** How much each coordinate of the map is drawn to zero. Chosen on the development sets: 1, 2 and 4 differ by less than the noise. */
const PENALTY = 2
const LARGEST = DIGITS.length - 1 - ZERO

const { values: options } = parseArgs({
  options: { data: { type: 'string', default: join(ROOT, '..', 'shared', 'data') } },
})
const { embed } = await createKeptEncoder({ isFp16: true })
const { signal } = new AbortController()
const squares = createLeastSquares(DIMENSIONS, PENALTY)
// Embedding tools does not keep a process alive.
const held = setInterval(() => undefined, 60_000)
for (const set of readTrainingSets(options.data)) await learnSet(set)
clearInterval(held)
const file = join(ROOT, 'packages/foldout/word-vectors/request-map.js')
writeFileSync(file, format(squares.solve()))
console.log(`Wrote ${file}.`)

/** A set of n requests counts √n times as much as one request, so that the largest does not drown out the others. */
async function learnSet({ name, tools, queries }: LabeledSet): Promise<void> {
  const texts = new Map(tools.map((tool) => [tool.name, getEncoderText(toSearchable(tool))]))
  const some = pick(queries).filter(({ relevant }) => relevant.some((tool) => texts.has(tool)))
  console.log(`${name}: ${some.length} requests`)
  for (const { query, relevant } of some) {
    const right = relevant.map((tool) => texts.get(tool)).filter((text) => text !== undefined)
    // As tools, because requests would be mapped already.
    const [from, ...to] = (await embed([query, ...right], { kind: 'tool', signal })).map(toUnit)
    if (from) squares.add(from, subtract(getMean(to), from), 1 / Math.sqrt(some.length))
  }
}

function pick(queries: readonly LabeledQuery[]): readonly LabeledQuery[] {
  if (queries.length <= MOST_QUERIES) return queries
  return Array.from({ length: MOST_QUERIES }, (_, i) => queries[Math.floor((i * queries.length) / MOST_QUERIES)]!)
}

function toUnit(vector: ArrayLike<number>): Float64Array {
  const length = Math.hypot(...Array.from(vector))
  return Float64Array.from(vector, (value) => value / length)
}

function getMean(vectors: readonly Float64Array[]): Float64Array {
  const mean = new Float64Array(DIMENSIONS)
  for (const vector of vectors) vector.forEach((value, at) => (mean[at]! += value / vectors.length))
  return mean
}

function subtract(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, at) => value - b[at]!)
}

/** Six bits a number, each row with its own scale. */
function format(rows: readonly Float64Array[]): string {
  const scales = rows.map((row) => Number((Math.max(...row.map(Math.abs)) / LARGEST || 1).toPrecision(6)))
  const digits = rows.map((row, at) =>
    Array.from(row, (value) => DIGITS[Math.round(value / scales[at]!) + ZERO]).join(''),
  )
  return `// Made by \`npm run search:map\`. Do not edit.
export const dimensions = ${DIMENSIONS}
export const scales = [${scales.join(', ')}]
export const rows = '${digits.join('')}'
`
}
