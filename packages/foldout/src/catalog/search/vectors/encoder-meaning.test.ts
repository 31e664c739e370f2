import { describe, expect, it, vi } from 'vitest'
import type { SearchProblem } from '../contract.ts'
import type { EngineOptions } from '../engine/engine.ts'
import { createSearchIndex } from '../engine/search-index.ts'
import { HOUSEHOLD, toolNamed } from '../tools.fixtures.ts'
import type { Embed, Encoder, VectorCache } from '../encoder.ts'
import { takeTurns } from '../../../../../../test/turns.ts'

/** As if it knew that beverages are drinks: one coordinate for these, one for the rest. */
const embedDrinks: Embed = async (texts) =>
  texts.map((text) => (/beverage|tea|drink/i.test(text) ? [1, 0.1, 0] : [0, 0.1, 1 + (text.length % 7)]))

function createIndex(embed: Embed | Encoder, options: Partial<EngineOptions> = {}) {
  const index = createSearchIndex({ ...options, embed })
  for (const tool of HOUSEHOLD) index.add(tool)
  index.add(toolNamed('brew_tea'))
  return index
}

/** An index, and the problems that it reports. */
function createWatchedIndex(embed: Embed | Encoder) {
  const problems: SearchProblem[] = []
  return { problems, index: createIndex(embed, { onProblem: (problem) => problems.push(problem) }) }
}

function createMemoryCache(kept = new Map<string, Int8Array>()): VectorCache {
  return {
    read: async (keys) => new Map([...kept].filter(([key]) => keys.includes(key))),
    write: async (vectors) => vectors.forEach((vector, key) => kept.set(key, vector)),
  }
}

/** Counts the texts that an encoder is given, without queries. */
function createCountingEncoder(cache?: VectorCache, model = 'drinks') {
  const texts: string[] = []
  const embed: Embed = async (some, call) => {
    if (call.kind === 'tool') texts.push(...some)
    return embedDrinks(some, call)
  }
  return { texts, encoder: { model, embed, cache } satisfies Encoder }
}

const HOT = 'a hot beverage'

describe('an encoder', () => {
  it('R61 finds tools by meaning once every tool has a vector, alongside the word vectors', async () => {
    const index = createIndex(embedDrinks)
    expect(await index.ready()).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
    const { hits, meaning, withoutEncoder } = await index.search(HOT)
    expect(hits[0]!.tool.name).toBe('brew_tea')
    expect(hits[0]!.explain().meaning).toBeGreaterThan(0)
    expect({ meaning, withoutEncoder }).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
  })

  it('R61 reads a request and its parts, in one call, and is nearer to a tool for one part', async () => {
    const calls: (readonly string[])[] = []
    const request = 'Dim the lamp in the long hall downstairs, lock the front door tonight, and make me a hot beverage'
    const index = createIndex(async (texts, call) => {
      if (call.kind === 'query') calls.push(texts)
      // As a whole, the request is about something else.
      const read = texts.map((text) => (text === request ? 'weather' : text))
      return embedDrinks(read, call)
    })
    await index.ready()
    const { parts } = await index.search(request)
    expect(parts).toHaveLength(3)
    expect(calls).toEqual([[request, ...parts]])
    const explanation = await index.explain(request, 'brew_tea')
    expect(explanation!.meaning).toBeGreaterThan(2)
    for (const short of [HOT, 'dim the lamp in the hall and lock the front door']) {
      await index.search(short)
      expect(calls.at(-1)).toEqual([short])
    }
  })

  it('R61 does not delay searches, which run without it until then and say so', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const index = createIndex(async (texts, call) => {
      await gate
      return embedDrinks(texts, call)
    })
    const early = await index.search('set the thermostat')
    expect(early.hits[0]!.tool.name).toBe('set_thermostat')
    expect(early).toMatchObject({ meaning: 'word-vectors', withoutEncoder: '9 of 9 tools have no vector yet.' })
    release()
    await index.ready()
    expect(await index.search(HOT)).toMatchObject({ meaning: 'encoder', withoutEncoder: undefined })
  })

  it('R61 joins the tools that have a vector, those that searches find first', async () => {
    const batches: (readonly string[])[] = []
    const gates: (() => void)[] = []
    const index = createSearchIndex({
      embed: async (texts, call) => {
        if (call.kind === 'tool') {
          batches.push(texts)
          await new Promise<void>((resolve) => gates.push(resolve))
        }
        return embedDrinks(texts, call)
      },
    })
    for (let i = 0; i < 60; i++) index.add(toolNamed(`file_report_${i}`))
    for (const name of ['brew_tea', 'lock_door']) index.add(toolNamed(name))
    const openGate = async (batch: number): Promise<void> => {
      await expect.poll(() => gates.length).toBe(batch + 1)
      gates[batch]!()
    }
    const begun = await index.search('lock the door')
    expect(begun).toMatchObject({ meaning: 'word-vectors', withoutEncoder: '62 of 62 tools have no vector yet.' })
    await openGate(0)
    await expect.poll(() => gates.length).toBe(2)
    expect(batches.slice(0, 2).flat()).toContain('lock door. ')
    const partly = await index.search('lock the door')
    expect(partly).toMatchObject({ meaning: 'encoder', withoutEncoder: '54 of 62 tools have no vector yet.' })
    expect(partly.hits[0]!.tool.name).toBe('lock_door')
    await openGate(1)
    await openGate(2)
    await index.ready()
    expect(await index.search('lock the door')).toMatchObject({ meaning: 'encoder', withoutEncoder: undefined })
  })

  it('R61 a slow answer for one query does not keep the encoder from the next', async () => {
    let isSlow = true
    const index = createIndex((texts, call) =>
      call.kind === 'query' && isSlow ? new Promise(() => {}) : embedDrinks(texts, call),
    )
    await index.ready()
    vi.useFakeTimers()
    try {
      const late = index.search(HOT)
      await vi.advanceTimersByTimeAsync(4_000)
      expect(await late).toMatchObject({ meaning: 'word-vectors' })
    } finally {
      vi.useRealTimers()
    }
    isSlow = false
    expect(await index.search(HOT)).toMatchObject({ meaning: 'encoder', withoutEncoder: undefined })
  })

  it('R61 gives the same hits whether or not a search came early', async () => {
    const early = createIndex(embedDrinks)
    await early.search('lamp')
    await early.ready()
    const late = createIndex(embedDrinks)
    await late.ready()
    const list = async (index: typeof late) =>
      (await index.search(HOT)).hits.map(({ tool, score }) => [tool.name, score])
    expect(await list(early)).toEqual(await list(late))
  })

  it('R61 is not called before something is searched', async () => {
    const { texts, encoder } = createCountingEncoder()
    createIndex(encoder)
    await takeTurns()
    expect(texts).toEqual([])
  })

  it('R61 reads names as words, and the beginning of a description, in batches', async () => {
    const batches: (readonly string[])[] = []
    const index = createSearchIndex({
      embed: async (texts, call) => {
        batches.push(texts)
        return embedDrinks(texts, call)
      },
    })
    for (let i = 0; i < 100; i++) index.add(toolNamed(`tool_${i}`))
    index.add(toolNamed('getHTTPStatus_now', { source: 'my-server', description: 'x'.repeat(5_000) }))
    await index.ready()
    expect(batches.map((batch) => batch.length)).toEqual([8, 32, 32, 29])
    expect(batches.flat()).toContain(`my server get HTTP Status now. ${'x'.repeat(200)}`)
  })

  it('R61 embeds only what is new when tools come, go and come back', async () => {
    const { texts, encoder } = createCountingEncoder()
    const index = createIndex(encoder)
    await index.ready()
    expect(texts).toHaveLength(9)
    index.remove('brew_tea')
    index.add(toolNamed('brew_tea'))
    index.add(toolNamed('pour_drink'))
    index.add(toolNamed('set_light', { description: 'new words' }))
    await index.ready()
    expect(texts.slice(9)).toEqual(['pour drink. ', 'set light. new words'])
  })

  it('R61 finds tools that come and go while others are embedded', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const index = createIndex(async (texts, call) => {
      await gate
      return embedDrinks(texts, call)
    })
    const searching = index.search(HOT)
    const ready = index.ready()
    index.remove('brew_tea')
    index.add(toolNamed('pour_drink'))
    release()
    await Promise.all([ready, index.ready()])
    expect((await searching).hits.map(({ tool }) => tool.name)).not.toContain('brew_tea')
    const { hits, meaning } = await index.search(HOT)
    expect([hits[0]!.tool.name, meaning]).toEqual(['pour_drink', 'encoder'])
  })
})

describe('stored vectors', () => {
  it('R61 are embedded once for all indexes with the same model', async () => {
    const cache = createMemoryCache()
    const first = createCountingEncoder(cache)
    await createIndex(first.encoder).ready()
    const second = createCountingEncoder(cache)
    const index = createIndex(second.encoder)
    expect(await index.ready()).toMatchObject({ meaning: 'encoder' })
    expect([first.texts.length, second.texts.length]).toEqual([9, 0])
    expect((await index.search(HOT)).hits[0]!.tool.name).toBe('brew_tea')
    const other = createCountingEncoder(cache, 'another model')
    await createIndex(other.encoder).ready()
    expect(other.texts).toHaveLength(9)
  })

  it('R61 are made again if a model of the same name now has longer vectors', async () => {
    const cache = createMemoryCache()
    await createIndex(createCountingEncoder(cache).encoder).ready()
    const longer: Embed = async (texts, call) => (await embedDrinks(texts, call)).map((vector) => [...vector, 0])
    const index = createIndex({ model: 'drinks', embed: longer, cache })
    await index.ready()
    expect((await index.search(HOT)).meaning).toBe('word-vectors')
    await index.ready()
    expect(await index.search(HOT)).toMatchObject({ meaning: 'encoder', withoutEncoder: undefined })
  })

  it.each([
    ['fails', () => Promise.reject(new Error('the disk is full'))],
    [
      'throws',
      () => {
        throw new Error('the disk is full')
      },
    ],
  ] satisfies [string, () => Promise<never>][])('R61 do not need a working cache: it %s', async (_, fail) => {
    const { problems, index } = createWatchedIndex({
      model: 'drinks',
      embed: embedDrinks,
      cache: { read: fail, write: fail },
    })
    expect(await index.ready()).toMatchObject({ meaning: 'encoder' })
    expect((await index.search(HOT)).hits[0]!.tool.name).toBe('brew_tea')
    expect(problems.map(({ message }) => message)).toEqual([
      "Vectors cannot be read from the search's cache: the disk is full",
      "Vectors cannot be written to the search's cache: the disk is full",
    ])
  })

  it('R61 are ignored if the cache returns something else', async () => {
    const wrong = async (keys: readonly string[]) =>
      new Map(keys.map((key) => [key, 'no vector' as unknown as Int8Array]))
    const { texts, encoder } = createCountingEncoder({ ...createMemoryCache(), read: wrong })
    expect(await createIndex(encoder).ready()).toMatchObject({ meaning: 'encoder' })
    expect(texts).toHaveLength(9)
  })
})

describe('an encoder that does not work', () => {
  let longer = 0
  const failing: [string, Embed][] = [
    ['failed: no network', () => Promise.reject(new Error('no network'))],
    [
      'failed: at once',
      () => {
        throw new Error('at once')
      },
    ],
    ['returned 0 vectors for 8 texts.', async () => []],
    ['returned something other than a list of vectors.', async () => 'vectors' as never],
    ['returned something other than a vector of numbers.', async (texts) => texts.map(() => null as never)],
    ['returned an empty vector.', async (texts) => texts.map(() => [])],
    ['returned a vector that contains NaN.', async (texts) => texts.map(() => [Number.NaN])],
    ['returned a vector that contains Infinity.', async (texts) => texts.map(() => new Float32Array([Infinity]))],
    ['returned vectors of different lengths, ', async (texts) => texts.map(() => Array<number>(++longer).fill(1))],
  ]

  it.each(failing)('R61 never breaks a search: it %s', async (message, embed) => {
    const { problems, index } = createWatchedIndex(embed)
    const ready = await index.ready()
    const { hits, meaning, withoutEncoder } = await index.search('set the thermostat')
    expect([hits[0]!.tool.name, meaning]).toEqual(['set_thermostat', 'word-vectors'])
    expect([ready.withoutEncoder, withoutEncoder]).toEqual([expect.stringContaining(message), ready.withoutEncoder])
    expect(problems.map((problem) => problem.message).join()).toContain(message)
  })

  it('R61 is reported once, and left alone for a while', async () => {
    let calls = 0
    const { problems, index } = createWatchedIndex(async () => {
      calls++
      throw new Error('no network')
    })
    await index.ready()
    const before = calls
    for (const query of ['lamp', 'tea', 'heating']) await index.search(query)
    expect([calls - before, problems.length]).toEqual([0, 1])
  })

  it('R61 is used again when it works again', async () => {
    let isBroken = true
    const index = createIndex((texts, call) =>
      isBroken ? Promise.reject(new Error('busy')) : embedDrinks(texts, call),
    )
    expect(await index.ready()).toEqual({
      meaning: 'word-vectors',
      withoutEncoder: "The search's embedding function failed: busy",
    })
    isBroken = false
    expect(await index.ready()).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
    expect((await index.search(HOT)).hits[0]!.tool.name).toBe('brew_tea')
  })

  it('R61 leaves out only the text that it cannot read', async () => {
    const { problems, index } = createWatchedIndex(async (texts, call) => {
      if (texts.some((text) => text.includes('poison'))) throw new Error('cannot read')
      return embedDrinks(texts, call)
    })
    index.add(toolNamed('poison'))
    expect(await index.ready()).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
    expect((await index.search(HOT)).hits[0]!.tool.name).toBe('brew_tea')
    expect((await index.search('poison')).hits[0]!.tool.name).toBe('poison')
    expect(problems).toEqual([
      {
        message: "The search's embedding function failed: cannot read",
        tool: 'poison',
        code: 'search-embedding-failed',
      },
    ])
  })

  it('R61 affects only one search if it fails for a query', async () => {
    let isBroken = false
    const index = createIndex((texts, call) =>
      isBroken && call.kind === 'query' ? Promise.reject(new Error('busy')) : embedDrinks(texts, call),
    )
    await index.ready()
    isBroken = true
    const { hits, meaning, withoutEncoder } = await index.search('set the thermostat')
    expect([hits[0]!.tool.name, meaning]).toEqual(['set_thermostat', 'word-vectors'])
    expect(withoutEncoder).toBe("The search's embedding function failed: busy")
  })

  it('R61 is told to stop if it never answers, and the search continues', async () => {
    let aborted = 0
    const index = createIndex((texts, call) => {
      if (call.kind === 'tool') return embedDrinks(texts, call)
      call.signal.addEventListener('abort', () => aborted++)
      return new Promise(() => {})
    })
    await index.ready()
    const { hits, withoutEncoder } = await index.search('set the thermostat')
    expect(hits[0]!.tool.name).toBe('set_thermostat')
    expect([aborted, withoutEncoder]).toEqual([
      1,
      "The search's embedding function failed: it did not answer within 3000 ms",
    ])
  })
})
