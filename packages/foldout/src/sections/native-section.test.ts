import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runAgent } from '../agent/loop/run-agent.ts'
import type { AgentOptions } from '../agent/options.ts'
import type { RawTool } from '../catalog/tool.ts'
import { createCatalog } from '../catalog/live/catalog.ts'
import { hybrid } from '../catalog/exposures/hybrid.ts'
import { native } from '../catalog/exposures/native.ts'
import { getText, tool } from '../catalog/catalog.fixtures.ts'
import { estimatedTokens } from '../core/tokens/tokens.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { createMemoryStore } from '../session/stores/memory-store.ts'
import { openSession } from '../session/stores/open-session.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { toolTokens } from '../tools/definition.ts'
import { catalogSection } from './catalog-section.ts'

const NUMBER = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] } as const
const WORK = ['invoice', 'parcel', 'garden', 'violin', 'lantern'].flatMap((thing) =>
  ['create', 'delete', 'find', 'print'].map((action) =>
    tool(`${action}_${thing}`, { description: `Will ${action} one ${thing} by its number.`, inputSchema: NUMBER }),
  ),
)

function desk(expose = native(), tools: readonly RawTool[] = WORK) {
  const catalog = createCatalog(tools)
  const role = defineSection({ key: 'role', title: 'Role', template: 'You help.' })
  const prompt = definePrompt({ ns: 'test', key: 'desk', sections: [role, catalogSection(catalog, { expose })] })
  return { bound: prompt.bind(), catalog }
}

async function run(script: readonly ScriptStep[], inPlace: boolean, options: Partial<AgentOptions> = {}) {
  const adapter = scriptedAdapter(script)
  const result = await runAgent(desk().bound, {
    adapter: { ...adapter, addsInPlace: inPlace },
    input: 'Go.',
    ...options,
  })
  const texts = result.state.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
  return { result, texts, requests: adapter.requests }
}

describe('native()', () => {
  it('R82 adds what a search finds to the conversation, where that costs no cache', async () => {
    const { result, texts, requests } = await run(
      [calls('search_tools', { query: 'print an invoice' }), calls('print_invoice', { number: 7 }), says('Done.')],
      true,
    )
    expect(result.status).toBe('completed')
    expect(requests[0]?.tools).toEqual(['search_tools', 'use_tool'])
    expect(requests[1]?.tools).toContain('print_invoice')
    expect(requests[1]?.tools.length).toBeLessThanOrEqual(2 + 5)
    expect(texts[0]).toMatch(/^Callable now by name: print_invoice\b/)
    expect(texts[1]).toBe('print_invoice {"number":7}')
  })

  it('R82 answers as hybrid() does where that would cost the cache', async () => {
    const { texts, requests } = await run([calls('search_tools', { query: 'print an invoice' }), says('Done.')], false)
    const { catalog } = desk()
    const exposed = hybrid().expose(catalog, { id: 'a', takesListChanges: true })
    expect(texts[0]).toBe(getText(await exposed.call('search_tools', { query: 'print an invoice' }, {})))
    expect(requests[1]?.tools).toEqual(['search_tools', 'use_tool'])
  })

  it('R82 R66 asks for approval of a found tool under its own name', async () => {
    const { result } = await run(
      [calls('search_tools', { query: 'delete a parcel' }), calls('delete_parcel', { number: 1 })],
      true,
      { needsApproval: ({ tool: name }) => name === 'delete_parcel' },
    )
    expect(result).toMatchObject({
      status: 'waiting',
      approvals: [{ tool: 'delete_parcel', arguments: { number: 1 } }],
    })
  })

  it('R82 does not add guesses, or tools that are there already', async () => {
    const search = calls('search_tools', { query: 'print an invoice' })
    const { requests } = await run([calls('search_tools', { query: 'zxqv' }), search, search, says('Done.')], true)
    expect(requests[1]?.tools).toHaveLength(2)
    expect(requests[3]?.tools).toEqual([...new Set(requests[3]?.tools)])
    expect(requests[3]?.messages.at(-1)).toMatchObject({ role: 'tools' })
    expect(requests[3]?.messages.at(-2)).toMatchObject({
      text: expect.stringContaining('print_invoice, listed: call it directly'),
    })
  })

  it('R82 R39 keeps what was found in a resumed conversation, which stays append-only over ten turns with five searches', async () => {
    const store = createMemoryStore()
    const things = ['invoice', 'parcel', 'garden', 'violin', 'lantern']
    const script = things.flatMap((thing, at) => [
      calls('search_tools', { query: `find a ${thing}` }),
      calls(`find_${thing}`, { number: at }),
      says('Found.'),
      says('You are welcome.'),
    ])
    const adapter = { ...scriptedAdapter(script), addsInPlace: true }
    for (const input of things.flatMap((thing) => [`Find my ${thing}.`, 'Thanks.'])) {
      const session = await openSession({ store, id: 'chat' })
      await runAgent(desk().bound, { adapter, session, input })
      await session.saved()
    }
    expect(adapter.requests).toHaveLength(20)
    for (const [at, { system, messages, tools }] of adapter.requests.slice(1).entries()) {
      const before = adapter.requests[at]
      expect(system).toBe(before?.system)
      expect(messages.slice(0, before?.messages.length)).toEqual(before?.messages)
      expect(tools.slice(0, before?.tools.length)).toEqual(before?.tools)
    }
    expect(adapter.requests.at(-1)?.messages.filter((each) => each.role === 'tool' && each.isError)).toEqual([])
  })

  it('R82 R31 an answer and the definitions it adds cost no more than signatures and a longer call, and every call ends alike', async () => {
    const lines = readFileSync(new URL('../../../../test/data/mcp-tools/tools.jsonl', import.meta.url), 'utf8')
    const real = lines
      .split('\n')
      .filter(Boolean)
      .slice(0, 300)
      .map((line) => JSON.parse(line) as RawTool)
    const tools = real.map((each) => tool(each.name, { ...each, call: async (args) => said(each.name, args) }))
    const { catalog } = desk(native(), tools)
    const client = { id: 'a', takesListChanges: true }
    const old = hybrid().expose(catalog, client)
    let additions = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...catalog.tools), fc.boolean(), async (wanted, byName) => {
        const query = byName ? wanted.name : wanted.shortDescription
        const fresh = native().expose(catalog, client)
        const before = fresh.list()
        const signatures = getText(await old.call('search_tools', { query }, {}))
        const answer = getText(await fresh.call('search_tools', { query }, { addsInPlace: true }))
        const added = fresh.list().slice(before.length)
        expect(added.length).toBeLessThanOrEqual(5)
        const sources = new Set(added.map(({ name }) => catalog.tools.find((each) => each.name === name)?.source ?? ''))
        const texts = [answer, ...Array.from(sources, (name) => `${name} Tools of ${name}.`)]
        const cost = [
          ...added.map((each) => toolTokens(each, estimatedTokens)),
          ...texts.map((text) => estimatedTokens.count(text)),
        ].reduce((sum, each) => sum + each, 0)
        // A call by its own name saves nine tokens of output, at five times the price.
        expect(cost).toBeLessThanOrEqual(estimatedTokens.count(signatures) + 45)
        additions += added.length
        // Whatever one answer names, so does the other.
        for (const { name } of catalog.tools.filter((each) => signatures.includes(`${each.name}(`)))
          expect(answer).toContain(name)
        const args = { anything: 1 }
        const through = await old.call('use_tool', { name: wanted.name, arguments: args }, {})
        expect(await fresh.call(wanted.name, args, { addsInPlace: true })).toEqual(through)
      }),
      { numRuns: 60 },
    )
    expect(additions).toBeGreaterThan(3)
  })
})

function said(name: string, args: unknown) {
  return { content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }] }
}
