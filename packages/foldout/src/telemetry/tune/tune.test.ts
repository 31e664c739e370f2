import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { catalogSection, createCatalog, hybrid } from '../../entries/catalog.ts'
import { definePrompt, defineSection, defineTool, ok, runAgent } from '../../entries/index.ts'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import type { SimulatedRun, SimulationStep } from '../simulate/contract.ts'
import { simulate } from '../simulate/simulate.ts'
import { tune } from './tune.ts'

const words = (count: number): string => Array.from({ length: count }, (_, i) => `Rule ${i + 1} holds.`).join(' ')
const tool = (name: string, description = `${name}.`) =>
  defineTool({ name, description, params: z.object({ order: z.string() }), execute: () => ok('Done.') })
const part = (key: string, how: 'full' | 'summary', count = 500) =>
  defineSection({
    key,
    title: key,
    template: words(count),
    summary: `About ${key}.`,
    visibility: how,
    tools: [tool(`do_${key}`)],
  })
const prompt = (how: 'full' | 'summary') =>
  definePrompt({
    ns: 'desk',
    key: 'tuned',
    sections: [
      defineSection({ key: 'role', title: 'Role', template: words(500) }),
      part('usual', how),
      part('rare', how),
    ],
  }).bind()
const use = (key: string): SimulationStep => ({ calls: [{ name: `do_${key}`, argumentsTokens: 5, resultTokens: 100 }] })
/** All runs need one section, and nobody the other. */
const runs = (how: 'full' | 'summary', count: number): readonly SimulatedRun[] =>
  Array.from({ length: count }, () => ({
    prompt: prompt(how),
    steps: [use('usual'), { says: 70, hears: 20 }, { answers: 50 }],
  }))
const price = { cache: 'anthropic', cacheStart: { perHour: 40 } } as const

describe('tune()', () => {
  it('R79 finds the folding that costs least, and what it saves on other runs with an interval', async () => {
    for (const how of ['full', 'summary'] as const) {
      const { name, visibility, saved, costs, assumptions } = await tune(runs(how, 12), price)
      expect({ name, visibility }).toEqual({ name: 'by need', visibility: { usual: 'full', rare: 'summary' } })
      expect(saved.low).toBeGreaterThan(0)
      expect(saved.mean).toBeGreaterThanOrEqual(saved.low)
      expect(saved.high).toBeGreaterThanOrEqual(saved.mean)
      const least = Math.min(...costs.map(({ cost }) => cost))
      expect(costs.find((way) => way.name === 'by need')?.cost).toBe(least)
      expect(assumptions).toContain(
        '40 conversations an hour begin alike, so 96 % of them find their beginning in the cache.',
      )
    }
  })

  it('R79 recommends nothing from few runs, or where the prompt is best as it is', async () => {
    expect(await tune(runs('summary', 6), price)).toMatchObject({
      name: 'as it is',
      visibility: {},
      saved: { mean: 0 },
    })
    const best = runs('full', 10).map((run) => ({ ...run, steps: [use('usual'), use('rare'), { answers: 10 }] }))
    expect(await tune(best, price)).toMatchObject({ name: 'as it is', ahead: false })
    await expect(tune([], price)).rejects.toMatchObject({ code: 'simulation-invalid' })
  })

  it('R79 recommends what pays on other runs, and says whether that is certain', async () => {
    const cache = { minimum: 0, read: 0.05, write: 1.25, ttlMs: 300_000 }
    const tuneMixed = (count: number) =>
      tune(
        Array.from({ length: 16 }, (_, i): SimulatedRun => {
          const rest = i < count ? [use('usual'), use('usual')] : []
          return { prompt: prompt('summary'), steps: [...rest, { answers: 50 }] }
        }),
        { cache, cacheStart: 'warm' },
      )
    const [few, more] = [await tuneMixed(4), await tuneMixed(8)]
    expect([few.name, few.isCertain, more.isCertain]).toEqual(['by need', false, true])
    expect(few.saved.low).toBeLessThan(0)
    expect(few.overrides).toMatchObject({ sections: { usual: { visibility: 'full' } } })
  })

  it('R79 keeps to what needs no learning if few runs show a small saving, and simulates each way once for all', async () => {
    const sections = [part('usual', 'full', 900), part('rare', 'full', 300)]
    const small = definePrompt({ ns: 'desk', key: 'small', sections }).bind()
    const some = (count: number): readonly SimulatedRun[] =>
      runs('full', count).map((run) => ({ ...run, prompt: small }))
    const [few, many] = [await tune(some(12), price), await tune(some(80), price)]
    expect([few.name, many.name]).toEqual(['as it is', 'by need'])
    const byNeed = few.costs.find(({ name }) => name === 'by need')?.cost
    expect(byNeed).toBeLessThan(few.costs.find(({ name }) => name === 'as it is')?.cost ?? 0)
    let simulated = 0
    await tune(some(12), { ...price, simulate: (...all) => (simulated++, simulate(...all)) })
    expect(simulated).toBe(12 * 4)
  })

  it('R79 opens ahead where the inputs say what is needed', async () => {
    const said = { usual: 'Please do the usual.', rare: 'I need something rare.' }
    const asking = Array.from({ length: 8 }, (_, i): SimulatedRun => {
      // Both halves have both.
      const key = i % 4 < 2 ? 'usual' : 'rare'
      const steps = [...Array.from({ length: 6 }, () => use(key)), { answers: 50 }]
      return { prompt: prompt('summary'), input: said[key], steps }
    })
    const { costs } = await tune(asking, { cache: 'anthropic', cacheStart: 'warm' })
    const getCost = (name: string): number => costs.find((way) => way.name === name)?.cost ?? 0
    expect(getCost('all folded and ahead')).toBeLessThan(getCost('all folded'))
  })

  it('R79 lists the tools of a catalog that most runs find, and not those that few do', async () => {
    const others = Array.from({ length: 40 }, (_, i) => tool(`measure_${i}`, words(80)))
    const section = catalogSection(createCatalog([tool('send_mail'), ...others]), { expose: hybrid() })
    const role = defineSection({ key: 'role', title: 'Role', template: words(500) })
    const office = definePrompt({ ns: 'desk', key: 'office', sections: [role, section] }).bind()
    const search = { name: 'search_tools', argumentsTokens: 10, resultTokens: 300 }
    const through = (target: string) => ({ name: 'use_tool', target, argumentsTokens: 25, resultTokens: 40 })
    const mail = { calls: [through('send_mail')] }
    // Some runs were recorded with the tool in the list, or with a model that guessed its name.
    const direct = { calls: [{ name: 'send_mail', argumentsTokens: 13, resultTokens: 40 }] }
    const used = Array.from({ length: 12 }, (_, i): SimulatedRun => {
      const rare = i === 5 ? [{ calls: [search] }, { calls: [through('measure_7')] }] : []
      const first = i % 4 === 0 ? [direct, direct] : [{ calls: [search] }, mail, mail]
      return { prompt: office, steps: [...first, ...rare, { answers: 50 }] }
    })
    const { core, name, overrides, saved, costs } = await tune(used, price)
    expect({ name, core }).toEqual({ name: 'as it is with 1 core tool', core: ['send_mail'] })
    expect(saved.low).toBeGreaterThan(0)
    expect(costs.map((way) => way.name)).toContain('as it is with 2 core tools')
    const listed = office.render({ overrides }).tools.map((each) => each.name)
    expect(listed).toEqual(['search_tools', 'use_tool', 'send_mail'])
    const adapter = scriptedAdapter([calls('send_mail', { order: 'A' }), says('Done.')])
    const { messages } = await runAgent(office, { adapter, input: 'Mail them.', overrides })
    expect(messages.find(({ role: who }) => who === 'tool')).toMatchObject({ text: 'Done.' })
  })
})
