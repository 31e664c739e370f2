import { describe, expect, it } from 'vitest'
import type { Embed } from '../contract.ts'
import { createSearchIndex } from '../search-index.ts'
import { HOUSEHOLD, toolNamed } from '../tools.fixtures.ts'

/** As if it knew that beverages are drinks: one coordinate for these, one for the rest. */
const embedDrinks: Embed = async (texts) =>
  texts.map((text) => (/beverage|tea|drink/i.test(text) ? [1, 0.1, 0] : [0, 0.1, text.length % 7]))

function indexWith(embed: Embed) {
  const index = createSearchIndex({ embed })
  for (const tool of HOUSEHOLD) index.add(tool)
  index.add(toolNamed('brew_tea'))
  return index
}

describe('own embeddings', () => {
  it('R45 finds by the meaning that a function of the user gives', async () => {
    const { hits } = await indexWith(embedDrinks).search('a hot beverage')
    expect(hits[0]!.tool.name).toBe('brew_tea')
    expect(hits[0]!.explain()).toMatchObject({ words: [], named: false })
    expect(hits[0]!.explain().meaning).toBeGreaterThan(0)
  })

  it('R45 embeds each tool once, in batches, and only the query at the next search', async () => {
    const batches: (readonly string[])[] = []
    const index = createSearchIndex({
      embed: async (texts) => {
        batches.push(texts)
        return embedDrinks(texts)
      },
    })
    for (let i = 0; i < 100; i++) index.add(toolNamed(`tool_${i}`))
    await Promise.all([index.search('drink'), index.search('food')])
    expect(batches.map((batch) => batch.length)).toEqual([64, 36, 1, 1])
    index.remove('tool_3')
    index.add(toolNamed('tool_4', { description: 'new words' }))
    index.add(toolNamed('tool_3'))
    await index.search('drink')
    expect(batches.slice(4)).toEqual([['tool_3', 'tool_4\nnew words'], ['drink']])
  })

  it('R45 finds tools that come and go while others are embedded', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const index = indexWith(async (texts) => {
      await gate
      return embedDrinks(texts)
    })
    const searching = index.search('a hot beverage')
    index.remove('brew_tea')
    index.add(toolNamed('pour_drink'))
    release()
    expect((await searching).hits.map(({ tool }) => tool.name)).not.toContain('brew_tea')
    expect((await index.search('a hot beverage')).hits[0]!.tool.name).toBe('pour_drink')
  })

  it.each([
    [
      'search-embedding-failed',
      'The embedding function given to the search failed: no network',
      () => Promise.reject(new Error('no network')),
    ],
    [
      'search-embedding-invalid',
      'The embedding function given to the search returned 0 vectors for 9 texts. It must return one vector of numbers for each text, all of the same length.',
      async () => [],
    ],
    [
      'search-embedding-invalid',
      'The embedding function given to the search returned vectors of different lengths, 1 and 2. It must return one vector of numbers for each text, all of the same length.',
      async (texts: readonly string[]) => texts.map((_, i) => (i === 0 ? [1] : [1, 2])),
    ],
    [
      'search-embedding-invalid',
      'The embedding function given to the search returned a vector that contains NaN. It must return one vector of numbers for each text, all of the same length.',
      async (texts: readonly string[]) => texts.map(() => [Number.NaN]),
    ],
  ] satisfies [string, string, Embed][])(
    'R45 says what is wrong with the function: %s',
    async (code, message, embed) => {
      await expect(indexWith(embed).search('lamp')).rejects.toMatchObject({ code, message })
    },
  )

  it('R45 tries again at the next search what failed', async () => {
    let calls = 0
    const index = indexWith((texts) => (calls++ === 0 ? Promise.reject(new Error('busy')) : embedDrinks(texts)))
    await expect(index.search('a hot beverage')).rejects.toThrow('busy')
    expect((await index.search('a hot beverage')).hits[0]!.tool.name).toBe('brew_tea')
  })
})
