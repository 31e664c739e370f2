import { FoldoutError } from '../../core/errors.ts'
import { bestSet, computeWorth, type Choices } from './best-set.ts'
import { getCalls, type CatalogRecording, type RecordedClient } from './recording.ts'

/** What a core is learned by. */
export interface LearnCoreOptions {
  /** How many tools the core may have. Default 8. */
  readonly max?: number
  /**
   * How many requests to the model a conversation has. A client with more calls than fit counts as several conversations.
   * Default: each client has one conversation, of one request for each recorded call and a last one.
   */
  readonly requestsPerClient?: number
  /** How many tokens you would give to save the time of one round trip. Default 0: tokens decide. */
  readonly roundTripTokens?: number
  /** From fewer clients than this nothing is learned: what one conversation did says little of the next. Default 3. */
  readonly minClients?: number
  /** From fewer uses of tools than this nothing is learned. Default 10. */
  readonly minUses?: number
}

/** What a core was learned from. */
export interface CoreEvidence {
  /** Clients that used a tool. */
  readonly clients: number
  /** Uses of tools, by all of them. */
  readonly uses: number
  /** Whether that is enough to advise a core. Without it the core is empty. */
  readonly isEnough: boolean
  /** The same in words, for a person. */
  readonly summary: string
}

/** Tokens are as sent, and each is counted in every request that it is part of. */
export interface CoreSaving {
  readonly tokens: number
  readonly roundTrips: number
}

/** A core that was learned, and what it would have saved. */
export interface LearnedCore {
  /** Qualified names, for `hybrid({ core })`; that which saves most is first. */
  readonly core: readonly string[]
  /** What it would have saved over the recorded clients, the cost of listing it taken off. */
  readonly saved: CoreSaving
  /** What finding and wrapping cost without any core. */
  readonly of: CoreSaving & { readonly clients: number; readonly requests: number; readonly uses: number }
  /** Each tool that was used; that which saves most is first. */
  readonly tools: readonly LearnedTool[]
  /** Whether it is certain that no other core would have saved more over the recorded clients. */
  readonly isBest: boolean
  /** How much it was learned from. */
  readonly evidence: CoreEvidence
}

/** One tool that clients used, and what listing it would mean. */
export interface LearnedTool {
  readonly name: string
  readonly core: boolean
  readonly uses: number
  /** In how many clients it was used. */
  readonly clients: number
  /** What listing it costs, over all requests. */
  readonly costs: number
  /** In the core: its share of what is saved, before that cost. Outside: what it would save beside the core. */
  readonly saves: CoreSaving
}

/** Where no client searched: what an answer of five hits and what the wrapping of a call cost. */
const SEARCH_TOKENS = 300
const WRAPPING_TOKENS = 12

/**
 * Picks the core set that would have saved most over recorded use, and says how much. What it compares with is a catalog
 * whose tools are all hidden.
 *
 * The model: listing a tool costs its definition in every request. It saves, in each conversation, what follows.
 * - The wrapping of its calls, in every request after the call.
 * - Its definitions that were asked for: their tokens in every later request, and a round trip.
 * - The searches that it was found with: their tokens in every later request, and a round trip. A use belongs to the last
 *   search before it that showed the tool, and a search is saved only if all it led to is in the core; so two tools that are
 *   found together may be worth listing together, though neither is by itself. A search that led to nothing is never saved.
 * - A tool that was called without being found, as it was listed already, would have taken a search of the mean size, and a
 *   wrapping.
 * - For each round trip, the list of tools, which a request less sends once less.
 *
 * It is careful: that a round trip less also saves sending the rest of the conversation once more is left out, for the
 * recording does not know it. A tool that saves less than it costs is never picked, however large `max` is; and from too few
 * clients or uses nothing is, which `evidence` says.
 *
 * @example
 * const recorder = createCatalogRecorder(catalog)
 * const { core, evidence } = learnCore(recorder.recording(), { max: 5 })
 * if (evidence.isEnough) console.log(core)
 */
export function learnCore(recording: CatalogRecording, options: LearnCoreOptions = {}): LearnedCore {
  const { max = 8, roundTripTokens = 0 } = options
  checkOptions(options)
  const { savings, requests } = savingsIn(recording, options.requestsPerClient)
  const uses = usesIn(recording)
  const definitionTokens = new Map(recording.tools.map(({ name, tokens }) => [name, tokens]))
  // One that had gone before its cost was known cannot be listed either.
  const names = [...uses.keys()].filter((name) => definitionTokens.has(name)).sort()
  const costs = names.map((name) => definitionTokens.get(name)! * requests)
  const worthIn = (unit: (saving: Saving) => number, costIn: readonly number[]): Choices =>
    getChoices(names, savings, unit, costIn)
  const inTokens = worthIn(({ tokens }) => tokens, costs)
  const inRoundTrips = worthIn(
    ({ roundTrips }) => roundTrips,
    names.map(() => 0),
  )
  const worth = worthIn(({ tokens, roundTrips }) => tokens + roundTrips * roundTripTokens, costs)
  const evidence = weighEvidence(recording, options)
  const { chosen, isBest } = evidence.isEnough ? bestSet(worth, max) : { chosen: [], isBest: false }
  const core = new Set(chosen)

  const tools = names.map((name, index): LearnedTool => {
    const isCore = core.has(index)
    const saves = (choices: Choices, cost: number): number => {
      if (!isCore) return computeWorth(choices, new Set([...core, index])) - computeWorth(choices, core) + cost
      const had = choices.together.filter(({ members }) => members.every((member) => core.has(member)))
      const shared = had.filter(({ members }) => members.includes(index))
      return shared.reduce((sum, { members, worth: whole }) => sum + whole / members.length, choices.own[index]! + cost)
    }
    return {
      name,
      core: isCore,
      ...uses.get(name)!,
      costs: Math.round(costs[index]!),
      saves: { tokens: Math.round(saves(inTokens, costs[index]!)), roundTrips: saves(inRoundTrips, 0) },
    }
  })
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

const MIN_CLIENTS = 3
const MIN_USES = 10

function weighEvidence({ clients }: CatalogRecording, options: LearnCoreOptions): CoreEvidence {
  const { minClients = MIN_CLIENTS, minUses = MIN_USES } = options
  const counts = clients.map(({ uses }) => uses.length).filter((count) => count > 0)
  const uses = counts.reduce((sum, count) => sum + count, 0)
  const isEnough = counts.length >= minClients && uses >= minUses
  const had = `${uses} ${uses === 1 ? 'use' : 'uses'} by ${counts.length} ${counts.length === 1 ? 'client' : 'clients'}`
  const summary = isEnough
    ? `Learned from ${had}.`
    : `Too little to advise a core: ${had}. At least ${minUses} uses by ${minClients} clients are needed.`
  return { clients: counts.length, uses, isEnough, summary }
}

/** What is saved if all these tools are in the core; nothing if there are none. */
interface Saving extends CoreSaving {
  readonly tools: readonly string[]
}

function getChoices(
  names: readonly string[],
  savings: readonly Saving[],
  unit: (saving: Saving) => number,
  costs: readonly number[],
): Choices {
  const indexOf = new Map(names.map((name, index) => [name, index]))
  const own = costs.map((cost) => -cost)
  // Most searches lead to the same few sets of tools.
  const together = new Map<string, { members: readonly number[]; worth: number }>()
  for (const saving of savings) {
    const members = saving.tools.map((name) => indexOf.get(name))
    if (members.length === 0 || !members.every((member) => member !== undefined)) continue
    const [first] = members
    if (members.length === 1) own[first!]! += unit(saving)
    else {
      const key = members.toSorted((a, b) => a - b).join()
      together.set(key, { members, worth: (together.get(key)?.worth ?? 0) + unit(saving) })
    }
  }
  // In an order of its own, so that sums do not depend on that of the recording.
  return { own, together: [...together].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each) }
}

function usesIn({ clients }: CatalogRecording): Map<string, { readonly uses: number; readonly clients: number }> {
  const found = new Map<string, { uses: number; clients: number }>()
  for (const client of clients) {
    for (const name of new Set(client.uses.map((use) => use.name))) {
      const before = found.get(name) ?? { uses: 0, clients: 0 }
      const uses = client.uses.filter((use) => use.name === name).length
      found.set(name, { uses: before.uses + uses, clients: before.clients + 1 })
    }
  }
  return found
}

interface Savings {
  readonly savings: readonly Saving[]
  /** How many requests to the model were made in all. */
  readonly requests: number
}

function savingsIn({ clients }: CatalogRecording, requestsPerClient: number | undefined): Savings {
  const searchTokens = mean(clients.flatMap(({ searches }) => searches.map(({ tokens }) => tokens))) ?? SEARCH_TOKENS
  const wrapped = clients.flatMap(({ uses }) => uses.filter(({ through }) => through !== 'direct'))
  const wrappingTokens = mean(wrapped.map((use) => use.wrappingTokens)) ?? WRAPPING_TOKENS
  // A request less sends the list once less.
  const listTokens = mean(clients.flatMap(({ lists }) => lists.map(({ tokens }) => tokens))) ?? 0
  const all: Saving[] = []
  let requests = 0
  for (const client of clients) {
    const timing = getTiming(getCalls(client), requestsPerClient)
    requests += timing.requests
    for (const saving of clientSavings(client, { searchTokens, wrappingTokens }, timing.later))
      all.push({ ...saving, tokens: saving.tokens + saving.roundTrips * listTokens })
  }
  return { savings: all, requests }
}

function clientSavings(
  client: RecordedClient,
  means: { readonly searchTokens: number; readonly wrappingTokens: number },
  later: (place: number) => number,
): Saving[] {
  const { searches, definitions } = client
  const places = [...searches, ...definitions, ...client.uses].map(({ at }) => at).sort((a, b) => a - b)
  const getPlace = new Map(places.map((at, place) => [at, place]))
  const sent = (at: number, tokens: number): number => tokens * later(getPlace.get(at)!)
  const ledTo = new Map(searches.map((search) => [search, new Set<string>()]))
  const found = new Set<string>()
  const savings: Saving[] = []
  for (const { at, name, through, wrappingTokens } of client.uses.toSorted((a, b) => a.at - b.at)) {
    const search = searches.filter((each) => each.at < at && each.hits.includes(name)).sort((a, b) => b.at - a.at)[0]
    if (search) ledTo.get(search)!.add(name)
    const isListed = through === 'direct' && !search
    savings.push({
      tools: [name],
      tokens: sent(at, isListed ? means.wrappingTokens : Math.max(0, wrappingTokens)),
      roundTrips: 0,
    })
    if (isListed && !found.has(name))
      savings.push({ tools: [name], tokens: sent(at, means.searchTokens), roundTrips: 1 })
    found.add(name)
  }
  for (const { at, name, tokens } of definitions)
    savings.push({ tools: [name], tokens: sent(at, tokens), roundTrips: 1 })
  for (const [{ at, tokens }, tools] of ledTo)
    savings.push({ tools: [...tools], tokens: sent(at, tokens), roundTrips: 1 })
  return savings
}

interface Timing {
  readonly requests: number
  /** In how many requests a call and its answer are sent, by the call's place. */
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
      // A conversation with fewer calls than requests has them spread evenly.
      return ((length - (place - start)) * requestsPerClient) / (length + 1)
    },
  }
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)
}

function checkOptions({ max = 0, requestsPerClient = 2 }: LearnCoreOptions): void {
  if (!(Number.isInteger(max) && max >= 0))
    throw new FoldoutError('learn-core-options', `A core of ${max} tools cannot be. Give max a whole number from 0.`)
  if (!(Number.isInteger(requestsPerClient) && requestsPerClient >= 2))
    throw new FoldoutError(
      'learn-core-options',
      `A conversation of ${requestsPerClient} requests has no calls. Give requestsPerClient a whole number from 2.`,
    )
}
