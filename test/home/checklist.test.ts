import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bySearch,
  converse,
  directly,
  legacyOpening,
  type Call,
  type Conversation,
} from '../../examples/home/conversation.ts'
import { coreTools } from '../../examples/home/metadata.ts'
import { homeServer, type HomeServer } from '../../examples/home/server.ts'
import { homeTools } from '../../examples/home/tools.ts'
import { contextTokens, tokenTable } from '../../examples/home/token-table.ts'
import { allKinds, overHttp, getText, type TestClient } from '../../packages/foldout/src/mcp/serve/clients.fixtures.ts'
import { stage, getState } from './stage.ts'

const listed = ['get_flow_overview', 'get_home_structure', 'get_states', 'trigger_any_flow', 'search_tools', 'use_tool']

describe.each(allKinds)('the checklist, %s over HTTP', (kind) => {
  let server: HomeServer
  let client: TestClient

  beforeAll(async () => {
    server = homeServer()
    const { url } = await server.served.http()
    client = await overHttp(url, kind)
  })
  afterAll(async () => {
    await client.close()
    await server.served.close()
  })

  const search = async (args: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
    const text = getText(await client.call('search_tools', args))
    return Array.from(text.matchAll(/^(\w+)[(,]/gm), ([, name]) => name!)
  }

  it('R47 tools/list returns exactly six tools', async () => {
    const { tools } = await client.list()
    expect(tools.map(({ name }) => name)).toEqual(listed)
    expect(listed.filter((name) => !name.endsWith('_tools') && name !== 'use_tool')).toEqual([...coreTools].sort())
  })

  it('R47 search_tools finds the right tools for "lights"', async () => {
    expect((await search({ query: 'lights' })).slice(0, 2)).toEqual(['set_light', 'control_zone_lights'])
    expect(getText(await client.call('search_tools', { query: 'lights', limit: 1 }))).toMatch(
      /^set_light\(device_id: string .*brightness\?: number 0\.\.100.*\) — Control light brightness, color, and power state\nAlso near: .+ \(search for a name to see its arguments\)$/,
    )
  })

  it('R47 search_tools finds the right tools for "temperature"', async () => {
    const found = await search({ query: 'temperature' })
    expect(found[0]).toBe('set_thermostat')
    expect(found).toEqual(expect.arrayContaining(['get_states', 'get_insight_data']))
  })

  it('R47 the category filter of search_tools works', async () => {
    expect(new Set(await search({ query: 'temperature', category: 'insights' }))).toEqual(
      new Set(['get_insight_data', 'get_insight_logs']),
    )
    expect((await search({ query: 'temperature', category: 'Control' }))[0]).toBe('set_thermostat')
    const elsewhere = await client.call('search_tools', { query: 'temperature', category: 'garden' })
    expect(elsewhere.isError).toBeFalsy()
    expect(getText(elsewhere)).toMatch(/^There is no category 'garden'\. From all tools:\nset_thermostat\(/)
  })

  it('R47 use_tool runs set_light, and the light really changes', async () => {
    expect(getState(server.home, 'light-bedroom-bedside')).toMatchObject({ onoff: false, dim: 1 })
    const args = { device_id: 'light-bedroom-bedside', brightness: 40, color: '#ff0000' }
    const result = await client.call('use_tool', { name: 'set_light', arguments: args })
    expect(result.isError).toBeFalsy()
    expect(getState(server.home, 'light-bedroom-bedside')).toMatchObject({
      onoff: true,
      dim: 0.4,
      light_mode: 'color',
      light_hue: 0,
      light_saturation: 1,
    })
    const { call } = stage()
    expect(getText(result)).toBe((await call('set_light', args)).message)
    const states = await client.call('get_states', { device_ids: ['light-bedroom-bedside'], capability: 'dim' })
    expect(getText(states)).toContain('light-bedroom-bedside "Bedside lamp": dim 0.4')
  })

  it('R47 use_tool explains what to do about an unknown tool', async () => {
    const result = await client.call('use_tool', {
      name: 'set_ligth',
      arguments: { device_id: 'light-bedroom-bedside' },
    })
    expect(result.isError).toBe(true)
    expect(getText(result)).toBe(
      "Tool 'set_ligth' not found. Use search_tools to discover available tools. Nearest: set_light.",
    )
  })

  it('R47 use_tool checks arguments before anything runs', async () => {
    const before = structuredClone(server.home.devices())
    const args = { device_id: 'light-living-floor', brightness: 180 }
    const result = await client.call('use_tool', { name: 'set_light', arguments: args })
    expect(result.isError).toBe(true)
    expect(getText(result)).toMatch(/^Wrong arguments for tool 'set_light': .*brightness/)
    expect(server.home.devices()).toEqual(before)
  })

  it('R47 core tools still work when called directly', async () => {
    const { call } = stage()
    const structure = await client.call('get_home_structure')
    expect(structure.isError).toBeFalsy()
    expect(getText(structure)).toBe((await call('get_home_structure')).message)
    const flow = await client.call('trigger_any_flow', { flow: 'good-night' })
    expect(flow.isError).toBeFalsy()
    expect(server.home.flowRuns().at(-1)?.flow).toBe('good-night')
  })

  it('R47 a client that remembers an unlisted tool can still call it directly', async () => {
    const result = await client.call('set_thermostat', { device_id: 'thermostat-living', target_temperature: 21.5 })
    expect(result.isError).toBeFalsy()
    expect(getState(server.home, 'thermostat-living')).toMatchObject({ target_temperature: 21.5 })
  })

  it('R48 the instructions explain both steps', () => {
    expect(client.instructions()).toMatch(/1\. call search_tools .* 2\. call use_tool /)
  })
})

describe.each(allKinds)('the flag that lists everything, %s', (kind) => {
  it('R47 lists all fourteen tools unchanged, and each can be called', async () => {
    const { home, served } = homeServer({ everything: true })
    const { url } = await served.http()
    const client = await overHttp(url, kind)
    try {
      const { tools } = await client.list()
      expect(tools.map(({ name }) => name)).toEqual(Object.keys(calls).sort())
      for (const { name, description, inputSchema } of homeTools(home))
        expect(tools.find((tool) => tool.name === name)).toMatchObject({ description, inputSchema })
      expect(client.instructions()).toBeFalsy()
      for (const [name, args] of Object.entries(calls)) {
        const result = await client.call(name, args)
        expect(result.isError, `${name}: ${getText(result)}`).toBeFalsy()
      }
      expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: true, dim: 0.2 })
    } finally {
      await client.close()
      await served.close()
    }
  })
})

/** One call for each tool. */
const calls = {
  get_home_structure: {},
  get_states: { zone_id: 'kitchen' },
  trigger_any_flow: { flow: 'good-night' },
  get_flow_overview: {},
  set_light: { device_id: 'light-living-floor', brightness: 20 },
  set_thermostat: { device_id: 'thermostat-living', mode: 'off' },
  control_device: { device_id: 'blinds-living', capability: 'windowcoverings_set', value: 0.5 },
  toggle_device: { device_id: 'plug-living-tv' },
  control_zone_lights: { zone_id: 'kitchen', on: true },
  control_zone_capability: { zone_id: 'home', capability: 'windowcoverings_set', value: 0 },
  get_insight_logs: {},
  get_insight_data: { log_id: 'thermostat-living:measure_temperature', points: 1 },
  get_installed_apps: {},
  refresh_homey_flows: {},
} satisfies Record<string, Readonly<Record<string, unknown>>>

describe('the token table, measured', () => {
  const served = { everything: homeServer({ everything: true }).served, hybrid: homeServer().served }
  const urls = { everything: '', hybrid: '' }

  beforeAll(async () => {
    urls.everything = (await served.everything.http()).url
    urls.hybrid = (await served.hybrid.http()).url
  })
  afterAll(async () => {
    await Promise.all([served.everything.close(), served.hybrid.close()])
  })

  it('R47 initial context is at least 60 % smaller in hybrid, instructions included', async () => {
    const counter = await gptTokenizer()
    const everything = await converse(urls.everything, directly)
    const hybrid = await converse(urls.hybrid, bySearch)
    const [list, opening, use, whole, input] = tokenTable({ everything, hybrid }, counter)
    expect(list!.everything).toBeGreaterThan(2_400)
    expect(list!.saved).toBeGreaterThanOrEqual(60)
    expect(opening!.hybrid).toBe(list!.hybrid + counter.count(hybrid.instructions))
    expect(opening!.everything).toBe(list!.everything)
    expect(opening!.saved).toBeGreaterThanOrEqual(60)
    for (const row of [use, whole, input]) expect(row!.saved).toBeGreaterThanOrEqual(40)
    const last = everything.exchanges.at(-1)!.answer
    expect(hybrid.exchanges.at(-1)!.answer, 'the home is the same in the end').toBe(last)
  })

  it('R47 hybrid still costs less after one search and two or three unlisted tools', async () => {
    const counter = await gptTokenizer()
    const used: readonly Call[] = [
      { name: 'control_zone_lights', arguments: calls.control_zone_lights },
      { name: 'control_zone_capability', arguments: calls.control_zone_capability },
      { name: 'set_thermostat', arguments: calls.set_thermostat },
    ]
    const everything = await converse(urls.everything, used)
    const hybrid = await converse(urls.hybrid, [
      { name: 'search_tools', arguments: { query: 'light the kitchen, close all blinds and turn the heating off' } },
      ...used.map((call) => ({ name: 'use_tool', arguments: { ...call } })),
    ])
    const upTo = (conversation: Conversation, count: number): number =>
      contextTokens({ ...conversation, exchanges: conversation.exchanges.slice(0, count) }, counter)
    expect(1 - upTo(hybrid, 1 + 2) / upTo(everything, 2), 'the usual case').toBeGreaterThan(0.4)
    expect(1 - upTo(hybrid, 1 + 3) / upTo(everything, 3), 'the worst case').toBeGreaterThan(1 / 3)
  })

  it('R49 the list has the same bytes in both protocol eras and on another server for the same home', async () => {
    const [first, legacy] = [await converse(urls.hybrid, []), await legacyOpening(urls.hybrid)]
    const another = homeServer()
    const again = await converse((await another.served.http()).url, [])
    await another.served.close()
    expect(JSON.stringify(legacy.tools)).toBe(JSON.stringify(first.tools))
    expect(JSON.stringify(again.tools)).toBe(JSON.stringify(first.tools))
    expect(legacy.instructions).toBe(first.instructions)
  })
})
