import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createGateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { removeFolder } from '../remove-folder.ts'
import { connectHttp, connectStdio, type Era } from './peers.ts'

const SERVER = join(import.meta.dirname, 'inventing-server.mjs')
const ERAS: readonly Era[] = ['legacy', 'modern']
const folder = mkdtempSync(join(tmpdir(), 'foldout-invented-'))
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(() => removeFolder(folder))

const define = (era: Era): object => ({ command: process.execPath, args: [SERVER, era], required: true })

async function open(servers: Record<string, object>, era: Era, transport: 'stdio' | 'http'): Promise<Client> {
  const gateway = await createGateway({ mcpServers: servers, expose: 'all', presets: { one: {} } }, { cache: folder })
  closing.push(() => gateway.close())
  const connect = async (): Promise<Client> => {
    if (transport === 'stdio') return connectStdio(gateway, '', era)
    return connectHttp((await gateway.http()).url, era)
  }
  const client = await connect()
  closing.push(() => client.close())
  return client
}

/** The SDK is the oracle, and must not remove what it does not know. */
const passing = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as never

const request = (client: Client, method: string, params: object): Promise<Record<string, unknown>> =>
  client.request({ method, params } as never, passing)

const LINES = ERAS.flatMap((server) =>
  ERAS.flatMap((client) => (['stdio', 'http'] as const).map((transport) => ({ server, client, transport }))),
)

describe.each(LINES)('what nobody here knows, from a $client client over $transport to a $server server', (line) => {
  const openOne = (): Promise<Client> => open({ inventing: define(line.server) }, line.client, line.transport)
  const odd = { 'example/field': { deep: [1, null, 'ü'] } }

  it('R53 passes in a tool, its arguments and its result', async () => {
    const client = await openOne()
    const heard = vi.fn()
    client.fallbackNotificationHandler = async ({ method, params }) => heard(method, params)
    const { tools } = (await request(client, 'tools/list', {})) as {
      readonly tools: { readonly name: string }[]
    }
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      inputSchema: { type: 'object', 'x-example': { deep: [null] } },
      'example/tool': { deep: [1, null] },
      annotations: { 'example/annotation': true },
      _meta: { 'example/meta': [1] },
    })
    const params = { name: 'echo', arguments: odd, _meta: { 'example/meta': [2] } }
    const result = await request(client, 'tools/call', params)
    expect(result).toMatchObject({
      content: [{ type: 'text', 'example/content': { deep: [1] } }],
      'example/result': { deep: [null] },
      _meta: { 'example/answer': 2 },
    })
    const [{ text }] = result['content'] as [{ readonly text: string }]
    expect(JSON.parse(text)).toMatchObject({ got: { name: 'echo', arguments: odd }, meta: { 'example/meta': [2] } })
    // A modern client hears only what it listens for.
    const news = line.client === 'legacy' ? [['notifications/example', { 'example/news': { deep: [1] } }]] : []
    await vi.waitFor(() => expect(heard.mock.calls).toEqual(expect.arrayContaining(news)))
  })

  it('R53 passes as a method, with its result or its error', async () => {
    const client = await openOne()
    expect(await request(client, 'example/invented', { ...odd, _meta: { 'example/meta': [3] } })).toMatchObject({
      method: 'example/invented',
      got: odd,
      meta: { 'example/meta': [3] },
      'example/result': [null, 'ü'],
    })
    await expect(request(client, 'example/fail', {})).rejects.toMatchObject({
      code: -31_999,
      data: { 'example/data': [1] },
    })
    await expect(request(client, 'other/method', {})).rejects.toThrow(/method not found|-32601/i)
  })
})

describe.each(ERAS)('what nobody here knows, from a %s client', (era) => {
  it('R53 passes as a notification, and as a capability of the server', async () => {
    const client = await open({ inventing: define(era) }, era, 'stdio')
    expect(client.getServerCapabilities()).toMatchObject({
      experimental: { 'example/experiment': { deep: [1] } },
      extensions: { 'example/extension': { deep: [1] } },
    })
    await client.notification({ method: 'notifications/example', params: { 'example/news': 1 } })
    await vi.waitFor(async () =>
      expect(await request(client, 'example/heard', {})).toMatchObject({ heard: [{ 'example/news': 1 }] }),
    )
  })
})

describe('a method that nobody here knows', () => {
  it.each(ERAS)('R53 goes to none of several servers of a %s client', async (era) => {
    const client = await open({ one: define('legacy'), two: define('modern') }, era, 'http')
    await expect(request(client, 'example/invented', {})).rejects.toThrow(/method not found|-32601/i)
  })
})
