import { untilAborted } from 'foldout/promises'
import type { CatalogEntry, Explanation, SearchOutcome } from 'foldout/catalog'
import { UsageError } from '../../gateway/config/config.ts'
import { dropUndefined } from 'foldout-shared/values'
import { EXIT } from '../support/exit-codes.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { findEncoder, withServers, type EncoderOptions, type OpenSession } from '../support/session.ts'
import { createStyler, formatTable, toLine } from '../support/text.ts'
import { describeTool } from './tools.ts'

export interface SearchCommandOptions extends EncoderOptions {
  readonly limit?: number
  /** Shows why each tool was found. */
  readonly explain?: boolean
}

type Outcome = SearchOutcome<CatalogEntry>

/** `foldout search <query>`: lists the tools a model would find with this query. Returns the exit code. */
export async function searchTools(
  query: string,
  options: SearchCommandOptions,
  surroundings: Surroundings,
): Promise<number> {
  if (query.trim() === '') throw new UsageError('Describe what the tool should do: foldout search "send an e-mail".')
  const encoder = await findEncoder(options, surroundings)
  const search = async (session: OpenSession): Promise<number> => {
    const { limit } = options
    // This is the only search, so it waits until all tools are embedded.
    if (encoder) await untilAborted(surroundings.signal, () => session.catalog.ready())
    const outcome = await session.catalog.search(query, dropUndefined({ limit }))
    const found = { query, outcome, isExplained: options.explain === true }
    surroundings.stdout.write(options.json ? formatJson(found, session) : formatText(found, session, surroundings))
    if (session.servers.length === 0 && session.failed.length > 0) return EXIT.failed
    if (outcome.hits.length === 0) return EXIT.failed
    return EXIT.done
  }
  try {
    return await withServers(options, surroundings, search, encoder)
  } finally {
    await encoder?.close()
  }
}

interface Found {
  readonly query: string
  readonly outcome: Outcome
  readonly isExplained: boolean
}

function formatJson({ query, outcome, isExplained }: Found, { servers, failed, held }: OpenSession): string {
  const { hits, fit, alsoNear, confidence, meaning, withoutEncoder } = outcome
  const found = hits.map(({ tool, score, explain }) => ({
    ...describeTool(tool),
    score,
    ...(isExplained && { explanation: explain() }),
  }))
  const next = alsoNear.map(({ name }) => name)
  const answer = { query, hits: found, fit, alsoNear: next, confidence, meaning, withoutEncoder, servers, failed, held }
  return `${JSON.stringify(answer, null, 2)}\n`
}

function formatText(
  { query, outcome, isExplained }: Found,
  { held }: Pick<OpenSession, 'held'>,
  { stdout, env }: Surroundings,
): string {
  const { hits, fit, alsoNear } = outcome
  const style = createStyler(stdout, env)
  const names = held.slice(0, MOST_HELD).map(({ server, name }) => toLine(`${server}/${name}`))
  const more = held.length > MOST_HELD ? ` and ${held.length - MOST_HELD} more` : ''
  const unsearched =
    names.length === 0 ? [] : [`Not searched until you approve them (foldout pins): ${names.join(', ')}${more}`]
  if (hits.length === 0) return `${[`No tool fits “${toLine(query)}”.`, ...unsearched].join('\n')}\n`
  const rows = hits.map(({ tool }) => [toLine(tool.name), toLine(tool.source ?? ''), toLine(tool.description)])
  const lines = formatTable(rows, stdout.columns)
  const explained = hits.flatMap((hit, i) => {
    const reasons = isExplained ? formatExplanation(hit.explain(), stdout.columns) : []
    return [lines[i] ?? '', ...reasons.map((reason) => style('dim', reason))]
  })
  const first = fit === 'weak' ? [`No tool fits “${toLine(query)}” well. The nearest:`] : []
  const near = alsoNear.map(({ name }) => toLine(name)).join(', ')
  const others = near === '' ? [] : [style('dim', `Also near: ${near}`)]
  return `${[...first, ...explained, ...others, ...unsearched].join('\n')}\n`
}

/** How many held tools are named. */
const MOST_HELD = 5

const HOW = {
  stem: '',
  spelling: ' by its spelling',
  part: ' as a part',
  action: ' as the same action',
  kind: ' as what it is',
  meaning: ' by its meaning',
} as const

/** The score, with the contribution of every word and of the meaning. */
function formatExplanation({ score, words, meaning, named }: Explanation, columns = Infinity): readonly string[] {
  const rows = words.map(({ word, matched, fields, score: added, how }) => {
    const match = matched === word ? '' : ` matched ${toLine(matched)}`
    return [`  ${added.toFixed(2).padStart(6)}`, `${toLine(word)}${match}${HOW[how]}, in ${fields.join(', ')}`]
  })
  if (meaning !== 0) rows.push([`  ${meaning.toFixed(2).padStart(6)}`, 'similar meaning'])
  if (named) rows.push(['        ', 'the query names the tool'])
  return [`  score ${score.toFixed(2)}`, ...formatTable(rows, columns)]
}
