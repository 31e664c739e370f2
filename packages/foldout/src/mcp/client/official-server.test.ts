import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { McpServer, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../protocol/messages.ts'
import type { McpTransport } from '../protocol/transport.ts'
import { connectToMcp } from './connect.ts'
import type { McpSession } from './session.ts'

const APP = { name: 'app', version: '1.0.0' }

describe.each(['legacy', 'modern'] as const)('the official server of the %s era', (era) => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function connectOfficial(server: Server | McpServer): Promise<McpSession> {
    const [near, far] = InMemoryTransport.createLinkedPair()
    if (era === 'legacy') await server.connect(far)
    else serveStdio(() => server, { transport: far })
    const transport: McpTransport = {
      async start(receiver) {
        Object.assign(near, {
          onmessage: (message: unknown) => receiver.receive(message),
          onclose: () => receiver.close(),
        })
        await near.start()
      },
      send: (message) => near.send(message as JSONRPCMessage),
      close: () => near.close(),
    }
    const session = await connectToMcp(transport, APP)
    closing.push(() => session.close())
    expect(session.era).toBe(era)
    return session
  }

  it('R46 is called, reports progress, and is cancelled', async () => {
    const server = new Server(
      { name: 'official', version: '3' },
      { capabilities: { tools: {} }, instructions: 'Hello.' },
    )
    const begun = vi.fn()
    const aborted = vi.fn()
    server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'wait', inputSchema: { type: 'object' } }] }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const { progressToken } = mcpReq['_meta'] ?? {}
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, message: 'half' },
        })
      if (params.arguments?.['forever'] !== true) return { content: [{ type: 'text', text: 'done' }] }
      begun()
      await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()))
      aborted()
      return { content: [] }
    })
    const session = await connectOfficial(server)
    expect(session.server).toMatchObject({ info: { name: 'official', version: '3' }, instructions: 'Hello.' })
    expect(await session.request('tools/list')).toMatchObject({ tools: [{ name: 'wait' }] })
    const heard: unknown[] = []
    const onProgress = (progress: JsonObject): number => heard.push(progress)
    expect(await session.request('tools/call', { name: 'wait', arguments: {} }, { onProgress })).toMatchObject({
      content: [{ type: 'text', text: 'done' }],
    })
    expect(heard).toEqual([{ progress: 1, message: 'half' }])
    const stop = new AbortController()
    const waiting = session.request(
      'tools/call',
      { name: 'wait', arguments: { forever: true } },
      { signal: stop.signal },
    )
    await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(1))
    stop.abort(new Error('Enough.'))
    await expect(waiting).rejects.toThrow('Enough.')
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1))
    await expect(session.request('minds/read')).rejects.toMatchObject({ code: -32_601 })
  })

  it('R46 announces changes', async () => {
    const server = new McpServer({ name: 'official', version: '3' })
    server.registerTool('first', { description: 'The first.' }, async () => ({ content: [] }))
    const session = await connectOfficial(server)
    const changed = vi.fn()
    session.onNotification((method) => method === 'notifications/tools/list_changed' && changed())
    if (era === 'modern') await session.listen({ toolsListChanged: true })
    server.registerTool('second', { description: 'The second.' }, async () => ({ content: [] }))
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1))
    expect((await session.request('tools/list'))['tools']).toMatchObject([{ name: 'first' }, { name: 'second' }])
  })
})
