import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import type { GatewayDefinition } from '../config/definition.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, 'large-server.fixtures.mjs')
const cache = mkdtempSync(join(tmpdir(), 'foldout-large-'))
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(() => removeFolder(cache))

const ERAS = ['legacy', 'modern'] as const

async function open(
  definition: GatewayDefinition = {},
  server: object = {},
): Promise<{ gateway: Gateway; url: string }> {
  const large = { command: process.execPath, args: [SERVER], required: true, ...server }
  const gateway = await createGateway({ mcpServers: { large }, expose: 'all', ...definition }, { cache })
  closing.push(() => gateway.close())
  const { url } = await gateway.http()
  return { gateway, url }
}

async function connect(url: string, era: (typeof ERAS)[number]): Promise<Client> {
  const mode = era === 'modern' ? 'auto' : 'legacy'
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  closing.push(() => client.close())
  return client
}

const call = (client: Client, name: string, args = {}): Promise<CallToolResult> =>
  client.callTool({ name, arguments: args })
const getText = ({ content: [piece] }: CallToolResult): string => (piece?.type === 'text' ? piece.text : '')
const getHandle = (result: CallToolResult): string => /result: '(\w+)'/.exec(getText(result))?.[1] ?? 'none'
const listFiles = (): readonly string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(`foldout-results-${process.pid}-`))
    .flatMap((name) => readdirSync(join(tmpdir(), name)))

describe('R57 large results through the gateway', () => {
  it.each(ERAS)('are folded for a %s client, which reads them', async (era) => {
    const { url } = await open()
    const client = await connect(url, era)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('read_result')
    const folded = await call(client, 'rows')
    expect(getText(folded)).toContain('$: list of 2,000\n$[*]: object with 2 keys')
    const read = await call(client, 'read_result', { result: getHandle(folded), path: '$[1999].name' })
    expect(getText(read)).toContain('"Row 2000"')
  })

  it('can be read only by the client that got them, and go when it goes', async () => {
    const { url } = await open()
    const [ada, eve] = await Promise.all([connect(url, 'legacy'), connect(url, 'legacy')])
    const result = getHandle(await call(ada, 'rows', { count: 5_000 }))
    expect((await call(eve, 'read_result', { result })).isError).toBe(true)
    expect((await call(ada, 'read_result', { result, count: 1 })).isError).toBeUndefined()
    expect(listFiles()).toHaveLength(1)
    await (ada.transport as StreamableHTTPClientTransport).terminateSession()
    await vi.waitFor(() => expect(listFiles()).toEqual([]))
  })

  it('leave no file behind when the gateway closes', async () => {
    const { gateway, url } = await open()
    await call(await connect(url, 'modern'), 'rows', { count: 5_000 })
    expect(listFiles()).toHaveLength(1)
    await gateway.close()
    expect(listFiles()).toEqual([])
  })

  it('are folded if they are too large to send', async () => {
    const { url } = await open({ expose: 'hybrid' })
    const client = await connect(url, 'legacy')
    const inner = { name: 'text', arguments: { length: 70_000_000 } }
    const folded = await call(client, 'use_tool', inner)
    expect(folded.isError).toBeUndefined()
    expect(getText(folded)).toContain('text on one line, 70,000,000 characters')
  })

  it('stay whole for a client that checks them against their schema, and are folded through use_tool', async () => {
    const { url } = await open({ presets: { folded: { expose: 'hybrid' } } })
    const client = await connect(url, 'legacy')
    await client.listTools()
    expect((await call(client, 'checked')).structuredContent).toMatchObject({ rows: { length: 2_000 } })
    const folding = await connect(`${url}/folded`, 'legacy')
    const folded = await call(folding, 'use_tool', { name: 'checked', arguments: {} })
    expect(folded.structuredContent).toBeUndefined()
    expect(getHandle(folded)).not.toBe('none')
  })

  it('stay whole if the schema does not describe an object, for a client that is told of it', async () => {
    const { url } = await open()
    const [legacy, modern] = await Promise.all([connect(url, 'legacy'), connect(url, 'modern')])
    const folded = await call(legacy, 'list')
    expect([folded.structuredContent, getHandle(folded)]).toEqual([undefined, expect.stringMatching(/^\w{24}$/)])
    const { tools } = await modern.listTools()
    expect(tools.find(({ name }) => name === 'list')?.outputSchema).toEqual({ type: 'array' })
    expect((await call(modern, 'list')).structuredContent).toHaveLength(2_000)
  })

  it('have the limit of the configuration, or of their server', async () => {
    const { gateway, url } = await open({ foldResults: 0 })
    const client = await connect(url, 'modern')
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('read_result')
    expect(getHandle(await call(client, 'rows'))).toBe('none')
    const large = { command: process.execPath, args: [SERVER], foldResults: 100 }
    await gateway.update({ mcpServers: { large }, foldResults: 0, expose: 'all' })
    expect(getHandle(await call(await connect(url, 'modern'), 'rows', { count: 50 }))).not.toBe('none')
    await expect(gateway.update({ mcpServers: { large }, foldResults: -1 })).rejects.toThrow('foldResults')
  })
})
