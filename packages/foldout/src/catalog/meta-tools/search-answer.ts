import { shortened } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import type { Catalog } from '../catalog.ts'
import type { SearchOutcome } from '../search/contract.ts'
import { formatSignature } from '../signatures/signature.ts'
import type { CatalogEntry } from '../tool.ts'

export type AnswerDetail = 'names' | 'signature' | 'schema'

interface Question {
  readonly query: string
  readonly outcome: SearchOutcome<CatalogEntry>
  readonly detail: AnswerDetail
  readonly category: string | undefined
  /** Tools that the model has before it: it need not be shown again how to call them. */
  readonly core?: ReadonlySet<CatalogEntry>
}

interface Answer {
  readonly text: string
  readonly shown: readonly CatalogEntry[]
}

/** More hits than this are not shown, whatever is asked for. */
export const MAX_HITS = 20

/** No answer is longer, whatever the tools are like; what does not fit is said to exist. */
export const ANSWER_CEILING: Readonly<Record<AnswerDetail, number>> = { names: 400, signature: 600, schema: 2_400 }
/** For the line that says how many more there are. */
const LAST_LINE = 30
const MAX_SCHEMA = 1_200
/** In characters. */
const MAX_DESCRIPTION = 120

/** What a model reads of a search. */
export function formatSearchAnswer(catalog: Catalog, question: Question): Answer {
  const { outcome, detail, core } = question
  if (outcome.hits.length === 0) return { text: nothingFits(catalog, question), shown: [] }
  const shown: CatalogEntry[] = []
  const lines: string[] = []
  let room = ANSWER_CEILING[detail] - LAST_LINE
  for (const { tool } of outcome.hits) {
    const line = hitLine(tool, detail, core?.has(tool) ?? false)
    // With the break before the next line.
    room -= estimatedTokens.count(line) + 1
    // One is always shown: each of them has a ceiling of its own.
    if (shown.length > 0 && room < 0) break
    shown.push(tool)
    lines.push(line)
  }
  const cut = outcome.hits.length - shown.length
  const more = outcome.more + cut
  const canHaveMore = cut === 0 && shown.length < MAX_HITS
  const advice = canHaveMore ? 'raise limit, or say more in query' : 'say more in query'
  if (more > 0) lines.push(`${more} more ${more === 1 ? 'fits' : 'fit'}: ${advice}.`)
  return { text: lines.join('\n'), shown }
}

function hitLine(tool: CatalogEntry, detail: AnswerDetail, isListed: boolean): string {
  // Somebody may have written a novel where one line was asked for.
  const description = shortened(tool.shortDescription.replaceAll(/\s+/g, ' ').trim(), MAX_DESCRIPTION)
  const call =
    detail === 'schema'
      ? toSchema(tool)
      : isListed
        ? `${tool.name}, listed: call it directly`
        : formatSignature(tool, { detail })
  return description === '' ? call : `${call} — ${description}`
}

function toSchema(tool: CatalogEntry): string {
  const schema = formatSignature(tool, { detail: 'schema', maxTokens: MAX_SCHEMA })
  // One that is too large however much is left off.
  return estimatedTokens.count(schema) > MAX_SCHEMA ? formatSignature(tool) : `${tool.name} ${schema}`
}

function nothingFits(catalog: Catalog, { query, outcome, category }: Question): string {
  const where = category === undefined ? '' : ` in '${category}'`
  const near =
    outcome.nearestCategories.length > 0 ? ` Nearest categories: ${outcome.nearestCategories.join(', ')}.` : ''
  const advice =
    category === undefined
      ? 'Try other words for what you want to do, or one thing at a time.'
      : 'Try without the category, or other words for what you want to do.'
  return catalog.tools.length === 0
    ? 'There are no tools to search.'
    : `Nothing fits "${shortened(query)}"${where}.${near} ${advice}`
}
