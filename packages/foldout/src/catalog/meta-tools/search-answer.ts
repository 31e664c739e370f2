import { shorten } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { Catalog } from '../catalog.ts'
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
  /** A line to put before it all, or nothing. */
  readonly note?: string
  /** Tools that the model has before it: it need not be shown again how to call them. */
  readonly core?: CoreTools | undefined
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

/** Below it the best tool is more likely wrong than right. */
const FITS_WELL = 0.3

/** Of tools that fit badly, only so many are shown. */
const MAX_GUESSES = 3

/** Whether a search found something that is likely right. */
export function fitsWell({ hits, confidence }: SearchOutcome<CatalogEntry>): boolean {
  return hits.length > 0 && confidence >= FITS_WELL
}

/** What a model reads of a search. */
export function formatSearchAnswer(catalog: Catalog, question: Question): Answer {
  const { query, outcome, detail, core, note = '' } = question
  if (catalog.tools.length === 0) return { text: 'There are no tools to search.', shown: [] }
  const cut = formatCutQuery(outcome)
  if (outcome.hits.length === 0) return { text: [...cut, formatNothing(query)].join('\n'), shown: [] }
  const isGuess = !fitsWell(outcome)
  const hits = isGuess ? outcome.hits.slice(0, MAX_GUESSES) : outcome.hits
  const lines = [
    ...cut,
    ...(note === '' ? [] : [note]),
    ...(isGuess ? [`Nothing fits "${describeQuery(query)}" well. The nearest tools, as guesses:`] : []),
  ]
  const shown: CatalogEntry[] = []
  let room = ANSWER_CEILING[detail] - LAST_LINE - estimatedTokens.count(lines.join('\n'))
  for (const { tool } of hits) {
    const line = formatHit(tool, detail, core?.has(tool) ?? false)
    // With the break before the next line.
    room -= estimatedTokens.count(line) + 1
    // One is always shown: each of them has a ceiling of its own.
    if (shown.length > 0 && room < 0) break
    shown.push(tool)
    lines.push(line)
  }
  const last = isGuess ? 'If none of them does it, search again with other words.' : formatMore(outcome, shown.length)
  return { text: [...lines, ...(last === '' ? [] : [last])].join('\n'), shown }
}

/** What a model is told whose query is longer than what is read of it. */
export function formatCutQuery({ ignoredCharacters }: SearchOutcome<CatalogEntry>): readonly string[] {
  if (ignoredCharacters === 0) return []
  return [`Only the first ${MAX_QUERY_CHARACTERS.toLocaleString('en')} characters of the query were read.`]
}

/** How many more fit, and how to get at them. */
function formatMore({ hits, more: leftOff }: SearchOutcome<CatalogEntry>, shown: number): string {
  const cut = hits.length - shown
  const more = leftOff + cut
  if (more === 0) return ''
  const canHaveMore = cut === 0 && shown < MAX_HITS
  const advice = canHaveMore ? 'raise limit, or say more in query' : 'say more in query'
  return `${more} more ${more === 1 ? 'fits' : 'fit'}: ${advice}.`
}

function formatHit(tool: CatalogEntry, detail: AnswerDetail, isListed: boolean): string {
  // Somebody may have written a novel where one line was asked for.
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
  // One that is too large however much is left off.
  return estimatedTokens.count(schema) > MAX_SCHEMA ? formatSignature(tool) : `${tool.name} ${schema}`
}

function formatNothing(query: string): string {
  const advice = 'Try other words for what you want to do, or one thing at a time.'
  return `Nothing fits "${describeQuery(query)}". ${advice}`
}

function describeQuery(query: string): string {
  return toVisibleText(shorten(query)).replaceAll(/\s+/g, ' ')
}
