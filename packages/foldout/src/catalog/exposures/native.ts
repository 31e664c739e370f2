import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/definition.ts'
import type { Catalog } from '../contract.ts'
import type { Exposure } from '../exposure.ts'
import { getListing } from '../listing.ts'
import {
  formatAlsoNear,
  formatHit,
  formatRemarks,
  formatSearchAnswer,
  type SearchAnswer,
  type SearchQuestion,
} from '../meta-tools/search-answer.ts'
import { getSourceGroup } from '../source-group.ts'
import { createSearchTool, SEARCH_TOOLS } from '../meta-tools/search-tools.ts'
import { createUseTool, SEARCH_FIRST } from '../meta-tools/use-tool.ts'
import type { CatalogEntry } from '../tool.ts'
import { checkCore, createJoinedTools, getCoreTools, type SearchExposureOptions } from './core.ts'
import { createExposedCatalog, type ExposedControl } from './exposed-catalog.ts'
import { CALL_WITH_USE_TOOL, SEARCH_THEN_USE } from './hybrid.ts'

/** Providers accept no more in one result. */
const MAX_ADDED = 5

/**
 * Lists the core tools, `search_tools` and `use_tool`, as `hybrid()` does. Where a provider takes new tools without losing
 * its cache, a search also adds the tools that fit best to the conversation, at most five, and only as long as their
 * definitions cost no more than signatures and calls through `use_tool` would. The model then calls them by their own names, and the provider enforces
 * their schemas. Everywhere else, it is the same as `hybrid()`.
 *
 * @example
 * const prompt = definePrompt({ ns: 'home', key: 'agent', sections: [catalogSection(catalog, { expose: native() })] })
 */
export function native(options: SearchExposureOptions = {}): Exposure {
  return Object.freeze({
    name: 'native',
    searchTool: SEARCH_TOOLS,
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client, core: () => getCoreTools(catalog, options) }
      const joined = createJoinedTools(scope, options)
      const answer = (given: SearchQuestion, canAdd: boolean): SearchAnswer => {
        const added = new Set(joined.entries())
        const isListed = (entry: CatalogEntry): boolean => added.has(entry) || given.core?.has(entry) === true
        const question = { ...given, core: { entries: given.core?.entries ?? [], has: isListed } }
        const signatures = formatSearchAnswer(catalog, question)
        if (!canAdd || question.outcome.fit !== 'good') return signatures
        const found = findPlan(catalog, question, signatures)
        if (found === undefined) return signatures
        for (const entry of found.added) joined.add(entry)
        control.announce()
        return found.answer
      }
      const search = createSearchTool(scope, {
        ...options,
        callWith: CALL_WITH_USE_TOOL,
        answer: (question, { addsInPlace = false }) => answer(question, addsInPlace && client.takesListChanges),
      })
      const control: ExposedControl = createExposedCatalog({
        ...scope,
        exposure: 'native',
        instructions: SEARCH_THEN_USE,
        entries: () => scope.core().entries,
        metaTools: [search, createUseTool(scope)],
        joined,
        hint: SEARCH_FIRST,
      })
      return control
    },
  } satisfies Exposure)
}

interface FoundPlan {
  readonly added: readonly CatalogEntry[]
  readonly answer: SearchAnswer
}

/** What a call by the tool's own name saves: about nine tokens of output, which cost five times as much as input. */
const SAVED_BY_CALL = 45

/** Adds the best hits, as long as that costs no more than signatures and a call through `use_tool`. */
function findPlan(catalog: Catalog, question: SearchQuestion, signatures: SearchAnswer): FoundPlan | undefined {
  const most = estimatedTokens.count(signatures.text) + SAVED_BY_CALL
  for (let count = MAX_ADDED; count > 0; count--) {
    const plan = planAnswer(catalog, question, { shown: signatures.shown, most, count })
    const answer = formatPlan(catalog, question, plan)
    const cost = countDefinitions(plan.added) + countSources(catalog, plan.added) + estimatedTokens.count(answer.text)
    if (plan.added.length > 0 && cost <= most) return { added: plan.added, answer }
  }
  return undefined
}

/** How the hits of a search are shown: as tools of the conversation, by their signatures, or only by name. */
interface Plan {
  readonly added: readonly CatalogEntry[]
  readonly signed: readonly CatalogEntry[]
  readonly named: readonly string[]
}

interface PlanLimits {
  readonly shown: readonly CatalogEntry[]
  /** How many tokens the answer and the definitions may have together. */
  readonly most: number
  /** How many tools may be added. */
  readonly count: number
}

function planAnswer(catalog: Catalog, { outcome, core, detail }: SearchQuestion, limits: PlanLimits): Plan {
  const added: CatalogEntry[] = []
  const signed: CatalogEntry[] = []
  const named: string[] = []
  let room = limits.most
  const takes = (tokens: number): boolean => {
    const fits = tokens <= room
    if (fits) room -= tokens
    return fits
  }
  for (const entry of limits.shown) {
    const isListed = core?.has(entry) ?? false
    const line = formatHit(entry, detail, isListed, catalog.sources.length > 1)
    if (!isListed && added.length < limits.count && takes(countDefinitions([entry]))) added.push(entry)
    else if (takes(estimatedTokens.count(line) + 1)) signed.push(entry)
    else named.push(entry.name)
  }
  const hidden = outcome.hits.slice(limits.shown.length).map(({ tool }) => tool.name)
  return { added, signed, named: [...named, ...hidden, ...outcome.alsoNear.map(({ name }) => name)] }
}

function countDefinitions(entries: readonly CatalogEntry[]): number {
  return entries.reduce((sum, entry) => sum + toolTokens(getListing(entry), estimatedTokens), 0)
}

/** Some providers show added tools as parts of their source. */
function countSources(catalog: Catalog, entries: readonly CatalogEntry[]): number {
  const sources = new Set(
    entries.flatMap((entry) => {
      const group = getSourceGroup(catalog, entry)
      return group ? [`${group.name}: ${group.description}`] : []
    }),
  )
  return [...sources].reduce((sum, source) => sum + estimatedTokens.count(source), 0)
}

function formatPlan(catalog: Catalog, question: SearchQuestion, { added, signed, named }: Plan): SearchAnswer {
  const { detail, core } = question
  const lines = signed.map((entry) => formatHit(entry, detail, core?.has(entry) ?? false, catalog.sources.length > 1))
  const callable = `Callable now by name: ${added.map(({ name }) => name).join(', ')}.`
  return {
    text: [...formatRemarks(question), callable, ...lines, ...formatAlsoNear(named)].join('\n'),
    shown: [...added, ...signed],
  }
}
