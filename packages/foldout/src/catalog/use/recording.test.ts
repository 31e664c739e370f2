import { describe, expect, it } from 'vitest'
import { createCatalog, hybrid, twoPhase } from '../../entries/catalog.ts'
import { estimatedTokens } from '../../entries/index.ts'
import { toolTokens } from '../../tools/definition.ts'
import { tool } from '../catalog.fixtures.ts'
import { getListing } from '../listing.ts'
import { learnCore } from './learn-core.ts'
import { readCatalogRecording, createCatalogRecorder } from './recording.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'

const tools = [tool('send_letter', { source: 'mail' }), tool('water_garden', { source: 'garden' }), tool('mow_lawn')]
const client = (id: string) => ({ id, takesListChanges: true })

describe('R48 a recording of a catalog', () => {
  it('R48 contains the actions of each client in order, without its words', async () => {
    const catalog = createCatalog(tools)
    const recorder = createCatalogRecorder(catalog)
    const one = hybrid().expose(catalog, client('one'))
    const two = twoPhase().expose(catalog, client('two'))
    one.listed()
    await one.call('search_tools', { query: 'water the garden', limit: 1 }, {})
    two.listed()
    await one.call('use_tool', { name: 'water_garden', arguments: { secret: 'hush' } }, {})
    await two.call('get_tool_definition', { name: 'send_letter' }, {})
    await two.call('send_letter', {}, {})
    await one.call('use_tool', { name: 'no_such_tool' }, {})
    recorder.stop()
    await one.call('mow_lawn', {}, {})
    const recording = recorder.recording()
    const tokens = expect.any(Number)
    expect(recording).toEqual({
      version: 1,
      tools: ['garden/water_garden', 'mail/send_letter'].map((name) => {
        const entry = catalog.tools.find(({ qualified }) => qualified === name)!
        return { name, tokens: toolTokens(getListing(entry), estimatedTokens) }
      }),
      clients: [
        {
          id: 'one',
          lists: [{ exposure: 'hybrid', tools: 2, tokens }],
          searches: [{ at: 0, hits: ['garden/water_garden'], tokens }],
          definitions: [],
          uses: [{ at: 1, name: 'garden/water_garden', through: 'use_tool', ok: true, wrappingTokens: tokens }],
        },
        {
          id: 'two',
          lists: [{ exposure: 'twoPhase', tools: 3, tokens }],
          searches: [],
          definitions: [{ at: 0, name: 'mail/send_letter', tokens }],
          uses: [{ at: 1, name: 'mail/send_letter', through: 'direct', ok: true, wrappingTokens: 0 }],
        },
      ],
    })
    const json = JSON.stringify(recording)
    expect(json).not.toMatch(/hush|water the garden/)
    expect(readCatalogRecording(JSON.parse(json))).toEqual(recording)
  })

  it('R48 does not change after it was returned', async () => {
    const catalog = createCatalog(tools)
    const recorder = createCatalogRecorder(catalog)
    const exposed = hybrid().expose(catalog, client('one'))
    await exposed.call('mow_lawn', {}, {})
    const before = recorder.recording()
    await exposed.call('mow_lawn', {}, {})
    expect(before.clients[0]!.uses).toHaveLength(1)
    expect(recorder.recording().clients[0]!.uses).toHaveLength(2)
  })

  it('R48 forgets the oldest clients, and splits one that never ends', async () => {
    const catalog = createCatalog(tools)
    const recorder = createCatalogRecorder(catalog, { maxClients: 2 })
    const listed = { type: 'tools/listed', exposure: 'all', tools: [], tokens: 1 } as const
    for (const id of ['a', 'b', 'c', 'a']) catalog.report({ ...listed, client: id })
    expect(recorder.recording().clients.map(({ id, lists }) => [id, lists.length])).toEqual([
      ['c', 1],
      ['a', 1],
    ])
    for (let i = 0; i < 1_001; i++)
      catalog.report({ type: 'tools/searched', client: 'a', query: 'x', hits: [], tokens: 1 })
    expect(recorder.recording().clients.map(({ id, searches }) => [id, searches.length])).toEqual([
      ['a', 1_000],
      ['a', 1],
    ])
  })

  const getClient = (more: object) => ({ id: 'a', lists: [], searches: [], definitions: [], uses: [], ...more })
  it.each([
    [undefined, 'it is not an object'],
    ['text', 'it is not an object'],
    [{}, 'version is required'],
    [{ version: 2, tools: [], clients: [] }, 'version must be 1'],
    [{ version: 1, tools: [{ name: 'a', tokens: -1 }], clients: [] }, 'tools[0].tokens must be at least 0'],
    [
      {
        version: 1,
        tools: [],
        clients: [getClient({ uses: [{ at: 0, name: 'a', through: 'direct', ok: 1, wrappingTokens: 0 }] })],
      },
      'clients[0].uses[0].ok must be true or false, not a number',
    ],
    [
      {
        version: 1,
        tools: [],
        clients: [
          getClient({ searches: [{ at: 3, hits: [], tokens: 1 }], definitions: [{ at: 3, name: 'a', tokens: 1 }] }),
        ],
      },
      'clients[0]: two calls are at 3',
    ],
    [{ version: 1, tools: [], clients: [getClient({}), 'x'] }, 'clients[1] is not an object'],
    [{ version: 1, tools: [null], clients: [] }, 'tools[0] is not an object'],
  ])('R48 rejects JSON that is not a recording: %j', (json, fault) => {
    expect(() => readCatalogRecording(json)).toThrow(fault)
    expect(() => readCatalogRecording(json)).toThrow(
      /^This is not a catalog recording of version 1: .*\. Record it again with this version of Foldout\.$/,
    )
  })

  it.each([
    ['tools', { version: 1, tools: Array.from({ length: 20_000 }, () => ({ tokens: 'x' })), clients: [] }],
    ['clients', { version: 1, tools: [], clients: Array.from({ length: 20_000 }, () => ({ id: 5 })) }],
    [
      'uses',
      { version: 1, tools: [], clients: [getClient({ uses: Array.from({ length: 20_000 }, () => ({ at: -1 })) })] },
    ],
  ])('R48 stops at the first fault among 20,000 wrong %s', (_, json) => {
    expect(() => readCatalogRecording(json)).toThrow(/^This is not a catalog recording of version 1: .{1,300}\. Rec/)
  })

  it('R48 reads and learns from a client with 50,000 calls in reasonable time', () => {
    const uses = Array.from({ length: 50_000 }, (_, at) => ({
      at: 2 * at + 1,
      name: `tool_${at % 40}`,
      through: 'use_tool',
      ok: true,
      wrappingTokens: 5,
    }))
    const searches = uses.map(({ at, name }) => ({ at: at - 1, hits: [name], tokens: 100 }))
    const tools = Array.from({ length: 40 }, (_, at) => ({ name: `tool_${at}`, tokens: 50 }))
    const getCpuMs = startCpuClock()
    const recording = readCatalogRecording({ version: 1, tools, clients: [getClient({ uses, searches })] })
    expect(learnCore(recording, { minClients: 1 }).evidence.uses).toBe(50_000)
    expect(getCpuMs()).toBeLessThan(10_000)
  })
})
