import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { all, catalogSection, createCatalog, hybrid, metaTool, type Catalog, type RawTool } from '../entries/catalog.ts'
import { code } from '../entries/code.ts'
import { createSession, definePrompt, defineTool, ok, runAgent, type AgentOptions } from '../entries/index.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import type { Exposure } from '../catalog/exposure.ts'

function createShop(options: Parameters<typeof createCatalog>[1] = {}) {
  const done: unknown[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays a bill.',
    params: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => amount > 10 && `${amount} is a lot.`,
    execute: ({ amount }, { callId, idempotencyKey }) => {
      done.push([amount, callId, idempotencyKey?.split('/').slice(1).join('/')])
      return ok(`Paid ${amount}.`)
    },
  })
  const wipe: RawTool = {
    name: 'wipe',
    source: 'disk',
    description: 'Wipes the disk.',
    inputSchema: { type: 'object', properties: { disk: { type: 'string' } }, required: ['disk'] },
    annotations: { destructiveHint: true },
    call: async ({ disk }) => {
      done.push(disk)
      return { content: [{ type: 'text', text: `Wiped ${String(disk)}.` }] }
    },
  }
  return { catalog: createCatalog([pay, wipe], options), done }
}

function stage(catalog: Catalog, script: readonly ScriptStep[], expose: Exposure, options: Partial<AgentOptions> = {}) {
  const bound = definePrompt({ ns: 't', key: 't', sections: [catalogSection(catalog, { expose })] }).bind()
  const adapter = scriptedAdapter(script)
  const session = createSession()
  return (more: Partial<AgentOptions> = {}) => runAgent(bound, { adapter, session, ...options, ...more })
}

describe.each([
  ['all', all(), (name: string, args: object) => calls(name, args)],
  ['hybrid', hybrid(), (name: string, args: object) => calls('use_tool', { name, arguments: args })],
  [
    'hybrid, in a string',
    hybrid(),
    (name: string, args: object) => calls('use_tool', { name, arguments: JSON.stringify(args) }),
  ],
  [
    'metaTool',
    metaTool(),
    (name: string, args: object) =>
      calls('discover_and_use_tool', { action: 'execute', tool_name: name, tool_args: args }),
  ],
] as const)('R66 R46 a tool of a catalog, listed by %s', (_, expose, use) => {
  it('is approved as itself, and then runs once', async () => {
    const { catalog, done } = createShop()
    const run = stage(catalog, [use('pay', { amount: 5 }), use('pay', { amount: 50 }), says('Done.')], expose)
    const { status, approvals } = await run({ input: 'Go.' })
    expect(status).toBe('waiting')
    expect(approvals).toMatchObject([{ callId: 'call-2-1', reason: '50 is a lot.', section: 'tools' }])
    expect(approvals[0]!.target?.arguments ?? approvals[0]!.arguments).toEqual({ amount: 50 })
    expect(await run({ approvals: approvals.map((request) => ({ ...request, approved: true })) })).toMatchObject({
      status: 'completed',
    })
    expect(done).toEqual([
      [5, 'call-1-1', 'call-1-1'],
      [50, 'call-2-1', 'call-2-1'],
    ])
  })

  it('needs approval by annotation, by the run or by the catalog, but not if the arguments are wrong', async () => {
    const byRun = createShop()
    const script = [use('wipe', { disk: 'a' }), says('Done.')]
    const seen: string[] = []
    const run = stage(byRun.catalog, script, expose, {
      needsApproval: ({ tool, annotations }) => (seen.push(tool), annotations?.destructiveHint === true),
    })
    const waiting = await run({ input: 'Go.' })
    expect(waiting.approvals).toHaveLength(1)
    expect(seen).toEqual(['disk/wipe'])
    const byCatalog = createShop({
      needsApproval: ({ entry }) => entry.annotations?.destructiveHint === true && 'It wipes.',
    })
    const other = stage(byCatalog.catalog, [use('wipe', {}), ...script], expose)
    const { approvals, messages } = await other({ input: 'Go.' })
    expect(approvals).toMatchObject([{ reason: 'It wipes.' }])
    expect(messages[2]).toMatchObject({ isError: true, text: expect.stringMatching(/^Wrong arguments/) })
    await other({ approvals: approvals.map((request) => ({ ...request, approved: true })) })
    expect([byRun.done, byCatalog.done]).toEqual([[], ['a']])
  })

  it('is not run if it has changed in the meantime', async () => {
    const { catalog, done } = createShop({ needsApproval: () => true })
    const run = stage(catalog, [use('wipe', { disk: 'a' }), says('Done.')], expose)
    const { approvals } = await run({ input: 'Go.' })
    const description = 'Wipes all disks.'
    catalog.replace('disk', [{ name: 'wipe', description, call: async () => (done.push('all'), { content: [] }) }])
    const answer = run({ approvals: approvals.map((request) => ({ ...request, approved: true })) })
    await expect(answer).rejects.toMatchObject({ code: 'approval-changed' })
    expect(done).toEqual([])
  })
})

describe('R66 a call that cannot wait for a person', () => {
  const refusal = "Tool 'pay' was not run: a person has to approve it first, and this call cannot wait for that."

  it('fails outside a run, unless the catalog approves it', async () => {
    const { catalog, done } = createShop({ needsApproval: () => true })
    expect(await catalog.call('pay', { amount: 50 })).toMatchObject({ isError: true, content: [{ text: refusal }] })
    expect(await catalog.call('wipe', { disk: 'a' })).toMatchObject({ isError: true })
    expect(await catalog.call('pay', { amount: 50 }, { clearedCall: 'something else' })).toMatchObject({
      isError: true,
    })
    expect(done).toEqual([])
    const open = createShop({ needsApproval: () => true, approve: ({ entry }) => entry.name === 'pay' })
    expect(await open.catalog.call('pay', { amount: 50 })).toMatchObject({ content: [{ text: 'Paid 50.' }] })
    expect(await open.catalog.call('wipe', { disk: 'a' })).toMatchObject({ isError: true })
  })

  it('fails in a program of run_code, even if the program itself was approved', async () => {
    const { catalog, done } = createShop()
    const exposure = code()
    const program = `
      const few = await local.pay({ amount: 2 });
      const also = await local.pay({ amount: 3 });
      try { await local.pay({ amount: 50 }) } catch (error) { return [few, also, error.message] }`
    const run = stage(catalog, [calls('run_code', { code: program }), says('Done.')], exposure, {
      needsApproval: ({ tool }) => tool === 'run_code',
    })
    const { approvals } = await run({ input: 'Go.' })
    expect(approvals).toMatchObject([{ tool: 'run_code' }])
    const { messages } = await run({ approvals: approvals.map((request) => ({ ...request, approved: true })) })
    exposure.close()
    expect(messages[2]).toMatchObject({ text: expect.stringContaining(refusal) })
    expect(done).toEqual([
      [2, 'call-1-1/1', 'call-1-1/1'],
      [3, 'call-1-1/2', 'call-1-1/2'],
    ])
  })
})
