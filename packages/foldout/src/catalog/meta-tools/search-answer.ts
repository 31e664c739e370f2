import { shorten } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { Catalog } from '../contract.ts'
import type { CoreTools } from './meta-tool.ts'
import type { SearchOutcome } from '../search/contract.ts'
import { MAX_QUERY_CHARACTERS } from '../search/limits.ts'
import { toNameKey } from '../search/text/tool-text.ts'
import { formatSignature } from '../signatures/signature.ts'
import type { CatalogEntry } from '../tool.ts'

export type AnswerDetail = 'names' | 'signature' | 'schema'

/** A search, and what it found. */
export interface SearchQuestion {
  readonly query: string
  readonly outcome: SearchOutcome<CatalogEntry>
  readonly detail: AnswerDetail
  /** A line to put first. */
  readonly note?: string
  /** Listed tools, whose signatures the model already knows. */
  readonly core?: CoreTools | undefined
}

export interface SearchAnswer {
  readonly text: string
  readonly shown: readonly CatalogEntry[]
}

/** At most this many hits are shown, no matter what the limit says. */
export const MAX_HITS = 20

/** The longest answer, in tokens. Of hits that do not fit, the answer gives the names. */
export const ANSWER_CEILING: Readonly<Record<AnswerDetail, number>> = { names: 400, signature: 600, schema: 2_400 }
/** Tokens reserved for the line with further names. */
const LAST_LINE = 60
/** How many tools are named after the hits. */
const MAX_NAMED = 5
const MAX_SCHEMA = 1_200
/** The maximum length of a description, in characters. */
const MAX_DESCRIPTION = 120
/** The maximum length of a source's name, in characters. */
const MAX_SOURCE = 40
/** How many parts of a request that nothing fits are named, and how many characters of each. */
const MAX_UNANSWERED = 3
const MAX_PART = 60
/** How many choices of an argument are shown. A call with another one is answered with all of them. */
const MAX_VALUES = 6

/** Formats the result of a search for a model. */
export function formatSearchAnswer(catalog: Catalog, question: SearchQuestion): SearchAnswer {
  const { query, outcome, detail, core } = question
  if (catalog.tools.length === 0) return { text: 'There are no tools to search.', shown: [] }
  if (outcome.hits.length === 0)
    return { text: [...formatCutQuery(outcome), formatNothing(query)].join('\n'), shown: [] }
  const lines = [...formatRemarks(question)]
  const shown: CatalogEntry[] = []
  const severalSources = catalog.sources.length > 1
  let room = ANSWER_CEILING[detail] - LAST_LINE - estimatedTokens.count(lines.join('\n'))
  for (const { tool } of outcome.hits) {
    const line = formatHit(tool, detail, core?.has(tool) ?? false, severalSources)
    // Includes the line break.
    room -= estimatedTokens.count(line) + 1
    // At least one is shown; each has its own limit.
    if (shown.length > 0 && room < 0) break
    shown.push(tool)
    lines.push(line)
  }
  const next = [...outcome.hits.slice(shown.length).map(({ tool }) => tool), ...outcome.alsoNear]
  return { text: [...lines, ...formatAlsoNear(next.map(({ name }) => name))].join('\n'), shown }
}

/** Formats the lines before the hits. */
export function formatRemarks({ query, outcome, note = '' }: SearchQuestion): readonly string[] {
  const isGuess = outcome.fit === 'weak'
  const doubts = isGuess ? [formatGuesses(query)] : formatUnanswered(outcome)
  return [...formatCutQuery(outcome), ...(note === '' ? [] : [note]), ...doubts]
}

/** Tells a model that its query was too long to be read in full. */
export function formatCutQuery({ ignoredCharacters }: SearchOutcome<CatalogEntry>): readonly string[] {
  if (ignoredCharacters === 0) return []
  return [`Only the first ${MAX_QUERY_CHARACTERS.toLocaleString('en')} characters of the query were read.`]
}

/** Names the next tools, as many as fit into a line: of a tool that is named, a model can ask for the arguments. */
export function formatAlsoNear(names: readonly string[]): readonly string[] {
  let room = LAST_LINE - estimatedTokens.count(formatNames([]))
  const fitting = names.slice(0, MAX_NAMED).filter((name) => (room -= estimatedTokens.count(`, ${name}`)) >= 0)
  return fitting.length === 0 ? [] : [formatNames(fitting)]
}

function formatNames(names: readonly string[]): string {
  return `Also near: ${names.join(', ')} (search for a name to see its arguments)`
}

/** Formats one hit in a line. */
export function formatHit(
  tool: CatalogEntry,
  detail: AnswerDetail,
  isListed: boolean,
  severalSources: boolean,
): string {
  // It should be one line, but may be anything.
  const description = shorten(tool.shortDescription.replaceAll(/\s+/g, ' ').trim(), MAX_DESCRIPTION)
  const about = [description, severalSources ? formatSource(tool, description) : ''].filter((part) => part !== '')
  const call = formatCall(tool, detail, isListed)
  return about.length === 0 ? call : `${call} — ${about.join(' ')}`
}

/** The tool's source, unless its name or description says it: "Sends a message" may be mail or chat. */
function formatSource({ name, source }: CatalogEntry, description: string): string {
  if (source === undefined || toNameKey(`${name} ${description}`).includes(toNameKey(source))) return ''
  return `[${toVisibleText(shorten(source, MAX_SOURCE)).replaceAll(/\s+/g, ' ')}]`
}

function formatCall(tool: CatalogEntry, detail: AnswerDetail, isListed: boolean): string {
  if (detail === 'schema') return formatSchema(tool)
  return isListed ? `${tool.name}, listed: call it directly` : formatSignature(tool, { detail, maxValues: MAX_VALUES })
}

function formatSchema(tool: CatalogEntry): string {
  const schema = formatSignature(tool, { detail: 'schema', maxTokens: MAX_SCHEMA })
  // Some schemas are too large even in their shortest form.
  return estimatedTokens.count(schema) > MAX_SCHEMA
    ? formatSignature(tool, { maxValues: MAX_VALUES })
    : `${tool.name} ${schema}`
}

/** How a search finds most. Requests in a user's own words, or in another language, find far less. */
const HOW_TO_SEARCH = 'name the function in a few English words, one step per search'

/** Tells a model that the tools below it are only guesses. */
export function formatGuesses(query: string): string {
  return `Nothing fits "${describeQuery(query)}" well. If none of these guesses does it, search again: ${HOW_TO_SEARCH}.`
}

/** Tells a model which steps of its request the tools below do not fit. */
export function formatUnanswered({ parts, unanswered }: SearchOutcome<CatalogEntry>): readonly string[] {
  if (unanswered.length === 0 || unanswered.length === parts.length) return []
  const named = unanswered
    .slice(0, MAX_UNANSWERED)
    .map((part) => `"${toVisibleText(shorten(part, MAX_PART)).replaceAll(/\s+/g, ' ')}"`)
  return [`Nothing fits this part well: ${named.join(', ')}. Search for each step by itself.`]
}

function formatNothing(query: string): string {
  return `Nothing fits "${describeQuery(query)}". Search again: ${HOW_TO_SEARCH}, such as "send email".`
}

function describeQuery(query: string): string {
  return toVisibleText(shorten(query)).replaceAll(/\s+/g, ' ')
}
