import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Explanation, Searchable, SearchIndex, SearchIndexOptions, SearchOutcome } from '../contract.ts'
import { createSearchIndex } from './search-index.ts'
import { HOUSEHOLD, toolNamed } from '../tools.fixtures.ts'

function indexOf(tools: readonly Searchable[], options: SearchIndexOptions = {}): SearchIndex {
  const index = createSearchIndex(options)
  for (const tool of tools) index.add(tool)
  return index
}

const namesIn = ({ hits }: SearchOutcome) => hits.map(({ tool }) => tool.qualified)

async function find(query: string, options: Parameters<SearchIndex['search']>[1] = {}): Promise<string[]> {
  return namesIn(await indexOf(HOUSEHOLD).search(query, options))
}

/** The complete outcome of a search, as text. */
function told({ hits, ...rest }: SearchOutcome): string {
  return JSON.stringify({ ...rest, hits: hits.map((hit) => ({ ...hit, explained: hit.explain() })) })
}

describe('ranking', () => {
  it.each([
    ['weather in Paris tomorrow', 'weather/get_weather_forecast'],
    ['WEATHER', 'weather/get_weather_forecast'],
    ['planes between airports', 'travel/search_flights'],
    ['heating', 'home/set_thermostat'],
    ['vacation mode', 'home/set_thermostat'],
    ['mail', 'mail/send_email'],
  ])('R45 finds the tool for "%s", whichever field has the words', async (query, first) => {
    expect((await find(query))[0]).toBe(first)
  })

  it('R45 finds a tool by any word, not only by all of them', async () => {
    expect(await find('a gigantic umbrella against rain')).toContain('weather/get_weather_forecast')
  })

  it.each([
    ['remove the lamp from my room', 'home/light_delete'],
    ['I want to put a new lamp into my room', 'home/light_create'],
    ['show me the lamp', 'home/light_get'],
  ])('R45 tells siblings apart by what they do: "%s"', async (query, first) => {
    expect((await find(query))[0]).toBe(first)
  })

  it('R45 takes a word that tells nothing for a name, if the query has no other', async () => {
    const index = indexOf([toolNamed('other'), toolNamed('send_mail')])
    expect(await index.search('Other thing')).toMatchObject({ fit: 'good', hits: [{ tool: { name: 'other' } }] })
    expect(namesIn(await index.search('some other mail'))[0]).toBe('send_mail')
  })

  it('R45 forgives a slip in a word that matches nothing', async () => {
    expect((await find('thermostta'))[0]).toBe('home/set_thermostat')
    expect((await find('wether forcast'))[0]).toBe('weather/get_weather_forecast')
  })

  it('R45 does not take one known word for another', async () => {
    const index = indexOf([toolNamed('read_book'), toolNamed('read_boot')], { embed: false })
    expect(namesIn(await index.search('boot'))).toEqual(['read_boot'])
  })

  it('R45 finds tools by meaning that share no word', async () => {
    expect((await find('airplane trip'))[0]).toMatch(/^travel\//)
  })

  it('R45 returns at most the requested number of hits and gives the next five', async () => {
    const lamps = Array.from({ length: 9 }, (_, i) => toolNamed(`lamp_${'abcdefghi'[i]!}`))
    const { hits, alsoNear } = await indexOf(lamps).search('lamp', { limit: 2 })
    const { hits: first } = await indexOf(lamps).search('lamp', { limit: 7 })
    expect([...hits.map(({ tool }) => tool), ...alsoNear]).toEqual(first.map(({ tool }) => tool))
    expect([hits.length, alsoNear.length]).toEqual([2, 5])
    expect((await indexOf(lamps).search('lamp')).hits).toHaveLength(5)
  })

  it.each([0, -1, 1.5, NaN, Infinity])('R45 accepts %d as a limit', async (limit) => {
    const { hits } = await indexOf(HOUSEHOLD).search('lamp', { limit })
    expect(hits.length).toBeLessThanOrEqual(HOUSEHOLD.length)
  })

  it('R45 puts tools of equal score in the order of their names', async () => {
    const tools = ['c', 'a', 'b'].map((source) => toolNamed('lamp', { source, name: `lamp_${source}` }))
    const found = await indexOf(tools, { embed: false }).search('lamp')
    expect(found.hits.map(({ tool }) => tool.source)).toEqual(['a', 'b', 'c'])
  })

  it.each([
    ['book a flight and tell me the weather', ['book a flight', 'tell me the weather']],
    [
      'I am going to Rome with my family. Please book a flight, then show me the weather forecast.',
      ['I am going to Rome with my family. Please book a flight', 'show me the weather forecast.'],
    ],
  ])('R45 answers a request of several parts with tools for each: "%s"', async (query, expected) => {
    const { hits, parts } = await indexOf(HOUSEHOLD).search(query, { limit: 2 })
    expect(parts).toEqual(expected)
    expect(new Map(hits.map(({ tool, part }) => [tool.qualified, part]))).toEqual(
      new Map([
        ['travel/book_flight', 0],
        ['weather/get_weather_forecast', 1],
      ]),
    )
  })

  it('R45 gives each of several steps a tool, and says for which there is none', async () => {
    const mails = Array.from({ length: 8 }, (_, i) =>
      toolNamed(`send_mail_${i}`, { source: 'mail', description: 'Sends a mail with a report to a person' }),
    )
    const others = [
      toolNamed('create_event', { source: 'calendar', description: 'Creates an event in the calendar' }),
      toolNamed('read_file', { source: 'files', description: 'Reads a file from the disk' }),
    ]
    const query = 'send a mail with the report to Ada, create an event in the calendar, and bake a chocolate cake'
    const { hits, unanswered, parts } = await indexOf([...mails, ...others]).search(query)
    expect(parts).toHaveLength(3)
    expect(hits).toHaveLength(5)
    expect(namesIn({ hits } as SearchOutcome)).toContain('calendar/create_event')
    expect(unanswered).toEqual(['bake a chocolate cake'])
    expect((await indexOf(mails).search('send a mail')).unanswered).toEqual([])
  })

  it.each(['lamps that are red and blue', 'search and replace', 'send a message, please', 'weather'])(
    'R45 leaves a request of one part whole: "%s"',
    async (query) => {
      expect((await indexOf(HOUSEHOLD).search(query)).parts).toEqual([query])
    },
  )
})

describe('names', () => {
  it.each([
    'get_weather_forecast',
    'GetWeatherForecast',
    'weather/get_weather_forecast',
    'get weather forecast',
    'Please call get_weather_forecast for the flight that I booked: flight, flights, planes',
    'use `get_weather_forecast` to book flights',
  ])('R45 puts a tool that is named first: "%s"', async (query) => {
    expect((await find(query))[0]).toBe('weather/get_weather_forecast')
  })

  it('R45 puts all tools first that share a name across sources', async () => {
    const index = indexOf([...HOUSEHOLD, toolNamed('book_flight', { source: 'agency' })])
    const first = namesIn(await index.search('book_flight, but first search flights')).slice(0, 2)
    expect(first.sort()).toEqual(['agency/book_flight', 'travel/book_flight'])
  })

  it('R45 treats a plain word in a request as a word, and a quoted one as a name', async () => {
    const index = indexOf([toolNamed('search', { description: 'Looks something up' }), ...HOUSEHOLD])
    expect(namesIn(await index.search('search for a lamp in a room'))[0]).not.toBe('search')
    expect(namesIn(await index.search('use "search" for a lamp in a room'))[0]).toBe('search')
  })

  it('R45 forgets the name of a removed tool, even if another takes its slot', async () => {
    const index = indexOf([toolNamed('lamp_get')])
    index.remove('lamp_get')
    index.add(toolNamed('room_get', { description: 'The lamp of a room' }))
    expect((await index.explain('lamp_get', 'room_get'))!.named).toBe(false)
  })

  it('R45 puts a named tool first always', async () => {
    const word = fc.constantFrom('lamp', 'get', 'flight', 'weather', 'the', 'search', 'user', 'book', 'x', '天気')
    const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('_'))
    const tools = fc.uniqueArray(
      fc.tuple(
        name,
        fc.array(word).map((words) => words.join(' ')),
      ),
      {
        selector: ([name]) => name.replaceAll('_', ''),
        minLength: 1,
        maxLength: 12,
      },
    )
    await fc.assert(
      fc.asyncProperty(tools, fc.nat(), async (tools, pick) => {
        const index = indexOf(tools.map(([name, description]) => toolNamed(name, { description })))
        const [wanted] = tools[pick % tools.length]!
        expect(namesIn(await index.search(wanted))[0]).toBe(wanted)
        expect(namesIn(await index.search(wanted.toUpperCase()))[0]).toBe(wanted)
        expect(namesIn(await index.search(`lamp flight \`${wanted}\` weather`))[0]).toBe(wanted)
      }),
      { numRuns: 60 },
    )
  })
})

describe('category', () => {
  it('R45 looks only at tools of a category or source, whatever its case', async () => {
    expect(await find('lamp', { category: 'lamps' })).toHaveLength(3)
    expect((await find('message', { category: 'HOME' })).every((name) => name.startsWith('home/'))).toBe(true)
    expect(await find('lamp', { category: 'nothing of the kind' })).toEqual([])
  })
})

describe('nothing fits', () => {
  it.each(['xyzzy plugh', '??', '🙂'])('R45 finds nothing near "%s"', async (query) => {
    const outcome = await indexOf(HOUSEHOLD).search(query)
    expect(outcome).toMatchObject({ hits: [], fit: 'none', alsoNear: [] })
  })

  it('R45 offers all of its best hits as guesses if nothing fits well', async () => {
    const index = indexOf(HOUSEHOLD)
    const foreign = 'quarterly tax statement of a Norwegian shipping company'
    const { hits, fit, nearestCategories } = await index.search(foreign)
    expect(fit).toBe('weak')
    expect(hits.length).toBeGreaterThanOrEqual(4)
    expect(nearestCategories.length).toBeGreaterThan(0)
    for (const category of nearestCategories) {
      expect(HOUSEHOLD.map((tool) => tool.category ?? tool.source)).toContain(category)
    }
    expect((await index.search(foreign, { limit: 1 })).hits.map(({ tool }) => tool)).toEqual([hits[0]!.tool])
    expect((await index.search('weather forecast for a city')).fit).toBe('good')
  })

  it('R45 shows as many hits as asked for, however well the first one fits', async () => {
    const reports = ['sales', 'stock', 'staff', 'tax'].map((what) =>
      toolNamed(`weekly_${what}_report`, {
        description: `Sums up ${what} of a week and sends it to the owners by email`,
      }),
    )
    const mail = toolNamed('send_email', { description: 'Sends an email to someone' })
    const { hits } = await indexOf([...reports, mail]).search('send an email')
    expect([hits[0]?.tool.name, hits.length]).toEqual(['send_email', 5])
  })

  it('R45 doubts a request most of whose words no tool has, without vectors', async () => {
    const index = indexOf(HOUSEHOLD, { embed: false })
    expect((await index.search('sing opera arias to rows of tulips in the city')).fit).not.toBe('good')
    expect((await index.search('the forecast of rain in the city')).fit).toBe('good')
  })

  it('R45 is surer of what fits than of what does not', async () => {
    const index = indexOf(HOUSEHOLD)
    const sure = await index.search('weather forecast for a city')
    const unsure = await index.search('quarterly tax statement of a Norwegian shipping company')
    expect(sure.confidence).toBeGreaterThan(unsure.confidence)
    expect(sure.confidence).toBeLessThanOrEqual(1)
    expect(unsure.confidence).toBeGreaterThanOrEqual(0)
    expect((await index.search('light_get')).confidence).toBe(1)
  })

  it('R45 rejects an empty query', async () => {
    await expect(indexOf(HOUSEHOLD).search('  ')).rejects.toMatchObject({
      code: 'search-empty',
      message: 'A search needs words: say what you want to do, or name a tool.',
    })
  })

  it('R45 finds nothing among no tools', async () => {
    const { hits, confidence } = await indexOf([]).search('lamp')
    expect([hits, confidence]).toEqual([[], 0])
  })
})

describe('explanations', () => {
  it('R45 says which words were found where, and how', async () => {
    const { hits } = await indexOf(HOUSEHOLD, { embed: false }).search('delte the lamps')
    const explained = hits[0]!.explain()
    expect(hits[0]!.tool.qualified).toBe('home/light_delete')
    expect(explained.words.map(({ word, matched, fields, how }) => ({ word, matched, fields, how }))).toEqual([
      { word: 'delte', matched: 'delete', fields: ['name'], how: 'spelling' },
      { word: 'lamps', matched: 'lamp', fields: ['description', 'category'], how: 'stem' },
    ])
    expect(explained).toMatchObject({ meaning: 0, named: false })
    expect(explained.score).toBeCloseTo(hits[0]!.score, 9)
  })

  it('R45 says that another word for the same action was found', async () => {
    const explained = await indexOf(HOUSEHOLD).explain('remove the lamp', 'home/light_delete')
    expect(explained!.words).toContainEqual({
      word: 'remove',
      matched: 'delete',
      fields: ['name'],
      how: 'action',
      score: expect.any(Number) as number,
    })
  })

  it('R45 says which word of a tool means nearly the same', async () => {
    const index = indexOf([toolNamed('list_directory', { description: 'All files in it' }), ...HOUSEHOLD])
    const { hits } = await index.search('what is in this folder')
    expect(hits[0]!.tool.name).toBe('list_directory')
    expect(hits[0]!.explain().words).toContainEqual({
      word: 'folder',
      matched: 'directory',
      fields: ['name'],
      how: 'meaning',
      score: expect.any(Number) as number,
    })
  })

  it('R45 explains a tool that was not found', async () => {
    const index = indexOf(HOUSEHOLD, { embed: false })
    expect(await index.explain('lamp', 'mail/send_email')).toEqual({ score: 0, words: [], meaning: 0, named: false })
    expect(await index.explain('lamp', 'no/such_tool')).toBeUndefined()
  })

  it('R45 explains a hit though its tool was removed meanwhile', async () => {
    const index = indexOf(HOUSEHOLD)
    const { hits } = await index.search('lamp')
    const before = hits.map((hit) => hit.explain())
    for (const tool of HOUSEHOLD) index.remove(tool.qualified)
    index.add(toolNamed('something_else', { description: 'entirely' }))
    expect(hits.map((hit) => hit.explain())).toEqual(before)
  })
})

const word = fc.constantFrom(
  'lamp',
  'lamps',
  'get',
  'delete',
  'flight',
  'weather',
  'room',
  'users',
  'and',
  'remove',
  'wether',
)
const words = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '))
const anyTool = fc
  .record({
    name: fc.array(word, { minLength: 1, maxLength: 3 }),
    description: words,
    source: fc.constantFrom('a', 'b'),
  })
  .map(({ name, description, source }) => toolNamed(name.join('_'), { description, source }))
const anyTools = fc.uniqueArray(anyTool, { selector: ({ qualified }) => qualified, maxLength: 12 })
const anyQuery = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 8 }), fc.constantFrom(' ', ' ', '_'))
  .map(([words, between]) => words.join(between))

const sum = (explained: Explanation) =>
  explained.words.reduce((sum, { score }) => sum + score, explained.meaning + (explained.named ? 10 : 0))

describe('index', () => {
  it('R49 gives the same bytes whatever the order in which tools were added', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyTools.chain((tools) =>
          fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length })),
        ),
        anyQuery,
        async ([tools, shuffled], query) => {
          expect(told(await indexOf(shuffled).search(query))).toBe(told(await indexOf(tools).search(query)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('R45 behaves after removals as if built from the remaining tools', async () => {
    const change = fc.tuple(anyTool, fc.boolean())
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), anyQuery, async (changes, query) => {
        const index = indexOf([])
        const left = new Map<string, Searchable>()
        for (const [tool, isAdded] of changes) {
          const wasThere = left.has(tool.qualified)
          const removed = isAdded ? wasThere : index.remove(tool.qualified)
          expect(removed).toBe(wasThere)
          if (isAdded) index.add(tool)
          if (isAdded) left.set(tool.qualified, tool)
          else left.delete(tool.qualified)
          if (changes.length % 3 === 0) await index.search(query)
        }
        expect(index.size).toBe(left.size)
        expect(told(await index.search(query))).toBe(told(await indexOf([...left.values()]).search(query)))
      }),
      { numRuns: 60 },
    )
  })

  it('R45 explains for every hit a score above zero, which is the sum of what is explained', async () => {
    await fc.assert(
      fc.asyncProperty(anyTools, anyQuery, async (tools, query) => {
        const index = indexOf(tools)
        for (const hit of (await index.search(query, { limit: 20 })).hits) {
          const explained = hit.explain()
          expect(explained.score).toBeGreaterThan(0)
          expect(explained.score).toBeCloseTo(hit.score, 9)
          expect(sum(explained)).toBeCloseTo(hit.score, 9)
          expect(await index.explain(query, hit.tool.qualified)).toEqual(explained)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('R45 treats a tool with the same qualified name as a new version', async () => {
    const index = indexOf([toolNamed('lamp', { description: 'shines' })])
    index.add(toolNamed('lamp', { description: 'glows' }))
    expect(index.size).toBe(1)
    expect((await index.explain('shines', 'lamp'))!.words).toMatchObject([{ matched: 'glows', how: 'meaning' }])
  })

  it('R45 finds a tool whose definition says next to nothing', async () => {
    const index = indexOf([toolNamed('GET /ai.one', { description: 'GET /ai.one', inputSchema: {} }), ...HOUSEHOLD])
    expect(namesIn(await index.search('ai one'))[0]).toBe('GET /ai.one')
  })
})
