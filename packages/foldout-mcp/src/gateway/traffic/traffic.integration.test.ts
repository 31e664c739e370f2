import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import type { GatewayDefinition } from '../config/definition.ts'
import { createGateway } from '../gateway.ts'
import { TrafficLines } from './lines.ts'
import { createSecrets } from '../policy/secrets/secrets.ts'
import type { RecordedTraffic } from './recording.ts'
import { createRedactor } from '../policy/secrets/redact.ts'

const SERVER = join(import.meta.dirname, '../server.fixtures.mjs')
const folder = mkdtempSync(join(tmpdir(), 'foldout-watched-'))
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await removeFolder(folder)
})

const BYTES = { type: 'object', properties: { bytes: { type: 'number' } } }

/** A gateway whose traffic is watched, and what connects a client to it. */
async function watch(more: Partial<GatewayDefinition> = {}) {
  const tools = [{ name: 'find_order' }, { name: 'print', does: 'big', inputSchema: BYTES }]
  const lines: RecordedTraffic[] = []
  const reader = new TrafficLines({
    redactor: createRedactor({ hide: (text) => text }),
    run: 'test',
    hasMessages: true,
  })
  const gateway = await createGateway(
    {
      mcpServers: { shop: { command: process.execPath, args: [SERVER, JSON.stringify({ tools })] } },
      expose: 'hybrid',
      ...more,
    },
    {
      cache: join(folder, 'cache'),
      data: join(folder, 'data'),
      onTraffic: (traffic) => lines.push(...reader.read(traffic)),
    },
  )
  closing.push(() => gateway.close())
  await gateway.ready()
  const { url } = await gateway.http()
  const connect = async (name: string) => {
    const client = new Client({ name, version: '1' })
    closing.push(() => client.close())
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    return (tool: string, args: object) =>
      client.callTool({ name: 'use_tool', arguments: { name: tool, arguments: args } })
  }
  return { lines, connect, gateway }
}

const isCall = (line: RecordedTraffic): line is Extract<RecordedTraffic, { type: 'call' }> => line.type === 'call'

describe('R58 traffic of a gateway', () => {
  it('has each call of each client with its own arguments and answer, however many call at once', async () => {
    const { lines, connect } = await watch()
    const clients = await Promise.all(['one', 'two', 'three'].map(connect))
    const numbers = Array.from({ length: 20 }, (_, i) => i)
    await Promise.all(
      clients.flatMap((use, client) => numbers.map((i) => use('find_order', { order: `${client}/${i}` }))),
    )
    const calls = lines.filter(isCall)
    expect(calls).toHaveLength(60)
    const byName = (name: string) => calls.filter((call) => call.name === name).map((call) => call.arguments['order'])
    for (const [client, name] of ['one', 'two', 'three'].entries())
      expect(new Set(byName(name))).toEqual(new Set(numbers.map((i) => `${client}/${i}`)))
    expect(calls.every(({ answer }) => answer !== undefined && answer.bytes > 50)).toBe(true)
  })

  it('says how large an answer was that the client got, and that it was folded', async () => {
    const { lines, connect } = await watch({ foldResults: 500 })
    const use = await connect('one')
    await use('print', { bytes: 100_000 })
    const call = lines.find(isCall)
    expect(call?.result?.bytes).toBeGreaterThan(100_000)
    expect(call?.answer?.isFolded).toBe(true)
    expect(call?.answer?.bytes).toBeLessThan(10_000)
  })

  it('says what rules decided, with the arguments they decided on, and what is not a tool', async () => {
    const { lines, connect, gateway } = await watch({ rules: [{ action: 'ask', tool: 'shop/find_order' }] })
    const use = await connect('one')
    await use('find_order', { order: 'A-1', token: 'a-secret' })
    const [waiting] = await gateway.approvals.list()
    await gateway.approvals.approve(waiting?.id ?? '')
    await use('find_order', { order: 'A-1', token: 'a-secret' })
    await use('nothing', {})
    expect(lines.slice(1)).toMatchObject([
      { type: 'call', decision: 'not approved', ok: false, arguments: { order: 'A-1', token: '***' } },
      { type: 'call', decision: 'approved', ok: true, arguments: { order: 'A-1', token: '***' } },
      { type: 'request', tool: 'use_tool', ok: false, message: expect.stringContaining("'nothing'") },
    ])
    expect(lines[1]).toMatchObject({ message: expect.stringContaining('the user has to approve it') })
  })
})

describe('R58 lines of traffic', () => {
  it('have no part of a secret in the name of a client or in the message of a failure', () => {
    const secret = 'secret-0123456789'
    const { hide } = createSecrets([secret])
    const reader = new TrafficLines({ redactor: createRedactor({ hide }), run: 'test', hasMessages: true })
    const common = { preset: '', client: 'client-1', name: `${'n '.repeat(95)}${secret}`, user: undefined }
    const text = `${'. '.repeat(495)}${secret}`
    const lines = [
      ...reader.read({ type: 'client', ...common }),
      ...reader.read({
        type: 'answer',
        ...common,
        request: 1,
        tool: 'find_order',
        arguments: {},
        isError: true,
        result: { content: [{ type: 'text', text }], isError: true },
        durationMs: 1,
      }),
    ]
    const name = `${'n '.repeat(95)}***`
    expect(lines).toMatchObject([{ name }, { name, message: `${'. '.repeat(495)}***` }])
  })
})
