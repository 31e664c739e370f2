import { deferPattern } from '../core/defer-pattern.ts'
import { shorten } from '../core/text.ts'
import { estimatedTokens } from '../core/tokens/tokens.ts'
import { toVisibleText } from '../core/visible-text.ts'
import { fail, ok, type ToolResult } from '../tools/result.ts'
import { toolTokens } from '../tools/definition.ts'
import { getOpening, planOpening, type OpeningPlan } from './engine.ts'
import { MAX_QUERY_SHOWN, MIN_SEARCHED_SECTIONS } from './limits.ts'
import type { DisclosureView } from './strategy.ts'

/** Whether sections can be found by what they say. It depends on the prompt only, so tools do not change. */
export function isSearchable({ texts }: DisclosureView): boolean {
  return texts.length >= MIN_SEARCHED_SECTIONS
}

interface SectionQuery {
  readonly query: string
  /** The tool that opens a section by its key. */
  readonly tool: string
}

/** What a query found: the section that clearly fits, or an answer for the model. */
export type FoundSections = { readonly plan: OpeningPlan } | { readonly answer: ToolResult }

const MAX_HITS = 5
/** The best section is opened if the next one scores less than this share, by how well it fits. */
const CLEAR_SHARES = { good: 0.75, weak: 0.5, none: 0 } as const

/** Finds the sections that say what a query asks for. */
export async function findSections(view: DisclosureView, { query, tool }: SectionQuery): Promise<FoundSections> {
  const { getSectionIndex } = await import('../find/section-index.ts')
  const { hits, fit } = await getSectionIndex(view.texts).search(query, {
    limit: MAX_HITS,
    // The summaries of sections that are asked are always shown.
    accepts: (path) => view.state(path) !== undefined && view.findDelegate(path) === undefined,
  })
  const [best, next] = hits
  if (!best) return { answer: fail(`No section says anything about "${describeQuery(query)}". Use other words.`) }
  const isClear = next === undefined ? fit === 'good' : next.score < best.score * CLEAR_SHARES[fit]
  if (isClear && view.state(best.path) === 'folded') return { plan: planFound(view, best.path) }
  const lines = hits.map(({ path }) => describeHit(view, path, query))
  const intro = fit === 'good' ? 'Sections about' : 'No section fits well. Nearest to'
  const list = `${intro} "${describeQuery(query)}". Call \`${tool}\` with the key of one:\n${lines.join('\n')}`
  return { answer: ok(list) }
}

/** Answers with the sections that say what a query asks for, or opens the one that clearly fits. */
export async function answerQuery(
  view: DisclosureView,
  asked: SectionQuery & { open(plan: OpeningPlan): ToolResult | Promise<ToolResult> },
): Promise<ToolResult> {
  const found = await findSections(view, asked)
  if ('plan' in found) return asked.open(found.plan)
  return found.answer
}

function planFound(view: DisclosureView, path: string): OpeningPlan {
  return { ...planOpening(view, [path], ''), isFound: true }
}

function describeQuery(query: string): string {
  return toVisibleText(shorten(query, MAX_QUERY_SHOWN)).replaceAll(/\s+/g, ' ')
}

function describeHit(view: DisclosureView, path: string, query: string): string {
  const text = view.texts.find((each) => each.path === path)
  if (view.state(path) === 'full') return `- ${path}: ${text?.title ?? ''} (open already)`
  const { content, opening } = getOpening(view, planFound(view, path), { halts: false })
  const tools = opening.tools.reduce((sum, tool) => sum + toolTokens(tool, estimatedTokens), 0)
  const cost = estimatedTokens.count(content) + tools
  const own = view.opened(opening.paths).content(path, [path])
  const lines = findLines(own, query).map((line) => `\n  ${line}`)
  return `- ${path}: ${text?.title ?? ''} (${cost} tokens)${lines.join('')}`
}

const MAX_LINES = 2
const MAX_LINE = 160
/** Words are compared by their beginning, which most forms of a word share. */
const STEM = 5

/** Finds the lines of a text that have most words of a query, in their order. */
function findLines(text: string, query: string): readonly string[] {
  const wanted = new Set(toStems(query))
  const scored = text
    .split('\n')
    .map((line, at) => ({ line: line.trim(), at, score: toStems(line).filter((stem) => wanted.has(stem)).length }))
    .filter(({ line, score }) => score > 0 && !line.startsWith('#'))
  return scored
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MAX_LINES)
    .sort((a, b) => a.at - b.at)
    .map(({ line }) => shorten(line, MAX_LINE))
}

const getWords = deferPattern(String.raw`[\p{L}\p{N}]{3,}`, 'gu')

function toStems(text: string): readonly string[] {
  const words = text.slice(0, 10_000).toLowerCase().match(getWords()) ?? []
  return [...new Set(words.map((word) => word.slice(0, STEM)))]
}
