import { shorten } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { Catalog } from '../contract.ts'
import type { CoreTools } from '../exposures/core.ts'
import type { SearchOutcome } from '../search/contract.ts'
import { MAX_QUERY_CHARACTERS } from '../search/limits.ts'
import { formatSignature } from '../signatures/signature.ts'
import type { CatalogEntry } from '../tool.ts'

export type AnswerDetail = 'names' | 'signature' | 'schema'

interface Question {
  readonly query: string
  readonly outcome: SearchOutcome<CatalogEntry>
  readonly detail: AnswerDetail
  /** A line to put first. */
  readonly note?: string
  /** Listed tools, whose signatures the model already knows. */
  readonly core?: CoreTools | undefined
}

interface Answer {
  readonly text: string
  readonly shown: readonly CatalogEntry[]
}

/** At most this many hits are shown, no matter what the limit says. */
export const MAX_HITS = 20

/** The longest answer, in tokens. If hits do not fit, the answer says how many there are. */
export const ANSWER_CEILING: Readonly<Record<AnswerDetail, number>> = { names: 400, signature: 600, schema: 2_400 }
/** Tokens reserved for the line that says how many more there are. */
const LAST_LINE = 30
const MAX_SCHEMA = 1_200
/** The maximum length of a description, in characters. */
const MAX_DESCRIPTION = 120

/** Formats the result of a search for a model. */
export function formatSearchAnswer(catalog: Catalog, question: Question): Answer {
  const { query, outcome, detail, core, note = '' } = question
  if (catalog.tools.length === 0) return { text: 'There are no tools to search.', shown: [] }
  const cut = formatCutQuery(outcome)
  if (outcome.hits.length === 0) return { text: [...cut, formatNothing(query)].join('\n'), shown: [] }
  const isGuess = outcome.fit === 'weak'
  const lines = [...cut, ...(note === '' ? [] : [note]), ...(isGuess ? [formatGuesses(query)] : [])]
  const shown: CatalogEntry[] = []
  let room = ANSWER_CEILING[detail] - LAST_LINE - estimatedTokens.count(lines.join('\n'))
  for (const { tool } of outcome.hits) {
    const line = formatHit(tool, detail, core?.has(tool) ?? false)
    // Includes the line break.
    room -= estimatedTokens.count(line) + 1
    // At least one is shown; each has its own limit.
    if (shown.length > 0 && room < 0) break
    shown.push(tool)
    lines.push(line)
  }
  const last = isGuess ? 'If none of them does it, search again with other words.' : formatMore(outcome, shown.length)
  return { text: [...lines, ...(last === '' ? [] : [last])].join('\n'), shown }
}

/** Tells a model that its query was too long to be read in full. */
export function formatCutQuery({ ignoredCharacters }: SearchOutcome<CatalogEntry>): readonly string[] {
  if (ignoredCharacters === 0) return []
  return [`Only the first ${MAX_QUERY_CHARACTERS.toLocaleString('en')} characters of the query were read.`]
}

/** Says how many more tools fit, and how to see them. */
function formatMore({ hits, more: leftOff }: SearchOutcome<CatalogEntry>, shown: number): string {
  const cut = hits.length - shown
  const more = leftOff + cut
  if (more === 0) return ''
  const canHaveMore = cut === 0 && shown < MAX_HITS
  const advice = canHaveMore ? 'raise limit, or say more in query' : 'say more in query'
  return `${more} more ${more === 1 ? 'fits' : 'fit'}: ${advice}.`
}

function formatHit(tool: CatalogEntry, detail: AnswerDetail, isListed: boolean): string {
  // It should be one line, but may be anything.
  const description = shorten(tool.shortDescription.replaceAll(/\s+/g, ' ').trim(), MAX_DESCRIPTION)
  const call = formatCall(tool, detail, isListed)
  return description === '' ? call : `${call} — ${description}`
}

function formatCall(tool: CatalogEntry, detail: AnswerDetail, isListed: boolean): string {
  if (detail === 'schema') return formatSchema(tool)
  return isListed ? `${tool.name}, listed: call it directly` : formatSignature(tool, { detail })
}

function formatSchema(tool: CatalogEntry): string {
  const schema = formatSignature(tool, { detail: 'schema', maxTokens: MAX_SCHEMA })
  // Some schemas are too large even in their shortest form.
  return estimatedTokens.count(schema) > MAX_SCHEMA ? formatSignature(tool) : `${tool.name} ${schema}`
}

/** Tells a model that the tools below it are only guesses. */
export function formatGuesses(query: string): string {
  return `Nothing fits "${describeQuery(query)}" well. The nearest tools, as guesses:`
}

function formatNothing(query: string): string {
  const advice = 'Try other words for what you want to do, or one thing at a time.'
  return `Nothing fits "${describeQuery(query)}". ${advice}`
}

function describeQuery(query: string): string {
  return toVisibleText(shorten(query)).replaceAll(/\s+/g, ' ')
}
