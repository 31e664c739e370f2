import type { SearchField } from '../../packages/foldout/src/catalog/search/contract.ts'
import { DIGITS, ZERO, type PackedVectors } from '../../packages/foldout/src/catalog/search/vectors/vectors.ts'
import { FIELDS, getWordVectors, type Model } from './model.ts'

const LARGEST = DIGITS.length - 1 - ZERO

/** A model as a table of six-bit numbers. Each row has its own scale, which goes into its weights. */
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
  // Words that count almost nothing need no exact weight.
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

/** The source of the module that carries a table. Its types are wide, so that declarations do not repeat it. */
export function formatModule({ dimensions, words, rows, weights, fields }: PackedVectors): string {
  return `// Made by \`npm run search:train\`. Do not edit.
import type { SearchField } from '../contract.ts'

export const dimensions: number = ${dimensions}
export const weights: readonly [number, number] = [${weights.join(', ')}]
export const fields: Readonly<Record<SearchField, number>> = ${JSON.stringify(fields)}
export const words: string = '${words}'
export const rows: string = '${rows}'
`
}

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
