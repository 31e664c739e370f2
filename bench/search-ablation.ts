import type { SearchIndexOptions } from '../packages/foldout/src/catalog/search/contract.ts'
import { FIELDS } from '../packages/foldout/src/catalog/search/text/tool-text.ts'
import type { Tuning } from '../packages/foldout/src/catalog/search/tuning.ts'
import type { Encoder } from '../packages/foldout/src/catalog/search/encoder.ts'
import { progress, type Row } from './report.ts'
import { DEV_SETS, MEAN_SETS, searchable, type DataSet } from './search-data.ts'
import { createIndex, TUNING } from './search-engines.ts'
import { meanScores, computeScores } from './search-scores.ts'

interface Variant {
  readonly name: string
  readonly tuning?: Partial<Tuning>
  readonly options?: SearchIndexOptions
}

/** nDCG@10 with one part left out or changed at a time. */
const VARIANTS: readonly Variant[] = [
  { name: 'all parts' },
  { name: 'without meaning', options: { embed: false } },
  { name: 'meaning always counts 0.6', tuning: { meaningIfSure: 0.6, meaningIfUnsure: 0.6 } },
  { name: 'meaning always counts 1.2', tuning: { meaningIfSure: 1.2, meaningIfUnsure: 1.2 } },
  { name: 'without actions', tuning: { action: 0 } },
  { name: 'without words side by side', tuning: { adjacency: 0 } },
  { name: 'without coverage of names', tuning: { nameCoverage: 0, nameWords: 0 } },
  { name: 'without a closer look', tuning: { likeness: 0, nameWords: 0 } },
  { name: 'without splitting requests', tuning: { part: 0 } },
  { name: 'without spelling', tuning: { spelling: 0 } },
  { name: 'without parameters', tuning: { fieldWeights: weightsWithout('parameters') } },
  { name: 'without sources', tuning: { fieldWeights: weightsWithout('source') } },
  { name: 'without tags and categories', tuning: { fieldWeights: weightsWithout('tags', 'category') } },
  { name: 'names count as descriptions', tuning: { fieldWeights: [1, 1, 1, 1, 1, 0.5] } },
  { name: 'length penalty 0.75 everywhere', tuning: { lengthPenalties: FIELDS.map(() => 0.75) } },
  {
    name: 'plain fielded BM25 on its words',
    tuning: {
      adjacency: 0,
      nameCoverage: 0,
      nameWords: 0,
      likeness: 0,
      action: 0,
      part: 0,
      spelling: 0,
      lengthPenalties: FIELDS.map(() => 0.75),
    },
    options: { embed: false },
  },
]

/** The mean is over the five sets that have a goal. */
export const ABLATION_COLUMNS = [column('variant'), ...DEV_SETS.map(column), column('mean')]

/** With an encoder, only the parts that interact with it. */
const VARIANTS_WITH_ENCODER: readonly Variant[] = [
  { name: 'all parts, with the encoder' },
  { name: 'without word vectors in the join', tuning: { encoder: { ...TUNING.encoder, wordVectors: 0 } } },
  { name: 'word vectors 0.25', tuning: { encoder: { ...TUNING.encoder, wordVectors: 0.25 } } },
  { name: 'word vectors 0.5', tuning: { encoder: { ...TUNING.encoder, wordVectors: 0.5 } } },
  { name: 'without the parts of a request', tuning: { encoder: { ...TUNING.encoder, part: 0 } } },
  {
    name: 'half the weights',
    tuning: { encoder: { ...TUNING.encoder, meaningIfSure: 2, meaningIfUnsure: 4 } },
  },
  {
    name: 'one and a half times the weights',
    tuning: { encoder: { ...TUNING.encoder, meaningIfSure: 6, meaningIfUnsure: 12 } },
  },
  { name: 'without a closer look, with the encoder', tuning: { likeness: 0, nameWords: 0 } },
]

function withEncoder(embed: Encoder): readonly Variant[] {
  return VARIANTS_WITH_ENCODER.map((variant) => ({ ...variant, options: { embed } }))
}

export async function ablationRows(sets: readonly DataSet[], encoder?: Encoder): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { name, tuning, options } of encoder ? withEncoder(encoder) : VARIANTS) {
    progress(`${name} ...`)
    const row: Record<string, string | number> = { variant: name }
    for (const set of sets) row[set.name] = await computeNdcg(set, tuning, options)
    row['mean'] = MEAN_SETS.reduce((sum, set) => sum + Number(row[set] ?? 0), 0) / MEAN_SETS.length
    rows.push(row)
  }
  return rows
}

async function computeNdcg(set: DataSet, tuning?: Partial<Tuning>, options?: SearchIndexOptions): Promise<number> {
  const index = createIndex(tuning, options)
  for (const tool of set.tools) index.add(searchable(tool))
  await index.ready()
  const scores = []
  for (const { query, relevant } of set.queries) {
    const { hits } = await index.search(query, { limit: 10 })
    scores.push(
      computeScores(
        hits.map(({ tool }) => tool.qualified),
        relevant,
      ),
    )
  }
  return meanScores(scores).ndcg10
}

function weightsWithout(...fields: readonly string[]): readonly number[] {
  return FIELDS.map((field, i) => (fields.includes(field) ? 0 : TUNING.fieldWeights[i]!))
}

function column(key: string): { readonly key: string; readonly label: string } {
  return { key, label: key }
}
