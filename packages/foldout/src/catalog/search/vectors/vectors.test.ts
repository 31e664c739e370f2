import type { PackedVectors } from './vector-table.ts'
import { describe, expect, it } from 'vitest'
import { loadWordVectors, unpackVectors } from './vectors.ts'
import { wordVectors as table } from './packed-vectors.ts'
import { getTerms } from '../text/words.ts'

const MOST_BYTES = 5_000_000
const MOST_PART_BYTES = 500_000
const NO_FIELDS = { name: 1, source: 1, description: 1, tags: 1, category: 1, parameters: 1 }

/** Two dimensions, three words: `left` and `right` lie along them, `half` is the first at a quarter of the weight in tools. */
const SMALL: PackedVectors = {
  dimensions: 2,
  words: 'left right half',
  rows: ['//', '/g', '//', 'g/', '/A', '/g'].join(''),
  weights: [Math.log(0.25), 0],
  fields: NO_FIELDS,
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return a!.reduce((sum, value, d) => sum + value * b![d]!, 0)
}

function getLength(vector: Float32Array | undefined): number {
  return Math.hypot(...vector!)
}

async function getMeaning(text: string): Promise<Float32Array | undefined> {
  return (await loadWordVectors()).computeVector(getTerms(text))
}

describe('a packed table', () => {
  it('R45 reads coordinates, and makes vectors of length 1', () => {
    const vectors = unpackVectors(SMALL)
    expect([...vectors.computeVector(['left'])!]).toEqual([1, 0])
    expect([...vectors.computeVector(['right'])!]).toEqual([0, 1])
    const both = vectors.computeVector(['left', 'right'])!
    expect(both[0]).toBeCloseTo(Math.SQRT1_2)
    expect(both[1]).toBeCloseTo(Math.SQRT1_2)
  })

  it('R45 weighs a word in a tool by its own weight there, and by its field', () => {
    const even = unpackVectors(SMALL)
    const inRequest = even.computeVector(['half', 'right'])!
    expect(inRequest[0]! / inRequest[1]!).toBeCloseTo(1)
    const inTool = even.computeToolVector({ description: ['half', 'right'] })!
    expect(inTool[0]! / inTool[1]!).toBeCloseTo(0.25)
    const named = unpackVectors({ ...SMALL, fields: { ...NO_FIELDS, name: 3 } })
    const ofFields = named.computeToolVector({ name: ['left'], description: ['right'] })!
    expect(ofFields[0]! / ofFields[1]!).toBeCloseTo(3)
  })

  it('R45 counts a word that comes again less, and a word of a long field less', () => {
    const vectors = unpackVectors(SMALL)
    const again = vectors.computeVector(['left', 'left', 'left', 'left', 'right'])!
    expect(again[0]! / again[1]!).toBeCloseTo(2)
    const long = vectors.computeToolVector({ name: ['left'], description: ['right', 'unknown', 'unknown', 'unknown'] })!
    expect(long[0]! / long[1]!).toBeCloseTo(2)
  })

  it('R45 passes over words that it does not know', () => {
    const vectors = unpackVectors(SMALL)
    expect(vectors.computeVector(['left', 'nowhere'])).toEqual(vectors.computeVector(['left']))
    expect(vectors.computeVector(['nowhere'])).toBeUndefined()
    expect(vectors.computeVector([])).toBeUndefined()
    expect(vectors.computeToolVector({})).toBeUndefined()
    expect(vectors.computeToolVector({ name: [], description: ['nowhere'] })).toBeUndefined()
  })

  it('R45 takes a word that it does not know for the two that it is made of', () => {
    const vectors = unpackVectors(SMALL)
    expect(vectors.computeVector(['leftright'])).toEqual(vectors.computeVector(['left', 'right']))
    expect(vectors.computeToolVector({ name: ['halfright'] })).toEqual(
      vectors.computeToolVector({ name: ['half', 'right'] }),
    )
    expect(vectors.computeVector(['leftnowhere'])).toBeUndefined()
    expect(vectors.computeVector(['left'.repeat(1000)])).toBeUndefined()
  })

  it('R45 takes names of the language for words that it may not know', () => {
    expect(unpackVectors(SMALL).computeVector(['constructor', '__proto__', 'toString'])).toBeUndefined()
  })
})

describe('the table that comes with the package', () => {
  const read = async (): Promise<PackedVectors> => {
    const parts = await Promise.all(table.parts.map((load) => load()))
    const { dimensions, weights, fields } = table
    const words = parts.map((part) => part.words).join(' ')
    return { dimensions, weights, fields, words, rows: parts.map(({ rows }) => rows).join('') }
  }

  it('R45 takes at most 5 MB, has a row for each word, and each word once', async () => {
    const { words, rows, dimensions } = await read()
    const list = words.split(' ')
    expect(words.length + rows.length).toBeLessThan(MOST_BYTES)
    expect(list).toHaveLength(table.size)
    expect(rows).toHaveLength(list.length * (dimensions + 2))
    expect(rows).toMatch(/^[A-Za-z0-9+/]+$/)
    expect(new Set(list).size).toBe(list.length)
  })

  it('R45 comes in parts that are each loaded in a moment', async () => {
    for (const load of table.parts) {
      const { words, rows } = await load()
      expect(words.length + rows.length).toBeLessThan(MOST_PART_BYTES)
    }
  })

  it('R45 is loaded once, and gives the same vector each time', async () => {
    expect(await loadWordVectors()).toBe(await loadWordVectors())
    expect(await getMeaning('book a flight')).toEqual(await getMeaning('book a flight'))
    const fresh = unpackVectors(await read())
    expect(fresh.computeVector(getTerms('book a flight'))).toEqual(await getMeaning('book a flight'))
    expect(getLength(await getMeaning('book a flight'))).toBeCloseTo(1)
  })

  it.each([
    ['movie', 'film', 'invoice'],
    ['rain tomorrow', 'weather forecast', 'database table'],
    ['buy a plane ticket', 'flight booking', 'image resizing'],
    ['send money', 'bank transfer payment', 'play a song'],
    ['folder', 'directory', 'restaurant'],
    ['erase', 'delete', 'weather'],
  ])('R45 finds %j nearer to %j than to %j', async (text, near, far) => {
    const meaning = await getMeaning(text)
    expect(cosine(meaning, await getMeaning(near))).toBeGreaterThan(cosine(meaning, await getMeaning(far)) + 0.1)
  })

  it('R45 finds a tool nearer to a request in other words than an unrelated tool', async () => {
    const vectors = await loadWordVectors()
    const request = await getMeaning('how hot will it be this weekend')
    const fitting = { name: getTerms('get_forecast'), description: getTerms('Weather for the coming days at a place.') }
    const other = { name: getTerms('merge_branch'), description: getTerms('Merges a branch of a repository.') }
    expect(cosine(request, vectors.computeToolVector(fitting))).toBeGreaterThan(
      cosine(request, vectors.computeToolVector(other)) + 0.2,
    )
  })
})
