import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createGateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { HeldCalls } from '../../packages/foldout-mcp/src/gateway/upstreams/asking/held-calls.ts'
import { MAX_HELD } from '../../packages/foldout-mcp/src/gateway/upstreams/asking/limits.ts'
import { connectHttp, type Era } from './peers.ts'
import { removeFolder } from '../remove-folder.ts'

const SERVER = join(import.meta.dirname, 'asking-server.mjs')
const folder = mkdtempSync(join(tmpdir(), 'foldout-attacks-'))
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(() => removeFolder(folder))

async function open(options: object = {}): Promise<string> {
  const server = { command: process.execPath, args: [SERVER], required: true, ...options }
  const gateway = await createGateway(
    { mcpServers: { asking: server }, expose: 'all' },
    { cache: join(folder, 'cache') },
  )
  closing.push(() => gateway.close())
  return (await gateway.http()).url
}

const ASKING = { elicitation: { form: {} } }

async function connect(url: string, era: Era, answer: () => Promise<object>) {
  const client = await connectHttp(url, era, ASKING)
  closing.unshift(() => client.close())
  client.setRequestHandler('elicitation/create', answer as never)
  return client
}

const accept = (color: string) => async () => ({ action: 'accept' as const, content: { color } })
const ask = (url: string, params: object): Promise<{ result?: Record<string, never>; error?: unknown }> =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'ask_color',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'ask_color',
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': ASKING,
        },
        ...params,
      },
    }),
  }).then((response) => response.json()) as never

describe('R53 what servers ask', () => {
  it.each<Era>(['legacy', 'modern'])(
    'never reaches the wrong one of two %s clients with simultaneous calls',
    async (era) => {
      const url = await open()
      const [first, second] = await Promise.all([connect(url, era, accept('red')), connect(url, era, accept('blue'))])
      const colors = ['red', 'blue']
      for (let round = 0; round < 5; round++) {
        const answers = await Promise.all(
          [first, second].map((client) => client.callTool({ name: 'ask_color', arguments: {} })),
        )
        for (const [i, { content }] of answers.entries())
          expect(JSON.stringify(content)).toMatch(new RegExp(`The color is ${colors[i]}|Several (clients|calls)`))
      }
    },
  )

  it('is answered by each of two legacy clients if every client has its own process', async () => {
    const url = await open({ isolate: true })
    const clients = await Promise.all([connect(url, 'legacy', accept('red')), connect(url, 'legacy', accept('blue'))])
    const answers = await Promise.all(clients.map((client) => client.callTool({ name: 'ask_color', arguments: {} })))
    expect(answers.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual([
      'The color is red.',
      'The color is blue.',
    ])
  })

  it('keeps nobody else waiting while clients do not answer', async () => {
    const url = await open({ maxConcurrent: 2 })
    const silent = await connect(url, 'legacy', () => new Promise(() => undefined))
    const abort = new AbortController()
    const waiting = Array.from({ length: 6 }, () =>
      silent.callTool({ name: 'ask_color', arguments: {} }, { signal: abort.signal }).catch(() => 'cancelled'),
    )
    const other = await connect(url, 'legacy', accept('red'))
    const { content } = await other.callTool({ name: 'echo', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: 'echo' }])
    abort.abort()
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 6 }, () => 'cancelled'))
  })

  it.each([null, 7, 'yes', [], {}, { action: 7 }])('survives a client that answers %j', async (garbage) => {
    const url = await open()
    const first = await ask(url, {})
    const { requestState, inputRequests } = first.result as unknown as { requestState: string; inputRequests: object }
    const [key = ''] = Object.keys(inputRequests)
    const { result, error } = await ask(url, { requestState, inputResponses: { [key]: garbage } })
    expect(result ?? error).toBeDefined()
    const again = await connect(url, 'legacy', accept('red'))
    expect(JSON.stringify(await again.callTool({ name: 'ask_color', arguments: {} }))).toContain('The color is red.')
  })

  it('cannot be answered with a state that is invented, changed or already used', async () => {
    const url = await open()
    const { requestState } = (await ask(url, {})).result as unknown as { requestState: string }
    const inputResponses = { 'question-1': { action: 'accept', content: { color: 'forged' } } }
    for (const state of ['foldout-1', `${requestState}x`, '__proto__', '']) {
      const answer = JSON.stringify(await ask(url, { requestState: state, inputResponses }))
      expect(answer).not.toContain('forged')
    }
    expect(JSON.stringify(await ask(url, { requestState, inputResponses }))).toContain('forged')
    expect(JSON.stringify(await ask(url, { requestState, inputResponses }))).not.toContain('forged')
  })

  it('is held for a thousand calls and refused for one more', async () => {
    const held = new HeldCalls()
    const start = () =>
      held.start('one client', {}, async (_context, question) => {
        const answer = await question('elicitation/create', {}).catch((error: Error) => error.message)
        return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
      })
    const asked = await Promise.all(Array.from({ length: MAX_HELD }, start))
    expect(asked.every(({ resultType }) => resultType === 'input_required')).toBe(true)
    expect(JSON.stringify(await start())).toContain('Too many calls')
    const state = String(asked[0]?.['requestState'])
    const answer = { responses: { 'question-1': { action: 'accept' } }, state }
    await expect(held.resume('another client', answer, {})).rejects.toThrow('no longer waits')
    expect(JSON.stringify(await held.resume('one client', answer, {}))).toContain('accept')
    expect((await start())['resultType']).toBe('input_required')
  })

  it('ends when a server asks a hundred times', async () => {
    const url = await open()
    const asked = vi.fn(accept('red'))
    const client = await connect(url, 'legacy', asked)
    const { content } = await client.callTool({ name: 'ask_often', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: 'Asked 100 times.' }])
    expect(asked).toHaveBeenCalledTimes(100)
  })

  it('does not block a client when a server floods it', async () => {
    const url = await open()
    const client = await connect(url, 'legacy', accept('red'))
    const heard = vi.fn()
    client.fallbackNotificationHandler = async ({ method }) => heard(method)
    const { content } = await client.callTool({ name: 'flood', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: 'Flooded.' }])
    // The client has no subscriptions. It gets what the server logs by default, until it sets a level.
    const told = new Set(heard.mock.calls.flat())
    told.delete('notifications/resources/list_changed')
    expect([...told]).toEqual(['notifications/message'])
    await client.setLoggingLevel('emergency')
    heard.mockClear()
    await client.callTool({ name: 'flood', arguments: {} })
    expect(heard.mock.calls.flat()).not.toContain('notifications/message')
    expect((await client.callTool({ name: 'echo', arguments: {} })).isError).toBeUndefined()
  })

  it('reads resources with any name', async () => {
    const url = await open()
    const client = await connect(url, 'legacy', accept('red'))
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['__proto__', 'constructor', 'ask://color'])
    expect((await client.readResource({ uri: '__proto__' })).contents).toEqual([
      { uri: '__proto__', text: '__proto__' },
    ])
    await client.subscribeResource({ uri: '__proto__' })
    const updated = vi.fn()
    client.setNotificationHandler('notifications/resources/updated', updated)
    await client.callTool({ name: 'flood', arguments: {} })
    await vi.waitFor(() => expect(updated).toHaveBeenCalled())
    const long = `x://${'a'.repeat(5_000)}`
    for (let i = 0; i < 20; i++) expect((await client.readResource({ uri: `${long}${i}!` })).contents).toHaveLength(1)
  })
})
