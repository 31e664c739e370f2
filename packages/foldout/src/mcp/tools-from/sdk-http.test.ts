import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server, type McpHttpHandler } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ToolProgress, RawTool } from '../../catalog/tool.ts'
import { toolsFromMcp, type ToolsFromMcpOptions } from './tools-from-mcp.ts'

const properties = { region: { type: 'string', 'x-mcp-header': 'Region' }, days: { type: 'integer' } }

describe('the official server over streamable HTTP, in MCP 2026-07-28', () => {
  let handler: McpHttpHandler
  let client: Client
  const requests: Request[] = []
  let definitions: object[]
  let aborted = 0

  async function open(options: ToolsFromMcpOptions = {}): Promise<readonly RawTool[]> {
    requests.length = 0
    definitions = [{ name: 'forecast', inputSchema: { type: 'object', properties } }]
    handler = createMcpHandler(() => {
      const server = new Server(
        { name: 'weather-server', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      )
      server.setRequestHandler('tools/list', () => ({ tools: definitions as never }))
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        if (params.arguments?.['days'] === 99) {
          await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()))
          aborted++
        }
        const { progressToken } = mcpReq['_meta']!
        for (const progress of [1, 2])
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: progressToken!, progress } })
        return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }], structuredContent: [1, 2] }
      })
      return server
    })
    client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      fetch: async (url, init) => {
        const request = new Request(url, init)
        requests.push(request.clone())
        return handler.fetch(request)
      },
    })
    await client.connect(transport)
    expect(client.getProtocolEra()).toBe('modern')
    return toolsFromMcp(client, options)
  }
  afterEach(async () => {
    await client.close()
    await handler.close()
  })

  it('R46 receives the headers that its schema requires, and answers in full, with progress', async () => {
    const [tool] = await open()
    expect(tool!.source).toBe('weather')
    const seen: ToolProgress[] = []
    const answer = await tool!.call!({ region: 'Köln', days: 2 }, { onProgress: (progress) => seen.push(progress) })
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: '{"region":"Köln","days":2}' }],
      structuredContent: [1, 2],
    })
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2])
    expect(requests.at(-1)!.headers.get('mcp-param-region')).toBe('=?base64?S8O2bG4=?=')
  })

  it('R46 is notified of a cancelled call', async () => {
    const [tool] = await open()
    const abort = new AbortController()
    const running = tool!.call!({ days: 99 }, { signal: abort.signal })
    await vi.waitFor(() => expect(requests.at(-1)!.headers.get('mcp-method')).toBe('tools/call'))
    abort.abort(new Error('Enough.'))
    await expect(running).rejects.toThrow('Enough.')
    await vi.waitFor(() => expect(aborted).toBe(1))
  })

  it('R43 is refused by a client of the SDK if one of its tools is invalid', async () => {
    await open()
    definitions = [...definitions, { name: 'wrong', inputSchema: { type: 'string' } }, { name: 'bare' }]
    await expect(client.listTools()).rejects.toThrow('Invalid result for tools/list')
    await expect(toolsFromMcp(client)).rejects.toThrow('Invalid result for tools/list')
  })

  it('R43 announces changes to subscribers', async () => {
    const changes: string[][] = []
    await open({ onChange: (tools) => changes.push(tools.map(({ name }) => name)) })
    definitions = [...definitions, { name: 'alerts', inputSchema: { type: 'object' } }]
    handler.notify.toolsChanged()
    await vi.waitFor(() => expect(changes).toEqual([['forecast', 'alerts']]))
  })
})
