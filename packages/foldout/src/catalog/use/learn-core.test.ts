import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCatalog, hybrid } from '../../entries/catalog.ts'
import { tool } from '../catalog.fixtures.ts'
import { learnCore, type LearnCoreOptions } from './learn-core.ts'
import { createCatalogRecorder, type CatalogRecording, type RecordedClient } from './recording.ts'

type Step =
  | { readonly search: readonly string[]; readonly tokens: number }
  | { readonly define: string; readonly tokens: number }
  | { readonly use: string; readonly wrapping?: number; readonly through?: string }

function client(...steps: readonly Step[]): RecordedClient {
  const at = steps.map((step, place) => ({ ...step, at: place }))
  return {
    id: 'c',
    lists: [],
    searches: at.flatMap((step) => ('search' in step ? [{ at: step.at, hits: step.search, tokens: step.tokens }] : [])),
    definitions: at.flatMap((step) =>
      'define' in step ? [{ at: step.at, name: step.define, tokens: step.tokens }] : [],
    ),
    uses: at.flatMap((step) =>
      'use' in step
        ? [
            {
              at: step.at,
              name: step.use,
              through: step.through ?? 'use_tool',
              ok: true,
              wrappingTokens: step.wrapping ?? 0,
            },
          ]
        : [],
    ),
  }
}

function recording(tools: Readonly<Record<string, number>>, ...clients: readonly RecordedClient[]): CatalogRecording {
  return { version: 1, tools: Object.entries(tools).map(([name, tokens]) => ({ name, tokens })), clients }
}

/** Learns from the small recordings of tests. */
const learn = (recorded: CatalogRecording, options: LearnCoreOptions = {}) =>
  learnCore(recorded, { minClients: 0, minUses: 0, ...options })

describe('R48 a learned core', () => {
  it('R48 contains the tools that saved more than they cost, and says how much', () => {
    const often = client({ search: ['a', 'b'], tokens: 300 }, { use: 'a', wrapping: 10 }, { use: 'a', wrapping: 10 })
    const once = client({ search: ['b'], tokens: 300 }, { use: 'b', wrapping: 10 })
    expect(learn(recording({ a: 100, b: 100 }, often, often, once))).toEqual({
      core: ['a'],
      // Twice 300 in 3 requests, 10 in 2 and 10 in 1; less 100 in each of the 11 requests.
      saved: { tokens: 2 * (900 + 20 + 10) - 1_100, roundTrips: 2 },
      of: { tokens: 2 * 930 + 610, roundTrips: 3, clients: 3, requests: 11, uses: 5 },
      tools: [
        { name: 'a', core: true, uses: 4, clients: 2, costs: 1_100, saves: { tokens: 1_860, roundTrips: 2 } },
        { name: 'b', core: false, uses: 1, clients: 1, costs: 1_100, saves: { tokens: 610, roundTrips: 1 } },
      ],
      isBest: true,
      evidence: { clients: 3, uses: 5, isEnough: true, summary: 'Learned from 5 uses by 3 clients.' },
    })
  })

  it('R48 needs more than one client and a few uses, and says how much it had', () => {
    const one = client({ search: ['a'], tokens: 300 }, { use: 'a', wrapping: 10 })
    expect(learnCore(recording({ a: 10 }, one))).toMatchObject({
      core: [],
      saved: { tokens: 0, roundTrips: 0 },
      isBest: false,
      evidence: {
        clients: 1,
        uses: 1,
        isEnough: false,
        summary: 'Too little to recommend a core: 1 use by 1 client. At least 10 uses by 3 clients are needed.',
      },
      // The observed uses are still reported.
      tools: [{ name: 'a', core: false, uses: 1 }],
    })
    const many = (count: number) => recording({ a: 10 }, ...Array.from({ length: count }, () => one))
    expect(learnCore(many(9)).evidence.isEnough).toBe(false)
    expect(learnCore(many(10))).toMatchObject({ core: ['a'], evidence: { isEnough: true, clients: 10 } })
    const alone = recording({ a: 10 }, client(...Array.from({ length: 50 }, () => ({ use: 'a' }))), client())
    expect(learnCore(alone)).toMatchObject({ core: [], evidence: { isEnough: false, clients: 1, uses: 50 } })
  })

  it('R48 contains tools that only save together', () => {
    const pair = client({ search: ['a', 'b', 'c'], tokens: 500 }, { use: 'a' }, { use: 'b' })
    const learned = learn(recording({ a: 150, b: 150 }, pair))
    expect(learned).toMatchObject({ core: ['a', 'b'], saved: { tokens: 1_500 - 2 * 600, roundTrips: 1 } })
    expect(learned.tools).toMatchObject([
      { name: 'a', saves: { tokens: 750, roundTrips: 0.5 }, costs: 600 },
      { name: 'b', saves: { tokens: 750, roundTrips: 0.5 }, costs: 600 },
    ])
    expect(learn(recording({ a: 150, b: 150 }, pair), { max: 1 })).toMatchObject({
      core: [],
      saved: { tokens: 0, roundTrips: 0 },
    })
  })

  it('R48 attributes to a use the last search before it that showed the tool', () => {
    const learned = learn(
      recording(
        { a: 1 },
        client(
          { search: ['a'], tokens: 100 },
          { search: ['a', 'b'], tokens: 10 },
          { use: 'a' },
          { search: [], tokens: 1_000 },
        ),
      ),
    )
    expect(learned.saved).toEqual({ tokens: 10 * 3 - 1 * 5, roundTrips: 1 })
    expect(learned.of).toMatchObject({ tokens: 400 + 30 + 1_000, roundTrips: 3 })
  })

  it('R48 counts definitions that were requested', () => {
    const learned = learn(
      recording(
        { a: 10 },
        client({ search: ['a'], tokens: 100 }, { define: 'a', tokens: 50 }, { use: 'a', through: 'direct' }),
      ),
    )
    expect(learned.saved).toEqual({ tokens: 300 + 100 - 40, roundTrips: 2 })
  })

  it('R48 assumes an average search for a tool that was already listed', () => {
    const listed = client({ use: 'a', through: 'direct' }, { use: 'a', through: 'direct' })
    const other = client({ search: ['b'], tokens: 200 }, { use: 'b', wrapping: 20 })
    expect(learn(recording({ a: 10, b: 999 }, listed, other))).toMatchObject({
      core: ['a'],
      saved: { tokens: 200 * 2 + 20 * 2 + 20 - 60, roundTrips: 1 },
    })
    expect(learn(recording({ a: 10 }, listed)).saved).toEqual({ tokens: 300 * 2 + 12 * 2 + 12 - 30, roundTrips: 1 })
  })

  it('R48 assumes the given length of conversations', () => {
    const short = client({ search: ['a'], tokens: 100 }, { use: 'a', wrapping: 10 })
    // Three requests spread over six: everything is sent twice as often.
    expect(learn(recording({ a: 10 }, short), { requestsPerClient: 6 })).toMatchObject({
      saved: { tokens: 2 * (200 + 10 - 30), roundTrips: 1 },
      of: { requests: 6 },
    })
    // Two conversations of two calls each.
    const endless = client({ search: ['a'], tokens: 100 }, { use: 'a' }, { search: ['a'], tokens: 100 }, { use: 'a' })
    expect(learn(recording({ a: 10 }, endless), { requestsPerClient: 3 })).toMatchObject({
      saved: { tokens: 2 * 200 - 60, roundTrips: 2 },
      of: { requests: 6 },
    })
  })

  it('R48 counts the list of tools once less for every request saved', () => {
    const listing = client({ search: ['a'], tokens: 100 }, { use: 'a' })
    const lists = [{ exposure: 'hybrid', tools: 2, tokens: 450 }]
    expect(learn(recording({ a: 200 }, listing)).core).toEqual([])
    expect(learn(recording({ a: 200 }, { ...listing, lists }))).toMatchObject({
      core: ['a'],
      saved: { tokens: 200 + 450 - 600, roundTrips: 1 },
    })
  })

  it('R48 accepts a price for round trips', () => {
    const once = recording({ a: 200 }, client({ search: ['a'], tokens: 100 }, { use: 'a' }))
    expect(learn(once).core).toEqual([])
    expect(learn(once, { roundTripTokens: 1_000 })).toMatchObject({
      core: ['a'],
      saved: { tokens: 200 - 600, roundTrips: 1 },
    })
  })

  it('R48 leaves out a tool whose definition was never seen, and its searches', () => {
    const both = client({ search: ['a', 'gone'], tokens: 900 }, { use: 'a' }, { use: 'gone' })
    expect(learn(recording({ a: 1 }, both))).toMatchObject({ core: [], tools: [{ name: 'a' }] })
  })

  it('R48 rejects impossible options', () => {
    expect(() => learn(recording({}), { max: 1.5 })).toThrow(
      'A core cannot have 1.5 tools. Set max to a non-negative integer.',
    )
    expect(() => learn(recording({}), { requestsPerClient: 1 })).toThrow(
      'A conversation of 1 requests has no calls. Set requestsPerClient to an integer of 2 or more.',
    )
    expect(learn(recording({}))).toMatchObject({ core: [], saved: { tokens: 0, roundTrips: 0 }, tools: [] })
  })

  it('R48 is learned from recorded use, and an exposure accepts it unchanged', async () => {
    const catalog = createCatalog([
      ...Array.from({ length: 50 }, (_, at) => tool(`other_thing_${at}`)),
      tool('water_garden', { source: 'home' }),
    ])
    const recorder = createCatalogRecorder(catalog)
    for (const id of ['a', 'b', 'c']) {
      const exposed = hybrid().expose(catalog, { id, takesListChanges: false })
      exposed.listed()
      await exposed.call('search_tools', { query: 'water the garden' }, {})
      await exposed.call('use_tool', { name: 'water_garden' }, {})
    }
    const { core, saved } = learn(recorder.recording(), { max: 3 })
    expect(core).toEqual(['home/water_garden'])
    expect(saved.roundTrips).toBe(3)
    const exposure = hybrid({ core })
    exposure.check!(catalog)
    expect(exposure.expose(catalog, { id: 'd', takesListChanges: false }).list()[0]!.name).toBe('water_garden')
  })

  const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
  const name = fc.constantFrom(...NAMES)
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ search: fc.uniqueArray(name, { maxLength: 4 }), tokens: fc.integer({ min: 50, max: 600 }) }),
    fc.record({ use: name, wrapping: fc.integer({ min: 0, max: 20 }), through: fc.constantFrom('use_tool', 'direct') }),
    fc.record({ use: name, wrapping: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ define: name, tokens: fc.integer({ min: 20, max: 300 }) }),
  )
  const recordings = fc
    .record({
      clients: fc.array(fc.array(step, { maxLength: 7 }), { maxLength: 6 }),
      tokens: fc.array(fc.integer({ min: 10, max: 400 }), { minLength: NAMES.length, maxLength: NAMES.length }),
    })
    .map(({ clients, tokens }) =>
      recording(
        Object.fromEntries(NAMES.map((each, at) => [each, tokens[at]!])),
        ...clients.map((steps) => client(...steps)),
      ),
    )

  it('R48 is the one that brute force finds', () => {
    fc.assert(
      fc.property(recordings, fc.integer({ min: 0, max: 4 }), (recorded, max) => {
        const learned = learn(recorded, { max })
        const used = NAMES.filter((each) => recorded.clients.some(({ uses }) => uses.some((use) => use.name === each)))
        const cores = Array.from({ length: 2 ** used.length }, (_, bits) =>
          used.filter((_each, at) => bits & (1 << at)),
        )
        const fitting = cores.filter((core) => core.length <= max)
        const best = Math.max(...fitting.map((core) => savedBy(recorded, new Set(core))))
        expect(learned.core.length).toBeLessThanOrEqual(max)
        expect(learned.saved.tokens).toBe(Math.round(savedBy(recorded, new Set(learned.core))))
        expect(learned.saved.tokens).toBe(Math.round(best))
        expect(learned.isBest).toBe(true)
        // What the tools of the core save and cost adds up to the whole.
        const parts = learned.tools.filter(({ core }) => core)
        const sum = parts.reduce((total, { saves, costs }) => total + saves.tokens - costs, 0)
        expect(Math.abs(sum - learned.saved.tokens)).toBeLessThanOrEqual(parts.length)
        // Without any one of them, it would save less.
        for (const { name: one } of parts) {
          const without = new Set(learned.core.filter((each) => each !== one))
          expect(savedBy(recorded, without)).toBeLessThan(savedBy(recorded, new Set(learned.core)))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('R48 is the same for the same recording, whatever the order of its clients', () => {
    fc.assert(
      fc.property(recordings, (recorded) => {
        const turned = { ...recorded, clients: recorded.clients.toReversed(), tools: recorded.tools.toReversed() }
        expect(learn(turned)).toEqual(learn(recorded))
      }),
    )
  })
})

/** The same model, computed in another way: the cost of each client's calls without a core, minus the cost with it. */
function savedBy({ clients, tools }: CatalogRecording, core: ReadonlySet<string>): number {
  const searches = clients.flatMap((each) => each.searches)
  const wrapped = clients.flatMap(({ uses }) => uses.filter(({ through }) => through !== 'direct'))
  const mean = (values: readonly number[], otherwise: number): number =>
    values.length > 0 ? Math.round(values.reduce((sum, value) => sum + value, 0) / values.length) : otherwise
  const meanSearch = mean(
    searches.map(({ tokens }) => tokens),
    300,
  )
  const meanWrapping = mean(
    wrapped.map(({ wrappingTokens }) => wrappingTokens),
    12,
  )
  const definitions = tools.filter(({ name }) => core.has(name)).reduce((sum, { tokens }) => sum + tokens, 0)
  let saved = 0
  for (const { searches: asked, definitions: defined, uses } of clients) {
    const calls = asked.length + defined.length + uses.length
    saved -= definitions * (calls + 1)
    const lastSearch = (use: (typeof uses)[number]) =>
      asked.findLast(({ at, hits }) => at < use.at && hits.includes(use.name))
    for (const search of asked) {
      const led = uses.filter((use) => lastSearch(use) === search)
      if (led.length > 0 && led.every((use) => core.has(use.name))) saved += search.tokens * (calls - search.at)
    }
    for (const { at, name, tokens } of defined) if (core.has(name)) saved += tokens * (calls - at)
    const known = new Set<string>()
    for (const use of uses) {
      const isFound = use.through !== 'direct' || lastSearch(use) !== undefined
      if (core.has(use.name)) {
        saved += (isFound ? use.wrappingTokens : meanWrapping) * (calls - use.at)
        if (!isFound && !known.has(use.name)) saved += meanSearch * (calls - use.at)
      }
      known.add(use.name)
    }
  }
  return saved
}
