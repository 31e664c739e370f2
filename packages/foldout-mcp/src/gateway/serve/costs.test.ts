import { createCatalog, type RawTool } from 'foldout/catalog'
import { describe, expect, it } from 'vitest'
import { LISTING } from '../results/listing.ts'
import { compareExposures, computeCosts, findBreakEven } from './costs.ts'

describe('R58 the break-even', () => {
  it('is the first search at which all requests together cost more than with everything listed', () => {
    // One search: requests of 100, 150 and 150 tokens, where everything takes two of 150.
    expect(findBreakEven({ tokens: 100, findTokens: 50 }, 150)).toBe(1)
    const folded = (searches: number): number =>
      100 + Array.from({ length: searches }, (_, i) => 2 * (100 + (i + 1) * 50)).reduce((a, b) => a + b, 0)
    const found = findBreakEven({ tokens: 100, findTokens: 50 }, 1_000) ?? 0
    expect(folded(found)).toBeGreaterThan((found + 1) * 1_000)
    expect(folded(found - 1)).toBeLessThanOrEqual(found * 1_000)
  })

  it('is 0 if listing everything is cheaper even without a search', () => {
    expect(findBreakEven({ tokens: 300, findTokens: 0 }, 200)).toBe(0)
  })

  it('is never reached if searches cost next to nothing', () => {
    expect(findBreakEven({ tokens: 100, findTokens: 0 }, 1_000)).toBe(null)
  })
})

describe('R58 costs', () => {
  const tools: readonly RawTool[] = Array.from({ length: 40 }, (_, i) => ({
    name: i === 0 ? '__proto__' : `send_${i}`,
    source: i === 0 ? 'constructor' : `server-${i % 3}`,
    description: `Send letter number ${i} to a customer. `.repeat(5),
    inputSchema: { type: 'object', properties: { to: { type: 'string' } } },
    call: () => Promise.resolve({ content: [] }),
  }))

  it('add up, whatever the names of tools and servers', () => {
    const costs = computeCosts(createCatalog(tools))
    expect(costs.total).toBe([...costs.tools.values()].reduce((a, b) => a + b, 0))
    expect(costs.total).toBe(costs.servers.reduce((total, { tokens }) => total + tokens, 0))
    expect(costs.servers.map(({ name }) => name)).toContain('constructor')
  })

  it('include the tools that the gateway adds to every list', async () => {
    const catalog = createCatalog(tools)
    const costs = computeCosts(catalog)
    const [plain, folding] = [
      await compareExposures(catalog, costs, []),
      await compareExposures(catalog, costs, [LISTING]),
    ]
    for (const [i, { tools: listed, listTokens, saved }] of folding.entries()) {
      expect(listed).toBe((plain[i]?.tools ?? 0) + 1)
      expect(listTokens).toBeGreaterThan((plain[i]?.listTokens ?? 0) + 100)
      expect(saved).toBeLessThan(1)
    }
  })

  it('measure what a search adds, and a definition if the exposure has that step', async () => {
    const catalog = createCatalog(tools)
    const exposures = await compareExposures(catalog, computeCosts(catalog), [])
    const byName = new Map(exposures.map((cost) => [cost.name, cost]))
    const find = (name: Parameters<typeof byName.get>[0]): number => byName.get(name)?.findTokens ?? 0
    expect(find('all')).toBe(0)
    expect(find('hybrid')).toBeGreaterThan(50)
    expect(find('two-phase')).toBeGreaterThan(find('hybrid'))
    expect(exposures.every(({ problem }) => problem === undefined)).toBe(true)
  })

  it('of an empty catalog are zero', async () => {
    const catalog = createCatalog([])
    const costs = computeCosts(catalog)
    expect(costs).toMatchObject({ total: 0, servers: [] })
    expect((await compareExposures(catalog, costs, [])).map(({ breakEven }) => breakEven)).toContain(null)
  })
})
