import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { AgentEvent } from '../agent/events.ts'
import type { AgentOptions } from '../agent/options.ts'
import { runAgent } from '../agent/loop/run-agent.ts'
import { createCatalog } from '../catalog/live/catalog.ts'
import type { Catalog } from '../catalog/contract.ts'
import type { Exposure } from '../catalog/exposure.ts'
import { all } from '../catalog/exposures/all.ts'
import { auto } from '../catalog/exposures/auto.ts'
import { hybrid } from '../catalog/exposures/hybrid.ts'
import { metaTool } from '../catalog/exposures/meta-tool.ts'
import { twoPhase } from '../catalog/exposures/two-phase.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { createSession } from '../session/session.ts'
import { defineSlice } from '../session/slice.ts'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { fail, ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'
import { catalogSection } from './catalog-section.ts'

const NO_LAMPS: Readonly<Record<string, number>> = {}
const lamps = defineSlice({
  name: 'lamps',
  initial: NO_LAMPS,
  reducers: {
    set: (state, lamp: { readonly id: string; readonly brightness: number }) => ({
      ...state,
      [lamp.id]: lamp.brightness,
    }),
  },
})

const setLamp = defineTool({
  name: 'set_lamp',
  description: 'Sets the brightness of a lamp.',
  params: z.object({ id: z.string(), brightness: z.int().min(0).max(100) }),
  execute({ id, brightness }, { session }) {
    session.dispatch(lamps.events.set({ id, brightness }))
    return id === 'broken' ? fail('This lamp is broken.') : ok(`Lamp ${id} is at ${brightness}.`)
  },
})
const listRooms = defineTool({ name: 'list_rooms', description: 'Lists the rooms.', execute: () => ok('Hall, attic.') })
const others = Array.from({ length: 40 }, (_, i) =>
  defineTool({ name: `measure_${i}`, description: `Measures value ${i} of a sensor.`, execute: () => ok(String(i)) }),
)

interface Setup {
  readonly expose?: Exposure
  readonly dynamic?: boolean
  readonly catalog?: Catalog
  readonly nested?: boolean
  readonly options?: Partial<AgentOptions>
}

function setup(script: readonly ScriptStep[], given: Setup = {}) {
  const catalog =
    given.catalog ?? createCatalog([setLamp, listRooms, ...others], { metadata: { list_rooms: { core: true } } })
  const section = catalogSection(catalog, { expose: given.expose ?? hybrid() })
  const sections = given.nested ? [defineSection({ key: 'home', title: 'Home', children: [section] })] : [section]
  const session = createSession({ slices: [lamps] })
  const adapter = scriptedAdapter(script, { supportsDynamicTools: given.dynamic ?? true })
  const events: AgentEvent[] = []
  const bound = definePrompt({ ns: 't', key: 't', sections }).bind()
  const run = () =>
    runAgent(bound, { adapter, session, input: 'Go.', onEvent: (event) => events.push(event), ...given.options })
  return { bound, session, adapter, events, run, catalog }
}

const answers = (messages: readonly { readonly role: string }[]): string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? [(message as unknown as { text: string }).text] : []))

describe('a catalog in a section', () => {
  it('R44 lists the same tools as the exposure and explains the flow', () => {
    const { bound } = setup([])
    const rendered = bound.render()
    expect(rendered.tools.map(({ name }) => name)).toEqual(['list_rooms', 'search_tools', 'use_tool'])
    expect(rendered.text).toMatch(/^## 1 Tools\n\nMost tools are not listed\./)
  })

  it.each([
    ['hybrid', hybrid(), calls('use_tool', { name: 'set_lamp', arguments: { id: 'hall', brightness: 40 } })],
    [
      'metaTool',
      metaTool(),
      calls('discover_and_use_tool', {
        action: 'execute',
        tool_name: 'set_lamp',
        tool_args: { id: 'hall', brightness: 40 },
      }),
    ],
    ['all', all(), calls('set_lamp', { id: 'hall', brightness: 40 })],
  ] as const)('R44 R46 runs a tool of the catalog on the session of the run: %s', async (_, expose, step) => {
    const { run, session } = setup([step, says('Done.')], { expose })
    const { messages } = await run()
    expect(answers(messages)).toEqual(['Lamp hall is at 40.'])
    expect(session.get(lamps)).toEqual({ hall: 40 })
  })

  it('R45 finds tools as over MCP', async () => {
    const { run } = setup([calls('search_tools', { query: 'brightness of a lamp', limit: 1 }), says('Done.')])
    const { messages } = await run()
    expect(answers(messages)[0]).toMatch(/^set_lamp\(id: string, brightness: int 0\.\.100\) — /)
  })

  it('R46 takes arguments as a JSON string and rejects wrong ones before anything runs', async () => {
    const { run, session } = setup([
      calls('use_tool', { name: 'set_lamp', arguments: '{"id":"hall","brightness":7}' }),
      calls('use_tool', { name: 'set_lamp', arguments: { id: 'attic', brightness: 700 } }),
      says('Done.'),
    ])
    const { messages } = await run()
    expect(answers(messages)[1]).toMatch(/^Wrong arguments for tool 'set_lamp': brightness must be at most 100\./)
    expect(session.get(lamps)).toEqual({ hall: 7 })
  })

  it("R20 R46 undoes a failed tool's changes to the session", async () => {
    const step = calls('use_tool', { name: 'set_lamp', arguments: { id: 'broken', brightness: 1 } })
    const { run, session } = setup([step, says('Done.')])
    expect(answers((await run()).messages)).toEqual(['This lamp is broken.'])
    expect(session.get(lamps)).toEqual({})
  })

  it('R46 runs a hidden tool that is called by its name', async () => {
    const { run } = setup([calls('measure_7'), says('Done.')])
    expect(answers((await run()).messages)).toEqual(['7'])
  })

  it('R46 reports the inner tool and its arguments', async () => {
    const { run, events } = setup([calls('use_tool', { name: 'measure_3' }), says('Done.')])
    await run()
    const target = { name: 'measure_3', arguments: {} }
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool/called', target }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool/invoked', name: 'use_tool', target }))
  })

  it('R44 R35 adds a tool after its definition was returned, if the adapter can add tools', async () => {
    const { run, adapter, events, session, bound } = setup(
      [
        calls('get_tool_definition', { name: 'set_lamp' }),
        calls('set_lamp', { id: 'a', brightness: 1 }),
        says('Done.'),
      ],
      { expose: twoPhase() },
    )
    await run()
    expect(adapter.requests[0]!.tools).toEqual(['list_rooms', 'search_tools', 'get_tool_definition', 'use_tool'])
    expect(adapter.requests[1]!.tools).toEqual([...adapter.requests[0]!.tools, 'set_lamp'])
    expect(adapter.requests[1]!.system).toBe(adapter.requests[0]!.system)
    expect(events).toContainEqual({ type: 'tools/injected', names: ['set_lamp'], keys: ['tools.set_lamp'] })
    expect(session.get(lamps)).toEqual({ a: 1 })
    // A later render of the same session continues from there.
    const rendered = bound.render({ session })
    expect(rendered.tools.at(-1)!.name).toBe('set_lamp')
    expect(rendered.trace).toEqual([])
  })

  it('R44 continues with use_tool if tools cannot be added, without a restart', async () => {
    const { run, adapter } = setup(
      [
        calls('get_tool_definition', { name: 'set_lamp' }),
        calls('use_tool', { name: 'set_lamp', arguments: { id: 'a', brightness: 1 } }),
        says('Done.'),
      ],
      { expose: twoPhase(), dynamic: false },
    )
    const { expansions, messages } = await run()
    expect(expansions).toBe(0)
    expect(adapter.requests[1]!.tools).toEqual(adapter.requests[0]!.tools)
    expect(answers(messages)[1]).toBe('Lamp a is at 1.')
  })

  it.each([true, false])(
    'R44 auto() decides once for each session, and use changes no list (dynamic: %s)',
    async (dynamic) => {
      const catalog = createCatalog([setLamp, listRooms, ...others])
      const chosen: string[] = []
      catalog.subscribe((event) => event.type === 'exposure/chosen' && chosen.push(event.reason))
      const steps = [1, 2, 3, 4, 5].map((number) => calls('use_tool', { name: `measure_${number}` }))
      const { run, adapter } = setup([...steps, says('.')], { catalog, expose: auto(), dynamic })
      const { messages } = await run()
      expect(answers(messages)).toEqual(['1', '2', '3', '4', '5'])
      // Once for the prompt, and once for the session.
      expect(chosen).toEqual(['42 tools are too many to list.', '42 tools are too many to list.'])
      expect(adapter.requests.at(-1)!.tools).toEqual(adapter.requests[0]!.tools)
    },
  )

  it('R44 adds a tool to a nested section', async () => {
    const { run, adapter, events } = setup(
      [calls('get_tool_definition', { name: 'measure_3' }), calls('measure_3'), says('.')],
      { expose: twoPhase(), nested: true },
    )
    await run()
    expect(adapter.requests[1]!.tools.at(-1)).toBe('measure_3')
    expect(events).toContainEqual({ type: 'tools/injected', names: ['measure_3'], keys: ['home.tools.measure_3'] })
  })

  it('R44 lists a small catalog in full', () => {
    const { bound } = setup([], { catalog: createCatalog([setLamp, listRooms]), expose: auto() })
    expect(bound.render().tools.map(({ name }) => name)).toEqual(['list_rooms', 'set_lamp'])
    expect(bound.render().text).toBe('## 1 Tools')
  })

  it('R44 is folded with a summary, and opening it adds its tools', async () => {
    const catalog = createCatalog([setLamp, listRooms, ...others])
    const section = catalogSection(catalog, { expose: hybrid(), summary: 'Tools for the house.' })
    const bound = definePrompt({ ns: 't', key: 't', sections: [section] }).bind()
    expect(bound.render().tools.map(({ name }) => name)).toEqual(['read_section'])
    const adapter = scriptedAdapter([
      calls('read_section', { section_key: 'tools' }),
      calls('use_tool', { name: 'measure_1' }),
      says('.'),
    ])
    const { messages } = await runAgent(bound, { adapter, input: 'Go.' })
    expect(adapter.requests[1]!.tools).toEqual(['read_section', 'search_tools', 'use_tool'])
    expect(answers(messages)[1]).toBe('1')
  })

  it('R44 finds tools that were added after the prompt was defined', async () => {
    const { run, catalog } = setup([calls('use_tool', { name: 'late' }), says('.')])
    catalog.add([defineTool({ name: 'late', description: 'Came late.', execute: () => ok('Here.') })])
    expect(answers((await run()).messages)).toEqual(['Here.'])
  })

  it('R44 names a core tool that does not exist', () => {
    expect(() => setup([], { expose: hybrid({ core: ['list_room'] }) })).toThrow(
      "There is no tool 'list_room' to list as a core tool. Nearest: list_rooms",
    )
  })

  it('R35 adds several definitions of one turn together, each once', async () => {
    const { run, adapter, events } = setup(
      [
        callsAll(
          ['get_tool_definition', { name: 'measure_1' }],
          ['get_tool_definition', { name: 'measure_2' }],
          ['get_tool_definition', { name: 'measure_1' }],
        ),
        says('.'),
      ],
      { expose: twoPhase() },
    )
    await run()
    expect(adapter.requests[1]!.tools.slice(-2)).toEqual(['measure_1', 'measure_2'])
    expect(events.filter(({ type }) => type === 'warning')).toEqual([])
  })
})
