import { afterAll, describe, expect, it } from 'vitest'
import {
  createCatalog,
  hybrid,
  metaTool,
  twoPhase,
  type CallResult,
  type CatalogEvent,
  type RawTool,
} from 'foldout/catalog'
import { code } from 'foldout/code'
import type { AuditedCall } from '../../policy/audit/audit.ts'
import { Results } from '../../results/results.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import { readText } from '../call/call.fixtures.ts'
import { exposeThroughStages } from '../pipeline.ts'
import { createRequestScope } from './request.fixtures.ts'
import type { RequestScope } from './request.ts'

const results = new Results()
afterAll(() => results.close())

const PAID: CallResult = { content: [{ type: 'text', text: 'Paid.' }] }

function open(changes: Partial<RequestScope> = {}, call: RawTool['call'] = async () => PAID, exposure = hybrid()) {
  const limits = { getLimit: () => Infinity, getLeast: () => Infinity }
  const catalog = createCatalog([{ name: 'pay', description: 'Pays a bill.', source: 'bank', call }])
  const events: CatalogEvent[] = []
  catalog.subscribe((event) => events.push(event))
  const scope = createRequestScope(results.createView('', limits), changes)
  const exposed = exposeThroughStages(exposure, scope).expose(catalog, { id: 'ada', takesListChanges: true })
  return { events, call: (name: string, args: object) => exposed.call(name, args, {}) }
}

const unavailable = (changes: Partial<RequestScope['servers']>): Pick<RequestScope, 'servers'> => ({
  servers: {
    ...createRequestScope(results.createView('', { getLimit: () => 1, getLeast: () => 1 })).servers,
    ...changes,
  },
})

describe('a request', () => {
  it('has a number that its calls, events and report carry, also when several run at the same time', async () => {
    const traffic: Traffic[] = []
    const seen = new Map<unknown, number | undefined>()
    let release: () => void = () => undefined
    const both = new Promise<void>((resolve) => (release = resolve))
    const { call, events } = open({ onTraffic: (one) => traffic.push(one) }, async (args, { request }) => {
      seen.set(args['bill'], request)
      if (seen.size === 2) release()
      await both
      return PAID
    })
    const pay = (bill: string) => call('use_tool', { name: 'pay', arguments: { bill } })
    await Promise.all([pay('rent'), call('search_tools', { query: 'pay' }), pay('power')])
    const [rent, power] = [seen.get('rent'), seen.get('power')]
    expect(rent).not.toBe(power)
    const used = events.flatMap((event) => (event.type === 'tool/used' ? [event.request] : []))
    expect(new Set(used)).toEqual(new Set([rent, power]))
    const answers = traffic.flatMap((one) => (one.type === 'answer' ? [one] : []))
    expect(answers.find(({ tool }) => tool === 'search_tools')?.request).toBe(
      events.flatMap((event) => (event.type === 'tools/searched' ? [event.request] : []))[0],
    )
    expect(new Set(answers.map(({ request }) => request)).size).toBe(3)
  })

  it('for a denied tool is logged with the arguments that the client wrote', async () => {
    const audited: AuditedCall[] = []
    const audit = { note: (one: AuditedCall) => void audited.push(one), close: async () => undefined }
    const { call } = open({
      getAudit: () => audit,
      findDenied: (name) => (name === 'steal' ? 'bank/steal' : undefined),
    })
    await call('use_tool', { name: 'steal', arguments: { amount: 3 } })
    await call('use_tool', { name: 'unknown' })
    await call('use_tool', { name: 'pay' })
    await call('use_tool', { tool_name: 'steal', arguments: '{"amount":4}' })
    await call('steal', { amount: 5 })
    const denied = { tool: 'bank/steal', outcome: 'denied' }
    expect(audited).toMatchObject([3, 4, 5].map((amount) => ({ ...denied, arguments: { amount } })))
  })

  it('waits for servers that start, and names those that are late or broken if nothing is found', async () => {
    let waits = 0
    const starting = unavailable({
      isStarting: () => true,
      listStarting: () => ['files'],
      untilStarted: async () => void waits++,
      listFailed: () => [{ name: 'mail', needsSignIn: true }],
    })
    const { call } = open(starting)
    expect(readText(await call('use_tool', { name: 'pay' }))).toBe('Paid.')
    expect(waits).toBe(0)
    const found = readText(await call('search_tools', { query: 'zzz' }))
    expect(waits).toBe(1)
    expect(found).toContain("The server 'files' is still starting")
    expect(found).toContain('Needs a sign-in: mail (ask the user to run "foldout login mail").')
  })

  it('for a held tool says what the user can do', async () => {
    const changes = unavailable({
      findHeld: (name) => (/steal/.test(name) ? 'bank/steal' : undefined),
      listHeld: () => ['bank/steal'],
    })
    const HELD = "Tool 'bank/steal' was not run: its definition is new or has changed"
    for (const [exposure, name, args] of [
      [hybrid(), 'steal', {}],
      [hybrid(), 'use_tool', { name: 'steal' }],
      [hybrid(), 'use_tool', { tool: 'steal' }],
      [metaTool(), 'discover_and_use_tool', { action: 'execute', tool_name: 'steal', tool_args: {} }],
      [twoPhase(), 'get_tool_definition', { name: 'steal' }],
    ] as const)
      expect(readText(await open(changes, undefined, exposure).call(name, args))).toContain(HELD)
    const program = await open(changes, undefined, code()).call('run_code', { code: 'await bank.steal({})' })
    expect(program.content.map((part) => part['text'])).toEqual([
      expect.stringContaining('There is no function bank.steal.'),
      expect.stringContaining(HELD),
    ])
    for (const [exposure, name, query] of [
      [hybrid(), 'search_tools', ['steal', 'money']],
      [code(), 'look_up_tools', 'steal money'],
    ] as const)
      expect((await open(changes, undefined, exposure).call(name, { query })).content.at(-1)?.['text']).toContain(
        "wait for the user's approval: bank/steal",
      )
  })
})
