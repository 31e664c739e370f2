import type { FieldTerms } from './fields.ts'

const K1 = 1.2
const B = 0.75
const WEIGHTS = { name: 3, source: 3, tags: 1.5, category: 1.5, description: 1, parameters: 0.5 } as const

/** Fielded BM25 as described in the data's README: the baseline for word vectors. */
export interface Bm25f {
  /** Every tool's score for a query's terms. */
  computeScores(terms: readonly string[]): Float32Array
}

export function createBm25f(tools: readonly FieldTerms[]): Bm25f {
  const fields = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]
  const postings = new Map<string, Map<number, number>>()
  for (const field of fields) {
    const mean = Math.max(1, tools.reduce((sum, tool) => sum + tool[field].length, 0) / tools.length)
    for (const [at, tool] of tools.entries()) {
      const length = 1 - B + (B * tool[field].length) / mean
      for (const term of tool[field]) {
        let tools = postings.get(term)
        if (tools === undefined) postings.set(term, (tools = new Map()))
        tools.set(at, (tools.get(at) ?? 0) + WEIGHTS[field] / length)
      }
    }
  }
  return {
    computeScores(terms) {
      const scores = new Float32Array(tools.length)
      for (const term of new Set(terms)) {
        const found = postings.get(term)
        if (found === undefined) continue
        const idf = Math.log(1 + (tools.length - found.size + 0.5) / (found.size + 0.5))
        for (const [at, frequency] of found) scores[at]! += (idf * frequency * (K1 + 1)) / (frequency + K1)
      }
      return scores
    },
  }
}
