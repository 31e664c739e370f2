import { evaluate, type DevSet, type Encoder } from './evaluate.ts'

export const MEAN_SETS = ['azure-mcp', 'bfcl-live', 'sgd', 'toolbench-stable', 'mcp-xl-dev']

/** One line per weight of the cosine: nDCG@10 of each set and on average, and the golden set's recall@5. */
export function report(sets: readonly DevSet[], encoder: Encoder | undefined, weights: readonly number[]): string {
  const scores = sets.map((set) => evaluate(set, encoder, weights))
  const lines = weights.map((weight, at) => {
    const ofWeight = scores.map((ofSet) => ofSet[at]!)
    const inMean = ofWeight.filter(({ set }) => MEAN_SETS.includes(set)).map(({ ndcg10 }) => ndcg10)
    const mean = inMean.reduce((sum, score) => sum + score, 0) / inMean.length
    const golden = ofWeight.find(({ set }) => set === 'mcpproxy-golden')!
    const cells = [weight === Infinity ? 'alone' : weight, ...ofWeight.map(({ ndcg10 }) => ndcg10.toFixed(3))]
    return `| ${[...cells, mean.toFixed(4), golden.recall5.toFixed(3)].join(' | ')} |`
  })
  const heads = ['weight', ...sets.map(({ name }) => name), 'mean of five', 'golden recall@5']
  return [`| ${heads.join(' | ')} |`, `|${' --- |'.repeat(heads.length)}`, ...lines].join('\n')
}
