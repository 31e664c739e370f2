import { describe, expect, it, vi } from 'vitest'
import type { RawTool } from '../../catalog/tool.ts'
import { FoldoutError } from '../../core/errors.ts'
import type { McpClient } from '../client/client.ts'
import { toolsFromMcp } from './tools-from-mcp.ts'
import { connect, having, LINES, ServerError } from '../client/server.fixtures.ts'

const anything = { type: 'object' }
const named = (name: string): object => ({ name, inputSchema: anything })
const getNames = (tools: readonly RawTool[]): string[] => tools.map(({ name }) => name)

describe.each(LINES)('the tools of a server, with a client of %s', (line) => {
  it('R43 keep every field of their definitions', async () => {
    const definition = {
      name: 'get-forecast',
      title: 'Forecast',
      description: 'Weather of the next days.',
      inputSchema: { type: 'object', properties: { days: { type: 'integer', 'x-unit': 'd' } } },
      outputSchema: { type: 'object', properties: { celsius: { type: 'number' } } },
      annotations: { readOnlyHint: true, title: 'Forecast', vendorHint: 3 },
      icons: [{ src: 'https://weather.example/icon.png' }],
    }
    // Not of the protocol, and named as a setting of catalogs.
    const extra = { securitySchemes: [{ type: 'noauth' }], core: true }
    const given = { ...definition, ...extra, _meta: { 'acme/tier': 2 } }
    const { client } = await connect(line, { ...having([given]), name: 'acme' })
    const [tool] = await toolsFromMcp(client)
    expect(tool).toEqual({
      ...definition,
      source: 'acme',
      meta: { 'acme/tier': 2 },
      extra,
      call: expect.any(Function) as unknown,
    })
  })

  it('R43 come from every page', async () => {
    const pages = [
      { tools: [named('a'), named('b')], nextCursor: '2' },
      { tools: [], nextCursor: '3' },
      { tools: [named('c')], nextCursor: line === 'v1' ? '' : null },
    ]
    const { client, server } = await connect(line, {
      answer: ({ params }) => pages[Number(params['cursor'] ?? 1) - 1],
    })
    expect(getNames(await toolsFromMcp(client))).toEqual(['a', 'b', 'c'])
    expect(server.received.map(({ params }) => params?.['cursor'])).toEqual([undefined, '2', '3'])
  })

  it('R43 are rejected with a reason if their pages never end', async () => {
    const circle = await connect(line, { answer: () => ({ tools: [named('a')], nextCursor: 'again' }) })
    await expect(toolsFromMcp(circle.client)).rejects.toThrow(
      new FoldoutError(
        'mcp-list',
        "The tool list of the MCP server 'handmade' has no end: it leads back to the cursor 'again'. Fix the server's pagination.",
      ),
    )
    expect(circle.server.received).toHaveLength(2)
    let page = 0
    const endless = await connect(line, { answer: () => ({ tools: [], nextCursor: String(page++) }) })
    await expect(toolsFromMcp(endless.client)).rejects.toThrow('it has more than 1000 pages')
  })

  it('R43 are rejected with a reason if the server does not list them', async () => {
    const failing = await connect(line, {
      answer: () => {
        throw new ServerError(-32603, 'The database is gone')
      },
    })
    await expect(toolsFromMcp(failing.client)).rejects.toMatchObject({
      code: 'mcp-list',
      message: expect.stringMatching(
        /^The MCP server 'handmade' did not list its tools: (MCP error -32603: )?The database is gone$/,
      ) as unknown,
    })
    const wrong = await connect(line, { answer: () => ({ tools: { a: named('a') } }) })
    await expect(toolsFromMcp(wrong.client)).rejects.toThrow(
      "The MCP server 'handmade' answered a request for its tools without a list.",
    )
  })

  it('R43 are empty if the server has no tools, without a request', async () => {
    const { client, server } = await connect(line, { capabilities: { prompts: {} } })
    expect(await toolsFromMcp(client, { onChange: () => {} })).toEqual([])
    expect(server.received).toEqual([])
  })

  it("R43 have the given source name, or the server's", async () => {
    const getSource = async (name: string, server?: string): Promise<string | undefined> => {
      const { client } = await connect(line, { ...having([named('a')]), name })
      return (await toolsFromMcp(client, server === undefined ? {} : { server }))[0]!.source
    }
    expect(await getSource('Weather', 'acme')).toBe('acme')
    expect(await getSource('GitHub MCP Server')).toBe('github')
    expect(await getSource('@acme/mcp-server-weather')).toBe('weather')
    expect(await getSource('@acme/mcp')).toBe('acme')
    expect(await getSource('mcp_weather.v2')).toBe('mcp_weather.v2')
    expect(await getSource('Wetter für Köln')).toBe('wetter-für-köln')
    expect(await getSource('MCP')).toBe('mcp')
    expect(await getSource('!')).toBe('server')
  })

  it("R43 are listed even if some definitions violate the protocol's schema", async () => {
    const wrong = [
      null,
      'text',
      { inputSchema: anything },
      { name: 7, inputSchema: anything },
      { name: 'no-schema' },
      { name: 'wrong-schema', inputSchema: { type: 'string' }, outputSchema: [], annotations: 'none', description: {} },
      { name: 'wrong-meta', inputSchema: anything, _meta: 'none', icons: 'none' },
    ]
    const { client } = await connect(line, having([named('a'), ...wrong, named('b')]))
    const tools = await toolsFromMcp(client)
    expect(tools).toHaveLength(9)
    expect(tools.every(({ source }) => source === 'handmade')).toBe(true)
    expect(tools[6]).toMatchObject({ name: 'wrong-schema', inputSchema: { type: 'string' }, description: {} })
    const answers = await Promise.all([tools[0]!.call!({}, {}), tools[5]!.call!({}, {}), tools[8]!.call!({}, {})])
    expect(answers).toEqual(Array.from({ length: 3 }, () => ({ content: [{ type: 'text', text: 'done' }] })))
  })
})

describe.each(['v1', 'v2'] as const)('a client of %s behind a wrapper, without its transport', (line) => {
  it('R43 R46 still lists and calls tools', async () => {
    const { client: connected } = await connect(line, {
      answer: ({ method, params }, server) => {
        if (method === 'tools/list') return { tools: [named('a'), null, { name: 'b' }] }
        const { progressToken } = params['_meta'] as { readonly progressToken: number }
        server.notify('notifications/progress', { progressToken, progress: 1 })
        if (params['name'] === 'b') throw new ServerError(-32602, 'Not today')
        return new Promise((resolve) => setTimeout(resolve, 5, { content: [{ type: 'hologram' }] }))
      },
    })
    const client = connected as McpClient
    const behind: McpClient = {
      getServerVersion: () => client.getServerVersion(),
      getServerCapabilities: () => client.getServerCapabilities(),
      request: (...args) => client.request(...args),
    }
    const [a, broken, b] = await toolsFromMcp(behind)
    expect(broken).toEqual({ name: '', source: 'handmade', title: 'null' })
    const onProgress = vi.fn()
    expect(await a!.call!({}, { onProgress })).toEqual({ content: [{ type: 'hologram' }] })
    expect(onProgress.mock.calls).toEqual([[{ progress: 1 }]])
    expect(await b!.call!({}, {})).toMatchObject({
      content: [{ text: "The server 'handmade' rejected the call of 'b': Not today" }],
    })
  })
})
