import { describe, expect, it } from 'vitest'
import { createNameIndex } from './lexical/named.ts'
import { createSpellings } from './lexical/spelling.ts'
import { MAX_QUERY_CHARACTERS } from './limits.ts'
import { createSearchIndex } from './engine/search-index.ts'
import { getParts } from './text/parts.ts'
import { readQuery } from './text/read-query.ts'
import { getFieldTexts } from './text/tool-text.ts'
import { getArgumentWords } from './text/arguments.ts'
import { getStem, getTerms, getWords } from './text/words.ts'
import { HOUSEHOLD, toolNamed } from './tools.fixtures.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'

/** Pieces of text that make a careless parser read them over and over. */
const UNITS = [
  'a',
  'A',
  'aB',
  'a.',
  'a_',
  'a-',
  'a:',
  '/',
  ':',
  '__',
  '.',
  'a中',
  '中a',
  'aก',
  '天気 ',
  '1a',
  '“',
  '”',
  '“a',
  '"',
  '"a"',
  "'",
  " '",
  "'s",
  '`',
  ' ',
  '\n',
  ' \n',
  ', ',
  ' and ',
  'and then ',
  'a, ',
  '. ',
  '? a',
  'e\u0301',
  '\u0301',
  'ﬁ',
  '🙂',
  '\ud800',
  'Ab ',
  'x Ab',
  'remove lamp, ',
]
/** Work that grows with the square of this takes minutes. */
const LENGTH = 100_000
const MOST_MS = 2_000

const repeated = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length))

describe('R45 hostile text', () => {
  const names = createNameIndex()
  const spellings = createSpellings()
  for (let i = 0; i < 1_000; i++) spellings.add(`a${'b'.repeat(i % 60)}${i}`)

  it.each(UNITS)('R45 is read in time that grows with its length: %j', (unit) => {
    const text = repeated(unit)
    const getCpuMs = startCpuClock()
    getWords(text)
    getTerms(text)
    getStem(text)
    getParts(readQuery(text).text)
    getArgumentWords(text)
    names.findNamed(text)
    spellings.nearest(text, () => 1)
    getFieldTexts(toolNamed(text, { description: text, title: text, tags: [text] }))
    expect(getCpuMs()).toBeLessThan(MOST_MS)
  })

  it('R45 in a query is read as far as a limit, and the outcome says how much was not', async () => {
    const index = createSearchIndex()
    for (const tool of HOUSEHOLD) index.add(tool)
    const { hits, parts, ignoredCharacters } = await index.search('weather '.repeat(500_000))
    expect(hits[0]?.tool.name).toBe('get_weather_forecast')
    expect(parts.join('').length).toBeLessThanOrEqual(MAX_QUERY_CHARACTERS)
    expect(ignoredCharacters).toBe(4_000_000 - 1 - MAX_QUERY_CHARACTERS)
    expect((await index.search('weather')).ignoredCharacters).toBe(0)
    for (const unit of UNITS) if (unit.trim() !== '') await index.search(repeated(unit))
  })

  it('R45 cuts no character in half, and drops blanks that say nothing', () => {
    const { text } = readQuery(`a${'🙂'.repeat(MAX_QUERY_CHARACTERS)}`)
    expect(text).toHaveLength(MAX_QUERY_CHARACTERS - 1)
    expect(text.endsWith('🙂')).toBe(true)
    expect(readQuery(`a${' '.repeat(100)}b${'\n'.repeat(100)}c`).text).toBe('a b\nc')
    expect(readQuery(`${' '.repeat(10_000)}weather`).text).toBe('weather')
  })
})

describe('R45 a hostile tool', () => {
  const evil = (more: object) => ({ ...toolNamed('evil'), ...more })
  const deep = (levels: number): object => {
    let schema: object = { type: 'string', description: 'innermost' }
    for (let i = 0; i < levels; i++) schema = { anyOf: [schema], properties: { a: schema } }
    return schema
  }
  const throwing = (key: string): object =>
    Object.defineProperty(toolNamed('evil'), key, {
      get() {
        throw new Error('No entry.')
      },
      enumerable: true,
    })

  it.each([
    ['changes its script with each character', evil({ description: 'a中'.repeat(20_000) })],
    ['has an endless description', evil({ description: 'x '.repeat(5_000_000) })],
    ['has an endless name', evil({ declared: 'a.'.repeat(1_000_000), name: 'a'.repeat(1_000_000) })],
    ['has endless tags', evil({ tags: Array.from({ length: 100_000 }, (_, i) => `tag${i}`) })],
    [
      'has very many parameters',
      evil({
        inputSchema: {
          properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, { type: 'string' }])),
        },
      }),
    ],
    ['has very many alternatives', evil({ inputSchema: { anyOf: Array.from({ length: 200_000 }, () => ({})) } })],
    ['has a deep schema', evil({ inputSchema: deep(1_000) })],
    ['has a schema with a key __proto__', evil({ inputSchema: JSON.parse('{"properties":{"__proto__":{}}}') })],
  ])('R45 costs only itself if it %s', async (_, tool) => {
    const index = createSearchIndex()
    for (const other of [tool as ReturnType<typeof toolNamed>, ...HOUSEHOLD]) index.add(other)
    const getCpuMs = startCpuClock()
    expect((await index.search('weather forecast')).hits[0]?.tool.name).toBe('get_weather_forecast')
    expect((await index.search('book a flight')).hits[0]?.tool.name).toBe('book_flight')
    expect(getCpuMs()).toBeLessThan(MOST_MS)
  })

  it.each(['description', 'declared', 'tags', 'inputSchema', 'title', 'name'])(
    'R45 is reported, and the others found, if its %s cannot be read',
    async (key) => {
      const problems: unknown[] = []
      const index = createSearchIndex({ onProblem: (problem) => problems.push(problem) })
      for (const tool of [throwing(key) as ReturnType<typeof toolNamed>, ...HOUSEHOLD]) index.add(tool)
      expect((await index.search('weather forecast')).hits[0]?.tool.name).toBe('get_weather_forecast')
      expect((await index.search('book a flight')).hits[0]?.tool.name).toBe('book_flight')
      expect(problems).toEqual([
        {
          tool: 'evil',
          message: "Tool 'evil' cannot be found by a search, because its definition cannot be read: No entry.",
        },
      ])
      index.remove('evil')
      expect(index.size).toBe(HOUSEHOLD.length)
    },
  )
})
