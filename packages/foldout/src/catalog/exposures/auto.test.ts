import { describe, expect, it } from 'vitest'
import {
  all,
  auto,
  createCatalog,
  hybrid,
  metaTool,
  twoPhase,
  type AutoOptions,
  type Catalog,
  type CatalogEvent,
  type RawTool,
} from '../../entries/catalog.ts'
import { estimatedTokens } from '../../entries/index.ts'
import { toolTokens } from '../../tools/definition.ts'
import { manyTools, tool } from '../catalog.fixtures.ts'
import { getListing } from '../listing.ts'

interface Stage {
  readonly catalog: Catalog
  /** The decisions so far, in order. */
  readonly chosen: { readonly exposure: string; readonly reason: string }[]
  announcements: number
  names(): string[]
  /** Lists the tools, as a client does. */
  list(): string[]
  use(name: string): Promise<boolean>
}

function stage(
  tools: readonly RawTool[],
  { takesListChanges = true, ...options }: AutoOptions & { readonly takesListChanges?: boolean } = {},
): Stage {
  const catalog = createCatalog(tools)
  const chosen: Stage['chosen'] = []
  catalog.subscribe((event: CatalogEvent) => {
    if (event.type === 'exposure/chosen') chosen.push({ exposure: event.exposure, reason: event.reason })
  })
  const exposed = auto(options).expose(catalog, { id: 'c', takesListChanges })
  const names = (): string[] => exposed.list().map(({ name }) => name)
  const made: Stage = {
    catalog,
    chosen,
    announcements: 0,
    names,
    list() {
      const listed = names()
      exposed.listed()
      expect(exposed.choice).toEqual(chosen.at(-1))
      return listed
    },
    async use(name) {
      return (await exposed.call('use_tool', { name }, {})).isError !== true
    },
  }
  exposed.onListChanged(() => made.announcements++)
  return made
}

const META = ['search_tools', 'use_tool']
const [first, second, third] = manyTools(40).map(({ name }) => name) as [string, string, string]
const tooMany = { exposure: 'hybrid', reason: '40 tools are too many to list.' }

describe('R44 auto', () => {
  it('R44 lists all tools while that is cheap', () => {
    const tools = manyTools(29)
    const { list, chosen, catalog } = stage(tools)
    expect(list()).toEqual(catalog.tools.map(({ name }) => name))
    const tokens = catalog.tools.reduce((sum, entry) => sum + toolTokens(getListing(entry), estimatedTokens), 0)
    expect(chosen).toEqual([{ exposure: 'all', reason: `29 tools with ${tokens} tokens are cheap to list.` }])
  })

  it('R44 folds from 30 tools on', () => {
    const { list, chosen } = stage(manyTools(30))
    expect(list()).toEqual(META)
    expect(chosen).toEqual([{ ...tooMany, reason: '30 tools are too many to list.' }])
  })

  it('R86 folds where finding tools costs less than listing them, by the price of the model', () => {
    const wide = tool('wordy', { inputSchema: { type: 'object', description: 'lamp '.repeat(9_000) } })
    const narrow = tool('wordy', { inputSchema: { type: 'object', description: 'lamp '.repeat(5_500) } })
    const cache = { minimum: 1024, read: 0.05, write: 1.25, ttlMs: 300_000 }
    expect(stage([narrow]).list()).toEqual(['wordy'])
    expect(stage([wide]).list()).toEqual(META)
    expect(stage([wide], { price: { cache, perHour: 1_000 } }).list()).toEqual(['wordy'])
    expect(stage([narrow], { price: { perHour: 0 } }).list()).toEqual(META)
    const { list, chosen } = stage([wide])
    list()
    expect(chosen[0]?.reason).toMatch(
      /^Finding tools saves [1-9]\d* tokens a conversation: listing 1 tool takes 9\d{3} \(40 conversations an hour; the cache reads at 0\.1, writes at 1\.25 and begins at 1024 tokens\)\.$/,
    )
  })

  it('R86 folds more of what few conversations need', () => {
    const narrow = tool('wordy', { inputSchema: { type: 'object', description: 'lamp '.repeat(2_000) } })
    expect(stage([narrow]).list()).toEqual(['wordy'])
    expect(stage([narrow], { need: 0.2 }).list()).toEqual(META)
    expect(() => auto({ need: 2 })).toThrow(/need is 2/)
  })

  it('R44 folds from a number of tokens on', () => {
    const words = (count: number) =>
      tool('wordy', { inputSchema: { type: 'object', description: 'lamp '.repeat(count) } })
    const cost = (count: number) => {
      const [entry] = createCatalog([words(count)]).tools
      return toolTokens(getListing(entry!), estimatedTokens)
    }
    let count = 4_900
    while (cost(count) < 5_000) count++
    expect(cost(count)).toBe(5_000)
    const limit = { maxTokens: 5_000 }
    expect(stage([words(count)], limit).list()).toEqual(META)
    expect(stage([words(count - 1)], limit).list()).toEqual(['wordy'])
    expect(stage([words(count)], limit).names()).toEqual(META)
  })

  it('R44 accepts other thresholds, and a core', () => {
    expect(stage(manyTools(30), { maxTools: 31 }).list()).toHaveLength(30)
    expect(stage(manyTools(5), { maxTokens: 10 }).list()).toEqual(META)
    expect(stage(manyTools(40), { core: [third, first] }).list()).toEqual([...[first, third].sort(), ...META])
    expect(() => auto({ core: ['nothing'] }).check!(createCatalog([tool('something')]))).toThrow(
      "There is no tool 'nothing' to list as a core tool. Nearest: something.",
    )
  })

  it.each([true, false])(
    'R44 never changes a list because of use (the client takes changes: %s)',
    async (takesListChanges) => {
      const { list, names, use, chosen, ...rest } = stage(manyTools(40), { takesListChanges })
      expect(list()).toEqual(META)
      for (const name of [first, second, third, first]) expect(await use(name)).toBe(true)
      expect(names()).toEqual(META)
      expect(list()).toEqual(META)
      expect(rest.announcements).toBe(0)
      expect(chosen).toEqual([tooMany])
    },
  )

  it('R44 folds a catalog that grows past the threshold, and opens one that shrinks below it', () => {
    const client = stage(manyTools(29))
    expect(client.list()).toHaveLength(29)
    client.catalog.add([tool('one_more')])
    expect(client.announcements).toBe(1)
    expect(client.list()).toEqual(META)
    client.catalog.remove('one_more')
    expect(client.announcements).toBe(2)
    expect(client.list()).toHaveLength(29)
    expect(client.chosen.map(({ exposure }) => exposure)).toEqual(['all', 'hybrid', 'all'])
  })

  it('R44 lists the meta tools until the catalog is complete, and still answers them later', async () => {
    const [one, two] = manyTools(2) as [RawTool, RawTool]
    let isComplete = false
    const made = stage([one], { isComplete: () => isComplete })
    expect(made.list()).toEqual(META)
    expect(made.chosen).toEqual([
      { exposure: 'hybrid', reason: 'The catalog has 1 tool so far, and more will follow.' },
    ])
    made.catalog.add([two])
    isComplete = true
    expect(await made.use(two.name)).toBe(true)
    expect(made.list().toSorted()).toEqual([one.name, two.name].toSorted())
    expect(await made.use(one.name)).toBe(true)
  })

  it('R44 answers the meta tools of a list that a client got earlier', async () => {
    const client = stage(manyTools(3))
    client.list()
    expect(await client.use(first)).toBe(true)
    expect(client.announcements).toBe(0)
  })

  it('R44 never runs a tool of a server that has the name of a meta tool', async () => {
    const seen: unknown[] = []
    const call = async (args: unknown) => {
      seen.push(args)
      return { content: [] }
    }
    const catalog = createCatalog([tool('use_tool', { call }), tool('search_tools', { call }), tool('lamp')])
    for (const expose of [auto(), all(), hybrid(), metaTool(), twoPhase()]) {
      const exposed = expose.expose(catalog, { id: 'c', takesListChanges: true })
      await exposed.call('use_tool', { name: 'lamp', arguments: {} }, {})
      await exposed.call('search_tools', { query: 'lamp' }, {})
      await exposed.call('use_tool', { name: 'use_tool', arguments: {} }, {})
      expect(exposed.target('search_tools', { query: 'lamp' })).toBeUndefined()
    }
    expect(seen).toEqual([])
    await all().expose(catalog, { id: 'c', takesListChanges: true }).call('tool__use_tool', { of: 'its own' }, {})
    expect(seen).toEqual([{ of: 'its own' }])
  })
})
