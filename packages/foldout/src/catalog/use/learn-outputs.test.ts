import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkByJsonSchema } from '../../core/schema/schema.ts'
import {
  catalogSection,
  createCatalog,
  getListing,
  hybrid,
  type CatalogEvent,
  type LearnedOutput,
} from '../../entries/catalog.ts'
import { code, createSandbox } from '../../entries/code.ts'
import { definePrompt, runAgent } from '../../entries/index.ts'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import { callText, said, tool } from '../catalog.fixtures.ts'
import { formatStub } from '../signatures/stub.ts'
import { inferSchema } from './infer-schema.ts'
import { learnOutputs, type RunWithResults } from './learn-outputs.ts'

const line = (name: string, value: unknown, more: object = {}): RunWithResults => ({
  event: { type: 'tool/invoked', callId: 'c', name, ok: true, message: JSON.stringify(value), durationMs: 1, ...more },
})
const repeat = (count: number, value: unknown): RunWithResults[] =>
  Array.from({ length: count }, () => line('t', value))
const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

const keys = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'id', 'a\u200Bb', 'x'.repeat(200)), fc.string())
const { values } = fc.letrec((tie) => ({
  values: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'text'),
    fc.array(tie('values'), { maxLength: 5 }),
    // As JSON.parse does, so `__proto__` is a key of its own.
    fc.array(fc.tuple(keys, tie('values')), { maxLength: 80 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

describe('R83 an inferred schema', () => {
  it('R83 fits every value that it was inferred from', () => {
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), (seen) => {
        const schema = inferSchema(seen)
        for (const value of seen) expect(checkByJsonSchema(schema, value)).toEqual([])
      }),
    )
  })

  it('R83 requires what all objects have, and joins the kinds of values', () => {
    const seen = [
      { id: 1, at: null, tags: ['a'], size: 1 },
      { id: 2, at: 'now', tags: [], size: 1.5, note: true },
    ]
    expect(inferSchema(seen)).toEqual({
      type: 'object',
      properties: {
        id: { type: 'integer' },
        at: { type: ['string', 'null'] },
        tags: { type: 'array', items: { type: 'string' } },
        size: { type: 'number' },
        note: { type: 'boolean' },
      },
      required: ['id', 'at', 'tags', 'size'],
    })
    expect(inferSchema([1, 'a', []])).toEqual({})
  })

  it('R83 takes an object with many keys, or with keys that are data, for a map', () => {
    const byId = Object.fromEntries(Array.from({ length: 100 }, (_, id) => [`id-${id}`, { name: 'Ada' }]))
    const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    expect(inferSchema([byId])).toEqual({ type: 'object', additionalProperties: name })
    const mixed = { list: [1, 'a', true], ['x'.repeat(65)]: [2] }
    const list = { type: 'array', items: {} }
    expect(inferSchema([mixed])).toEqual({ type: 'object', additionalProperties: list })
    expect(inferSchema([{ one: 1 }, { one: 'a' }, { one: [] }, byId])).toEqual({
      type: 'object',
      additionalProperties: {},
    })
  })

  it('R83 describes the outer levels if there are too many fields', () => {
    const byId = Object.fromEntries(Array.from({ length: 60 }, (_, id) => [`id-${id}`, { a: 1, b: 2, c: 3, d: [4] }]))
    const schema = inferSchema([{ byId, list: [{ of: [1] }], last: 'text' }])
    expect(schema).toMatchObject({
      properties: {
        byId: { properties: { 'id-59': { type: 'object' } } },
        list: { type: 'array', items: { type: 'object' } },
        last: { type: 'string' },
      },
      required: ['byId', 'list', 'last'],
    })
    expect(JSON.stringify(schema)).not.toContain('"of"')
  })

  it('R83 stays small for values that are huge, nested deep or different each time', () => {
    const wide = Array.from({ length: 40_000 }, (_, at) => ({ [`key${at}`]: { [`inner${at}`]: 'x'.repeat(80) } }))
    for (const value of [wide, nest(100_000), { list: Array.from({ length: 1_000_000 }, (_, at) => at) }]) {
      const schema = inferSchema([value])
      expect(JSON.stringify(schema).length).toBeLessThan(30_000)
      expect(checkByJsonSchema(schema, value)).toEqual([])
    }
  })
})

describe('R83 learned outputs', () => {
  it('R83 say from how many results they were learned, and how well the first half told the second', () => {
    expect(learnOutputs(repeat(8, { id: 1 }))['t']).toMatchObject({ results: 8, confidence: 5 / 6 })
    const changing = [...repeat(4, { id: 1 }), ...repeat(4, { id: 'one' })]
    expect(learnOutputs(changing)).toEqual({})
    expect(learnOutputs(changing, { minConfidence: 0 })['t']).toMatchObject({ results: 8, confidence: 1 / 6 })
  })

  it('R83 are learned from successful results, of the tool that ran, also in delegated runs', () => {
    const target = { target: { name: 'home/rooms', arguments: {} } }
    const inner = [1, 2, 3].map((id) => line('use_tool', [id], target))
    const lines = [
      ...inner.map(({ event }) => ({ event: { type: 'section/delegated', callId: 'd', path: 'p', event } })),
      ...repeat(3, 'text'),
      ...['a', 'b', 'c'].map((id) => line('failing', { id }, { ok: false })),
      ...[1, 2].map((id) => line('rare', { id })),
      ...[1, 2, 3].map((id) => line('__proto__', { id })),
    ]
    expect(Object.keys(learnOutputs(lines))).toEqual(['home/rooms', '__proto__'])
  })

  it('R83 are not learned from lines that are no events', () => {
    const broken = [null, 1, {}, { event: null }, { event: { type: 'tool/invoked', ok: true } }]
    expect(learnOutputs(broken as unknown as RunWithResults[])).toEqual({})
    expect(() => learnOutputs([], { minResults: Number.NaN })).toThrow('minResults')
  })
})

describe('R83 a catalog with learned outputs', () => {
  const outputs = learnOutputs([1, 2, 3].map((id) => line('home/rooms', { rooms: [{ id, name: 'hall' }] })))
  const rooms = tool('rooms', { source: 'home' })

  it('R83 shows them in stubs, and never to MCP clients', () => {
    const [entry] = createCatalog([rooms], { outputs }).tools
    expect(formatStub(entry!).text).toContain('@returns As seen in 3 results. The tool does not promise it.')
    expect(formatStub(entry!).text.replaceAll(/\s+/g, ' ')).toMatch(/Promise<\{ rooms: \{.*id: number.*name: string/)
    expect(getListing(entry!).outputSchema).toBeUndefined()
    expect(entry!.outputSchema).toBeUndefined()
  })

  it('R83 leaves the schema alone that a tool declares', () => {
    const outputSchema = { type: 'object' }
    const [entry] = createCatalog([{ ...rooms, outputSchema }], { outputs }).tools
    expect(entry!.learnedOutput).toBeUndefined()
    expect(formatStub(entry!).text).not.toContain('As seen')
  })

  it('R83 ignores a learned output that cannot be used', async () => {
    const loop: { self?: unknown } = {}
    loop.self = loop
    for (const schema of [{ type: 17 }, loop, null, 'text']) {
      const broken = { 'home/rooms': { schema, results: 1, confidence: 1 } as LearnedOutput }
      const catalog = createCatalog([rooms], { outputs: broken })
      expect(catalog.broken).toEqual([])
      expect(catalog.tools[0]!.learnedOutput).toBeUndefined()
      expect((await catalog.call('rooms', {})).isError).toBeUndefined()
    }
  })

  const listen = async (text: string): Promise<readonly CatalogEvent[]> => {
    const answer = said(text)
    const catalog = createCatalog([{ ...rooms, call: async () => answer }], { outputs })
    const events: CatalogEvent[] = []
    catalog.subscribe((event) => events.push(event))
    expect(await catalog.call('rooms', {})).toEqual(said(text))
    return events
  }

  it('R83 reports a result that does not fit, without what it says, and passes it on unchanged', async () => {
    const unexpected = (path: string) => [{ type: 'output/unexpected', name: 'home/rooms', path }]
    expect(await listen('{"rooms":[{"id":7,"name":"bath","floor":1}]}')).toEqual([])
    expect(await listen('{"rooms":[{"id":7,"name":"bath"},{"id":"seven","name":"bath"}]}')).toEqual(
      unexpected('$.rooms[*].id'),
    )
    expect(await listen('{"rooms":[{"id":7,"name":"bath"}],"hid\u200Bden":1}')).toEqual([])
    expect(await listen('No rooms.')).toEqual(unexpected('$'))
    expect(await listen('['.repeat(100_000) + ']'.repeat(100_000))).toEqual(unexpected('$'))
    expect(await listen('{"__proto__":{"rooms":[]}}')).toHaveLength(1)
  })

  it('R83 compares keys with characters that a catalog would remove', async () => {
    const text = '{"hid\\u200Bden":1,"id":2}'
    const learned = learnOutputs([1, 2, 3].map(() => line('home/rooms', JSON.parse(text))))
    const catalog = createCatalog([{ ...rooms, call: async () => said(text) }], { outputs: learned })
    const events: CatalogEvent[] = []
    catalog.subscribe((event) => events.push(event))
    await catalog.call('rooms', {})
    expect(events).toEqual([])
  })

  it('R83 learns from the events of runs what programs then read', async () => {
    const counted = { ...rooms, call: async () => said('{"rooms":["hall","bath"]}') }
    const [first, second] = ['home', 'barn'].map((source) => ({ ...counted, source }))
    const toolbox = catalogSection(createCatalog([first!, second!]), { expose: hybrid({ core: ['barn/rooms'] }) })
    const lines: RunWithResults[] = []
    const use = (name: string) => calls('use_tool', { name, arguments: {} })
    const steps = [1, 2, 3].flatMap(() => [use('home_rooms'), calls('barn_rooms', {})])
    await runAgent(definePrompt({ ns: 'test', key: 'learned', sections: [toolbox] }).bind(), {
      adapter: scriptedAdapter([...steps, says('Done.')]),
      onEvent: (event) => lines.push(JSON.parse(JSON.stringify({ event })) as RunWithResults),
    })
    const learned = learnOutputs(lines)
    expect(Object.keys(learned)).toEqual(['home/rooms', 'barn/rooms'])
    const sandbox = createSandbox()
    try {
      const catalog = createCatalog([first!, second!], { outputs: learned })
      const exposed = code({ sandbox }).expose(catalog, { id: 'c', takesListChanges: true })
      const stub = await callText(exposed, 'look_up_tools', { paths: ['servers/home/rooms.d.ts'] })
      expect(stub).toContain('As seen in 3 results.')
      expect(stub).toMatch(/rooms: (string\[\]|Array<string>)/)
      expect(await callText(exposed, 'run_code', { code: 'return (await home.rooms({})).rooms[1]' })).toContain('bath')
    } finally {
      sandbox.close()
    }
  })
})
