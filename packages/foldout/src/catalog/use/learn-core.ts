import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { computeWorth, findBestSet, type Choices } from './best-set.ts'
import { getCalls, type CatalogRecording, type RecordedClient } from './recording.ts'

/**
 * Options of {@link learnCore}.
 *
 * @example
 * ```ts
 * const options: LearnCoreOptions = { max: 5, minClients: 20 }
 * const { core } = learnCore(createCatalogRecorder(catalog).recording(), options)
 * ```
 */
export interface LearnCoreOptions {
  /** How many tools the core may have. Default 8. */
  readonly max?: number
  /**
   * How many requests to the model a conversation has. A client with more calls than that counts as several conversations.
   * Default: each client has one conversation, with one request for each recorded call and a final one.
   */
  readonly requestsPerClient?: number
  /** How many tokens saving one round trip is worth to you. Default 0: only tokens count. */
  readonly roundTripTokens?: number
  /** With fewer clients than this, nothing is learned: one conversation says little about the next. Default 3. */
  readonly minClients?: number
  /** With fewer uses of tools than this, nothing is learned. Default 10. */
  readonly minUses?: number
}

/**
 * The evidence that a core was learned from.
 *
 * @example
 * ```ts
 * const { evidence } = learnCore(createCatalogRecorder(catalog).recording())
 * evidence.isEnough // => false
 * console.log(evidence.summary)
 * ```
 */
export interface CoreEvidence {
  /** How many clients used a tool. */
  readonly clients: number
  /** The total number of uses of tools. */
  readonly uses: number
  /** Whether that is enough to recommend a core. If it is not, the core is empty. */
  readonly isEnough: boolean
  /** A summary for people. */
  readonly summary: string
}

/**
 * The savings of a core. A token counts once for every request that sends it.
 *
 * @example
 * ```ts
 * const formatSaving = ({ tokens, roundTrips }: CoreSaving): string => `${tokens} tokens and ${roundTrips} round trips`
 * formatSaving({ tokens: 1200, roundTrips: 3 }) // => '1200 tokens and 3 round trips'
 * ```
 */
export interface CoreSaving {
  readonly tokens: number
  readonly roundTrips: number
}

/**
 * A learned core, and what it would have saved.
 *
 * @example
 * ```ts
 * const { core, saved, evidence }: LearnedCore = learnCore(createCatalogRecorder(catalog).recording())
 * if (evidence.isEnough) console.log(`List ${core.join(', ')} from the start to save ${saved.tokens} tokens.`)
 * ```
 */
export interface LearnedCore {
  /** Qualified names, for `hybrid({ core })`. The tool that saves most comes first. */
  readonly core: readonly string[]
  /** What it would have saved over the recorded clients, minus the cost of listing it. */
  readonly saved: CoreSaving
  /** What finding tools and calling them through meta tools cost without any core. */
  readonly of: CoreSaving & { readonly clients: number; readonly requests: number; readonly uses: number }
  /** Every tool that was used. The one that saves most comes first. */
  readonly tools: readonly LearnedTool[]
  /** Whether it is certain that no other core would have saved more over the recorded clients. */
  readonly isBest: boolean
  /** The evidence that it was learned from. */
  readonly evidence: CoreEvidence
}

/**
 * One tool that clients used, and the effect of listing it.
 *
 * @example
 * ```ts
 * const { tools } = learnCore(createCatalogRecorder(catalog).recording())
 * const format = ({ name, uses, costs }: LearnedTool): string => `${name}: used ${uses} times, costs ${costs} tokens`
 * console.log(tools.map(format).join('\n'))
 * ```
 */
export interface LearnedTool {
  readonly name: string
  readonly core: boolean
  readonly uses: number
  /** How many clients used it. */
  readonly clients: number
  /** How many tokens listing it costs over all requests. */
  readonly costs: number
  /** For a core tool, its share of the saving before that cost; for any other, what adding it to the core would save. */
  readonly saves: CoreSaving
}

/**
 * Assumptions if no client searched: the tokens of an answer with five hits, and the tokens that wrapping a call adds.
 */
const SEARCH_TOKENS = 300
const WRAPPING_TOKENS = 12

/**
 * Picks the core tools that would have saved most over recorded use, and says how much. The baseline is a catalog whose tools
 * are all hidden.
 *
 * Listing a tool costs its definition in every request. In each conversation it saves:
 * - The wrapping of its calls, in every request after the call.
 * - The definitions that the model requested: their tokens in every later request, and a round trip.
 * - The searches that found it: their tokens in every later request, and a round trip. A use belongs to the last
 *   search before it that showed the tool. A search is saved only if every tool that it led to is in the core, so two
 *   tools that are found together may be worth listing together although neither is on its own. A search that led to
 *   nothing is never saved.
 * - For a tool that was called without a search because it was already listed: a search of average size, and the wrapping.
 * - For each round trip, the list of tools, because one request fewer sends it.
 *
 * The estimate is conservative. One round trip fewer also saves sending the rest of the conversation again, which is
 * left out because it is not recorded. A tool that saves less than it costs is never picked, no matter how large `max`
 * is. With too few clients or uses, nothing is picked, and `evidence` says so.
 *
 * @example
 * const recorder = createCatalogRecorder(catalog)
 * const { core, evidence } = learnCore(recorder.recording(), { max: 5 })
 * if (evidence.isEnough) console.log(core)
 */
export function learnCore(recording: CatalogRecording, options: LearnCoreOptions = {}): LearnedCore {
  const { max = 8, roundTripTokens = 0 } = options
  checkOptions(options)
  const { savings, requests } = computeSavings(recording, options.requestsPerClient)
  const used = findUsedTools(recording, requests)
  const weigh = (unit: (saving: Saving) => number, costs: readonly number[]): Choices =>
    createChoices(used, savings, unit, costs)
  const costs = used.map((tool) => tool.cost)
  const inTokens = weigh(({ tokens }) => tokens, costs)
  const inRoundTrips = weigh(
    ({ roundTrips }) => roundTrips,
    used.map(() => 0),
  )
  const worth = weigh(({ tokens, roundTrips }) => tokens + roundTrips * roundTripTokens, costs)
  const evidence = weighEvidence(recording, options)
  const { chosen, isBest } = evidence.isEnough ? findBestSet(worth, max) : { chosen: [], isBest: false }
  const core = new Set(chosen)

  const tools = used.map(({ name, uses, clients, cost }, index): LearnedTool => ({
    name,
    core: core.has(index),
    uses,
    clients,
    costs: Math.round(cost),
    saves: {
      tokens: Math.round(computeSaved(inTokens, core, { index, cost })),
      roundTrips: computeSaved(inRoundTrips, core, { index, cost: 0 }),
    },
  }))
  tools.sort((a, b) => b.saves.tokens - b.costs - (a.saves.tokens - a.costs) || (a.name < b.name ? -1 : 1))
  return {
    core: tools.filter((tool) => tool.core).map(({ name }) => name),
    saved: { tokens: Math.round(computeWorth(inTokens, core)), roundTrips: computeWorth(inRoundTrips, core) },
    of: {
      tokens: Math.round(savings.reduce((sum, { tokens }) => sum + tokens, 0)),
      roundTrips: savings.reduce((sum, { roundTrips }) => sum + roundTrips, 0),
      clients: recording.clients.length,
      requests,
      uses: recording.clients.reduce((sum, { uses }) => sum + uses.length, 0),
    },
    tools,
    isBest,
    evidence,
  }
}

/** Computes the tokens that a core would have saved over recorded use. */
export function priceCore(recording: CatalogRecording, core: readonly string[], options: LearnCoreOptions): number {
  const { savings, requests } = computeSavings(recording, options.requestsPerClient)
  const tokensByName = new Map(recording.tools.map(({ name, tokens }) => [name, tokens]))
  const costs = core.map((name) => (tokensByName.get(name) ?? 0) * requests)
  const listed = core.map((name) => ({ name }))
  const choices = createChoices(listed, savings, ({ tokens }) => tokens, costs)
  return computeWorth(choices, new Set(core.keys()))
}

/** Computes what one tool saves, before its cost. */
function computeSaved(
  choices: Choices,
  core: ReadonlySet<number>,
  { index, cost }: { readonly index: number; readonly cost: number },
): number {
  if (!core.has(index)) return computeWorth(choices, new Set([...core, index])) - computeWorth(choices, core) + cost
  let saved = (choices.own[index] ?? 0) + cost
  for (const { members, worth } of choices.together)
    if (members.includes(index) && members.every((member) => core.has(member))) saved += worth / members.length
  return saved
}

const MIN_CLIENTS = 3
const MIN_USES = 10

function weighEvidence({ clients }: CatalogRecording, options: LearnCoreOptions): CoreEvidence {
  const { minClients = MIN_CLIENTS, minUses = MIN_USES, roundTripTokens } = options
  checkNumbers({ minClients, minUses, roundTripTokens }, { code: 'learn-core-options' })
  const counts = clients.map(({ uses }) => uses.length).filter((count) => count > 0)
  const uses = counts.reduce((sum, count) => sum + count, 0)
  const isEnough = counts.length >= minClients && uses >= minUses
  const had = `${uses} ${uses === 1 ? 'use' : 'uses'} by ${counts.length} ${counts.length === 1 ? 'client' : 'clients'}`
  const summary = isEnough
    ? `Learned from ${had}.`
    : `Too little to recommend a core: ${had}. At least ${minUses} uses by ${minClients} clients are needed.`
  return { clients: counts.length, uses, isEnough, summary }
}

/** The amount saved if all these tools are in the core. If there are no tools, it is never saved. */
interface Saving extends CoreSaving {
  readonly tools: readonly string[]
}

function createChoices(
  used: readonly Pick<UsedTool, 'name'>[],
  savings: readonly Saving[],
  unit: (saving: Saving) => number,
  costs: readonly number[],
): Choices {
  const indexByName = new Map(used.map(({ name }, index) => [name, index]))
  const own = costs.map((cost) => -cost)
  // Most searches lead to the same few sets of tools.
  const together = new Map<string, { members: readonly number[]; worth: number }>()
  for (const saving of savings) {
    const members = saving.tools.map((name) => indexByName.get(name)).filter((member) => member !== undefined)
    const [first] = members
    if (first === undefined || members.length < saving.tools.length) continue
    if (members.length === 1) own[first] = (own[first] ?? 0) + unit(saving)
    else {
      const key = members.toSorted((a, b) => a - b).join()
      together.set(key, { members, worth: (together.get(key)?.worth ?? 0) + unit(saving) })
    }
  }
  // Sorted, so rounding in the sums does not depend on the order of the recording.
  return { own, together: [...together].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each) }
}

/** A tool that clients used and that can be listed. */
interface UsedTool {
  readonly name: string
  readonly uses: number
  readonly clients: number
  /** How many tokens listing it costs over all requests. */
  readonly cost: number
}

/** Finds the tools that were used, by name. One that was removed before its cost was known cannot be listed and is left out. */
function findUsedTools({ tools, clients }: CatalogRecording, requests: number): readonly UsedTool[] {
  const found = new Map<string, { uses: number; clients: number }>()
  for (const client of clients) {
    const seen = new Set<string>()
    for (const { name } of client.uses) {
      const { uses, clients: before } = found.get(name) ?? { uses: 0, clients: 0 }
      found.set(name, { uses: uses + 1, clients: seen.has(name) ? before : before + 1 })
      seen.add(name)
    }
  }
  const definitionTokens = new Map(tools.map(({ name, tokens }) => [name, tokens]))
  const used: UsedTool[] = []
  for (const [name, counts] of found) {
    const tokens = definitionTokens.get(name)
    if (tokens !== undefined) used.push({ name, ...counts, cost: tokens * requests })
  }
  return used.sort((a, b) => (a.name < b.name ? -1 : 1))
}

interface Savings {
  readonly savings: readonly Saving[]
  /** How many requests all clients made to the model. */
  readonly requests: number
}

function computeSavings({ clients }: CatalogRecording, requestsPerClient: number | undefined): Savings {
  const searchTokens = mean(clients.flatMap(({ searches }) => searches.map(({ tokens }) => tokens))) ?? SEARCH_TOKENS
  const wrapped = clients.flatMap(({ uses }) => uses.filter(({ through }) => through !== 'direct'))
  const wrappingTokens = mean(wrapped.map((use) => use.wrappingTokens)) ?? WRAPPING_TOKENS
  // One request fewer sends the list of tools one time fewer.
  const listTokens = mean(clients.flatMap(({ lists }) => lists.map(({ tokens }) => tokens))) ?? 0
  const all: Saving[] = []
  let requests = 0
  for (const client of clients) {
    const timing = getTiming(getCalls(client), requestsPerClient)
    requests += timing.requests
    for (const saving of computeClientSavings(client, { searchTokens, wrappingTokens }, timing.later))
      all.push({ ...saving, tokens: saving.tokens + saving.roundTrips * listTokens })
  }
  return { savings: all, requests }
}

function computeClientSavings(
  client: RecordedClient,
  means: { readonly searchTokens: number; readonly wrappingTokens: number },
  later: (place: number) => number,
): Saving[] {
  const { definitions } = client
  const searches = client.searches.toSorted((a, b) => a.at - b.at)
  const places = [...searches, ...definitions, ...client.uses].map(({ at }) => at).sort((a, b) => a - b)
  const placeByAt = new Map(places.map((at, place) => [at, place]))
  const countSent = (at: number, tokens: number): number => tokens * later(placeByAt.get(at) ?? 0)
  /** The tools that each search led to. */
  const outcomes = searches.map((search) => ({ search, tools: new Set<string>() }))
  const lastByHit = new Map<string, Set<string>>()
  const found = new Set<string>()
  const savings: Saving[] = []
  let next = 0
  for (const { at, name, through, wrappingTokens } of client.uses.toSorted((a, b) => a.at - b.at)) {
    for (let outcome = outcomes[next]; outcome && outcome.search.at < at; outcome = outcomes[++next])
      for (const hit of outcome.search.hits) lastByHit.set(hit, outcome.tools)
    const ledTo = lastByHit.get(name)
    ledTo?.add(name)
    const isListed = through === 'direct' && !ledTo
    savings.push({
      tools: [name],
      tokens: countSent(at, isListed ? means.wrappingTokens : Math.max(0, wrappingTokens)),
      roundTrips: 0,
    })
    if (isListed && !found.has(name))
      savings.push({ tools: [name], tokens: countSent(at, means.searchTokens), roundTrips: 1 })
    found.add(name)
  }
  for (const { at, name, tokens } of definitions)
    savings.push({ tools: [name], tokens: countSent(at, tokens), roundTrips: 1 })
  for (const { search, tools } of outcomes)
    savings.push({ tools: [...tools], tokens: countSent(search.at, search.tokens), roundTrips: 1 })
  return savings
}

interface Timing {
  readonly requests: number
  /** How many requests send a call and its answer, by the call's place. */
  readonly later: (place: number) => number
}

function getTiming(calls: number, requestsPerClient: number | undefined): Timing {
  if (requestsPerClient === undefined) return { requests: calls + 1, later: (place) => calls - place }
  const most = requestsPerClient - 1
  const conversations = Math.max(1, Math.ceil(calls / most))
  return {
    requests: conversations * requestsPerClient,
    later(place) {
      const start = Math.floor(place / most) * most
      const length = Math.min(most, calls - start)
      // If a conversation has fewer calls than requests, they are spread evenly.
      return ((length - (place - start)) * requestsPerClient) / (length + 1)
    },
  }
}

function mean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)
}

function checkOptions({ max = 0, requestsPerClient = 2 }: LearnCoreOptions): void {
  if (!(Number.isInteger(max) && max >= 0))
    throw new FoldoutError('learn-core-options', `A core cannot have ${max} tools. Set max to a non-negative integer.`)
  if (!(Number.isInteger(requestsPerClient) && requestsPerClient >= 2))
    throw new FoldoutError(
      'learn-core-options',
      `A conversation of ${requestsPerClient} requests has no calls. Set requestsPerClient to an integer of 2 or more.`,
    )
}
