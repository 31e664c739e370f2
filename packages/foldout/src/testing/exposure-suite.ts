import { beforeEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/live/catalog.ts'
import type { Catalog } from '../catalog/contract.ts'
import type { CatalogEvent } from '../catalog/events.ts'
import type { ExposedCatalog, Exposure, ListedTool } from '../catalog/exposure.ts'
import type { CallContext, CallResult, CatalogInput, ToolProgress, RawTool } from '../catalog/tool.ts'
import type { JsonSchema } from '../core/schema/schema.ts'
import { estimatedTokens, type TokenCounter } from '../core/tokens/tokens.ts'
import { TOOL_NAME_PATTERN } from '../tools/tool.ts'

/**
 * A client's call of a listed tool.
 *
 * @example
 * ```ts
 * const call: ClientCall = { name: 'use_tool', arguments: { name: 'send_mail', arguments: { to: 'ada@example.com' } } }
 * ```
 */
export interface ClientCall {
  readonly name: string
  readonly arguments: unknown
}

/**
 * How a client that only knows the list finds and runs tools.
 *
 * @example
 * ```ts
 * const driver: ExposureDriver = {
 *   toFind: (query) => ({ name: 'find', arguments: { words: query } }),
 *   toRun: (tool, args) => ({ name: 'run', arguments: { tool, args } }),
 * }
 * ```
 */
export interface ExposureDriver {
  /** Returns the call that searches for tools; undefined if every tool is listed. */
  toFind(query: string, listed: readonly ListedTool[]): ClientCall | undefined
  /** Returns the call that runs a tool by the name under which it was found. */
  toRun(tool: string, args: Readonly<Record<string, unknown>>, listed: readonly ListedTool[]): ClientCall
}

/**
 * Options of {@link exposureSuite}: the ways in which exposures differ on purpose.
 *
 * @example
 * ```ts
 * const expectations: ExposureExpectations = { lossless: true, counter: estimatedTokens }
 * ```
 */
export interface ExposureExpectations {
  /** Finds and runs tools. Default: listed tools are called directly, and the others through the listed meta tools. */
  readonly driver?: ExposureDriver
  /**
   * Whether the exposure returns a tool's result unchanged, and passes on its failure, progress and target. Default
   * true. Set it to false for an exposure that runs tools inside something else, such as code, and returns its own
   * result; that result must contain the tool's text.
   */
  readonly lossless?: boolean
  /** Counts the tokens of the instructions. Default: a quick estimate. */
  readonly counter?: TokenCounter
}

const metaToolDriver: ExposureDriver = {
  toFind(query, listed) {
    if (isListed('search_tools', listed)) return { name: 'search_tools', arguments: { query } }
    if (isListed('discover_and_use_tool', listed))
      return { name: 'discover_and_use_tool', arguments: { action: 'search', query } }
    return undefined
  },
  toRun(tool, args, listed) {
    if (!isListed(tool, listed)) {
      if (isListed('use_tool', listed)) return { name: 'use_tool', arguments: { name: tool, arguments: args } }
      if (isListed('discover_and_use_tool', listed))
        return { name: 'discover_and_use_tool', arguments: { action: 'execute', tool_name: tool, tool_args: args } }
    }
    return { name: tool, arguments: args }
  },
}

function isListed(name: string, listed: readonly ListedTool[]): boolean {
  return listed.some((tool) => tool.name === name)
}

const picture: CallResult = {
  content: [
    { type: 'text', text: 'A lighthouse.', annotations: { audience: ['user'], priority: 0.5 } },
    { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///lighthouse.svg', name: 'lighthouse.svg', size: 42 },
    { type: 'resource', resource: { uri: 'note:1', text: 'A note.', _meta: { kept: true } } },
    { type: 'of-the-future', anything: [1, { two: null }] },
  ],
  structuredContent: { width: 640, layers: [{ name: 'sea' }] },
  _meta: { 'example.com/trace': 'abc' },
  fieldOfTheFuture: { nested: true },
}

const text: JsonSchema = { type: 'object', properties: { text: { type: 'string' } } }
const echo =
  (name: string): NonNullable<RawTool['call']> =>
  async (args) => ({ content: [{ type: 'text', text: `${name} got ${String(args['text'])}` }] })

/** No two descriptions share a word, so a search for one finds it. */
const plain = [
  ['mail', 'send_letter', 'Sends a letter by post.'],
  ['mail', 'archive', 'Archives correspondence.'],
  ['files', 'archive', 'Packs documents into a zip bundle.'],
  ['files', 'rename_folder', 'Renames a folder.'],
  ['kitchen', 'boil_kettle', 'Boils water for tea.'],
  ['kitchen', '冷蔵庫', 'Opens the refrigerator.'],
  ['kitchen', 'search_tools', 'Rummages through drawers for a whisk.'],
] as const

const special: readonly RawTool[] = [
  {
    name: 'paint_picture',
    source: 'art',
    description: 'Paints a picture.',
    inputSchema: text,
    call: async () => picture,
  },
  {
    name: 'play_violin',
    source: 'art',
    description: 'Plays the violin.',
    call: async () => ({ content: [{ type: 'text', text: 'A string broke.' }], isError: true }),
  },
  {
    name: 'climb_mountain',
    source: 'sport',
    description: 'Climbs a mountain, step by step.',
    call: async (_, { onProgress }) => {
      onProgress?.({ progress: 1, total: 2, message: 'halfway' })
      onProgress?.({ progress: 2, total: 2 })
      return { content: [{ type: 'text', text: 'At the top.' }] }
    },
  },
  { name: 'hibernate', source: 'sport', description: 'Sleeps through winter.', call: () => new Promise(() => {}) },
]

/** Malformed definitions, as some servers send them. The first is not usable; the others can be called. */
const untidy: readonly unknown[] = [
  { source: 'untidy', description: 'Has no name.' },
  {
    name: 'unfold_umbrella',
    source: 'untidy',
    inputSchema: { type: 'object', required: 'yes' },
    call: echo('umbrella'),
  },
  { name: 'grow_orchid', source: 'untidy', description: 5, inputSchema: {}, outputSchema: 'no', call: echo('orchid') },
]

function getTools(size: 'small' | 'large'): readonly CatalogInput[] {
  const filler = Array.from({ length: size === 'small' ? 0 : 40 }, (_, at) => ({
    name: `count_${String.fromCharCode(97 + (at % 26)).repeat(5)}_${at}`,
    source: 'filler',
    description: `Counts ${String.fromCharCode(97 + (at % 26)).repeat(5)} number ${at}.`,
    inputSchema: text,
    call: echo(`count ${at}`),
  }))
  return [
    ...plain.map(([source, name, description], at) => ({
      name,
      source,
      description,
      inputSchema: text,
      call: echo(`${source}/${name}`),
      core: at === 0,
    })),
    ...special,
    ...(untidy as readonly RawTool[]),
    ...filler,
  ]
}

/**
 * Tests the required behavior of every exposure, on vitest.
 *
 * @example
 * ```ts
 * exposureSuite('hybrid()', () => hybrid())
 * ```
 */
export function exposureSuite(name: string, makeExposure: () => Exposure, expected: ExposureExpectations = {}): void {
  const { driver = metaToolDriver, lossless = true, counter = estimatedTokens } = expected
  const cases = (['small', 'large'] as const).flatMap((size) =>
    [true, false].map((takesListChanges) => ({ size, takesListChanges })),
  )
  describe.each(cases)(`${name}, $size catalog, list may change: $takesListChanges`, ({ size, takesListChanges }) => {
    let catalog: Catalog
    let exposed: ExposedCatalog
    let events: CatalogEvent[]
    const getExposure = (tools: readonly CatalogInput[]): { catalog: Catalog; exposed: ExposedCatalog } => {
      const made = createCatalog(tools)
      const exposure = makeExposure()
      exposure.check?.(made)
      return { catalog: made, exposed: exposure.expose(made, { id: 'a client', takesListChanges }) }
    }
    beforeEach(() => {
      ;({ catalog, exposed } = getExposure(getTools(size)))
      events = []
      catalog.subscribe((event) => events.push(event))
    })

    const make = (call: ClientCall, context: CallContext = {}): Promise<CallResult> => {
      expect(exposed.list().map((tool) => tool.name)).toContain(call.name)
      return exposed.call(call.name, call.arguments, context)
    }
    const find = async (query: string): Promise<string> => {
      const call = driver.toFind(query, exposed.list())
      const found = call ? getText(await make(call)) : ''
      return [found, ...exposed.list().map((tool) => tool.name)].join('\n')
    }
    const run = (tool: string, args: Readonly<Record<string, unknown>> = {}, context?: CallContext) =>
      make(driver.toRun(tool, args, exposed.list()), context)
    const listText = (): string => JSON.stringify(exposed.list())

    it('R44 lists tools that every provider accepts, each once', () => {
      const listed = exposed.list()
      expect(new Set(listed.map((tool) => tool.name)).size).toBe(listed.length)
      for (const tool of listed) {
        expect(tool.name).toMatch(TOOL_NAME_PATTERN)
        expect(tool.description).not.toBe('')
        expect(tool.inputSchema['type']).toBe('object')
      }
    })

    it('R44 explains itself in under 150 tokens', () => {
      expect(counter.count(exposed.instructions)).toBeLessThan(150)
      // Every tool that the instructions name is listed.
      for (const named of exposed.instructions.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [])
        expect(listText()).toContain(named)
    })

    it('R44 lets a client that only knows the list find and run every tool', async () => {
      expect(catalog.broken).toHaveLength(1)
      for (const tool of catalog.tools) {
        if (tool.declared === 'hibernate') continue
        expect(await find(tool.name)).toContain(tool.name)
        if (tool.description !== '') expect(await find(tool.description)).toContain(tool.name)
        const answer = getText(await run(tool.name, { text: 'hello' }))
        if (tool.inputSchema['properties'] && tool.declared !== 'paint_picture') expect(answer).toContain('got hello')
        else expect(answer).not.toContain('not found')
      }
    })

    it('R46 accepts a call of an unlisted tool by its name', async () => {
      for (const tool of catalog.tools) {
        if (tool.declared === 'hibernate') continue
        const result = await exposed.call(tool.name, { text: 'hello' }, {})
        expect(getText(result)).not.toContain('not found')
        expect(exposed.target(tool.name, {})?.entry).toBe(tool)
      }
    })

    it('R46 returns a result unchanged', async () => {
      const result = await run('paint_picture')
      if (lossless) expect(result).toEqual(picture)
      else expect(getText(result)).toContain('A lighthouse.')
    })

    it('R46 returns a failure as a failure', async () => {
      const result = await run('play_violin')
      if (lossless) expect(result).toEqual({ content: [{ type: 'text', text: 'A string broke.' }], isError: true })
      else expect(getText(result)).toContain('A string broke.')
    })

    it('R46 answers an unknown name with an error that suggests the nearest tool', async () => {
      for (const wrong of ['paint_pictur', 'Paint_Pitcure']) {
        const direct = await exposed.call(wrong, {}, {})
        expect(direct.isError).toBe(true)
        expect(getText(direct)).toMatch(new RegExp(`^Tool '${wrong}' not found\\..* Nearest: paint_picture`))
        const call = driver.toRun(wrong, {}, exposed.list())
        const through = await exposed.call(call.name, call.arguments, {})
        expect(through.isError).toBe(true)
        expect(getText(through)).toContain('paint_picture')
      }
    })

    it('R46 answers an ambiguous name with the full names', async () => {
      const result = await exposed.call('archive', {}, {})
      expect(result.isError).toBe(true)
      expect(getText(result)).toBe(
        "More than one tool is called 'archive': files__archive, mail__archive. Use one of these names.",
      )
    })

    it('R46 rejects at once on abort, whatever the tool does', async () => {
      const abort = new AbortController()
      const pending = run('hibernate', {}, { signal: abort.signal })
      setTimeout(() => abort.abort(new Error('no longer needed')), 5)
      await expect(pending).rejects.toThrow('no longer needed')
    })

    if (lossless) {
      it('R46 passes progress on', async () => {
        const progress: ToolProgress[] = []
        await run('climb_mountain', {}, { onProgress: (step) => progress.push(step) })
        expect(progress).toEqual([
          { progress: 1, total: 2, message: 'halfway' },
          { progress: 2, total: 2 },
        ])
      })

      it('R46 names the inner tool and its arguments for approval, policies and records', async () => {
        const call = driver.toRun('paint_picture', { text: 'sea' }, exposed.list())
        const target = exposed.target(call.name, call.arguments)
        expect(target?.entry.qualified).toBe('art/paint_picture')
        expect(target?.arguments).toEqual({ text: 'sea' })
        const search = driver.toFind('sea', exposed.list())
        if (search) expect(exposed.target(search.name, search.arguments)).toBeUndefined()
        await make(call)
        expect(events.findLast(({ type }) => type === 'tool/used')).toMatchObject({
          client: 'a client',
          name: 'art/paint_picture',
          through: call.name === 'paint_picture' ? 'direct' : call.name,
          ok: true,
        })
      })
    }

    it('R48 reports the tools that a client received', async () => {
      exposed.listed()
      const told = events.find(({ type }) => type === 'tools/listed')
      expect(told).toMatchObject({ client: 'a client', tools: exposed.list().map((tool) => tool.name) })
    })

    it('R49 gives the same bytes in the list and in answers, whatever the order of the tools', async () => {
      const other = getExposure(getTools(size).toReversed())
      expect(JSON.stringify(other.exposed.list())).toBe(listText())
      expect(other.exposed.instructions).toBe(exposed.instructions)
      for (const query of ['boil water', 'archive', 'a picture of the violin']) {
        const call = driver.toFind(query, exposed.list())
        if (!call) continue
        expect(await other.exposed.call(call.name, call.arguments, {})).toEqual(
          await exposed.call(call.name, call.arguments, {}),
        )
      }
      const asked = await exposed.call('nothing_of_the_kind', {}, {})
      expect(await other.exposed.call('nothing_of_the_kind', {}, {})).toEqual(asked)
    })

    it('R44 only appends to the list, and announces every change', async () => {
      let announced = 0
      const stop = exposed.onListChanged(() => announced++)
      const tell = exposed.onListChanged(() => {
        throw new Error('a listener that fails')
      })
      let before = listText()
      for (const tool of ['paint_picture', 'boil_kettle', 'play_violin', 'send_letter']) {
        const told = announced
        await find(tool)
        await run(tool, { text: 'x' })
        const after = listText()
        if (after !== before) {
          expect(takesListChanges).toBe(true)
          expect(announced).toBeGreaterThan(told)
          expect(after.startsWith(before.slice(0, -1))).toBe(true)
        }
        before = after
        exposed.listed()
      }
      stop()
      tell()
      const told = announced
      catalog.add([{ name: 'later' }])
      expect(announced).toBe(told)
    })

    it('R44 runs tools that are added later, and announces a changed list', async () => {
      let announced = 0
      exposed.onListChanged(() => announced++)
      const before = listText()
      catalog.add([
        { name: 'fly_kite', source: 'sport', description: 'Flies a kite.', inputSchema: text, call: echo('kite') },
      ])
      if (listText() !== before) expect(announced).toBeGreaterThan(0)
      expect(await find('fly_kite')).toContain('fly_kite')
      expect(getText(await run('fly_kite', { text: 'hello' }))).toContain('kite got hello')
      catalog.remove('fly_kite')
      expect(isListed('fly_kite', exposed.list())).toBe(false)
      expect(getText(await exposed.call('fly_kite', {}, {}))).toContain("Tool 'fly_kite' not found.")
    })
  })
}

function getText({ content }: CallResult): string {
  return content.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n')
}
