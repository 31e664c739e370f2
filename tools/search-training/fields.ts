import type { Searchable, SearchField } from '../../packages/foldout/src/catalog/search/contract.ts'
import { FIELDS, getFieldTexts } from '../../packages/foldout/src/catalog/search/text/tool-text.ts'
import { getTerms } from '../../packages/foldout/src/catalog/search/text/words.ts'
import type { LabeledTool } from './data.ts'

/** The terms of a tool by field, as in a search index. */
export type FieldTerms = Readonly<Record<SearchField, readonly string[]>>

export function getFieldTerms(tool: LabeledTool): FieldTerms {
  const texts = getFieldTexts(toSearchable(tool))
  return Object.fromEntries(FIELDS.map((field, at) => [field, getTerms(texts[at]!)])) as Record<
    string,
    readonly string[]
  > as FieldTerms
}

export function toSearchable({ name, description, category, tags, inputSchema }: LabeledTool): Searchable {
  return {
    name,
    qualified: name,
    declared: name,
    source: undefined,
    title: undefined,
    description: description ?? '',
    category,
    tags: tags ?? [],
    inputSchema: (inputSchema ?? {}) as Searchable['inputSchema'],
  }
}
