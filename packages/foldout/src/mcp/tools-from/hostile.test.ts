import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../catalog/live/catalog.ts'
import type { ToolProgress, RawTool } from '../../catalog/tool.ts'
import { connect, LINES, ServerError, type Line, type Script } from '../client/server.fixtures.ts'
import { toolsFromMcp, type ToolsFromMcpOptions } from './tools-from-mcp.ts'
import { takeTurns } from '../../../../../test/turns.ts'

const inputSchema = { type: 'object' }

/** A tool on a server that answers its calls like this. */
async function connectTool(
  line: Line,
  answer: NonNullable<Script['answer']>,
  options: ToolsFromMcpOptions = {},
): Promise<{ readonly call: NonNullable<RawTool['call']>; readonly received: () => readonly (string | undefined)[] }> {
  const { client, server } = await connect(line, {
    answer: (request, handmade) =>
      request.method === 'tools/list' ? { tools: [{ name: 'act', inputSchema }] } : answer(request, handmade),
  })
  const [tool] = await toolsFromMcp(client, options)
  if (!tool?.call) throw new Error('The server has no tool.')
  return { call: tool.call, received: () => server.received.map(({ method }) => method) }
}

/** JSON that is nested deeper than `JSON.stringify` can write. */
function nestText(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
}

afterEach(() => void vi.useRealTimers())

describe.each(LINES)('a hostile server, with a client of %s', (line) => {
  it('cannot keep a call alive by reporting progress', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { call, received } = await connectTool(
      line,
      async ({ params }, server) => {
        const { progressToken } = params['_meta'] as { readonly progressToken: number }
        for (let progress = 1; progress < 1_000; progress++) {
          server.notify('notifications/progress', { progressToken, progress })
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
      { timeoutMs: 200, maxCallMs: 300 },
    )
    const reports: ToolProgress[] = []
    const calling = call({}, { onProgress: (progress) => reports.push(progress) })
    await vi.advanceTimersByTimeAsync(1_000)
    const result = await calling
    expect(reports.length).toBeGreaterThan(1)
    expect(reports.length).toBeLessThan(20)
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0]?.['text']).toBe(
      "Tool 'act' was cancelled: the server 'handmade' had not answered after 0.3 seconds, the time limit of a call.",
    )
    expect(received()).toContain('notifications/cancelled')
  })

  it('cannot fill a conversation with an error message', async () => {
    const { call } = await connectTool(line, () => {
      throw new ServerError(-32_000, 'no '.repeat(2_000_000), { detail: 'x'.repeat(1_000_000) })
    })
    const { content, isError } = await call({}, {})
    const text = String(content[0]?.['text'])
    expect(isError).toBe(true)
    expect(text.length).toBeLessThan(12_000)
    expect(text).toMatch(/^The server 'handmade' rejected the call of 'act': no no /)
    expect(text).toMatch(/… \(\d+ more characters\)/)
  })

  it('cannot fill a conversation with a result that is an error', async () => {
    const { call } = await connectTool(line, () => ({
      isError: true,
      content: [
        { type: 'text', text: 'y'.repeat(5_000_000) },
        { type: 'text', text: 'short' },
      ],
    }))
    const { content } = await call({}, {})
    expect(String(content[0]?.['text'])).toHaveLength(100_027)
    expect(String(content[0]?.['text'])).toMatch(/yyy… \(4900000 more characters\)$/)
    expect(content[1]).toEqual({ type: 'text', text: 'short' })
  })

  it('cannot fill a progress report', async () => {
    const { call } = await connectTool(line, async ({ params }, server) => {
      const { progressToken } = params['_meta'] as { readonly progressToken: number }
      server.notify('notifications/progress', { progressToken, progress: 1, message: 'z'.repeat(1_000_000) })
      await takeTurns()
      return { content: [] }
    })
    const reports: ToolProgress[] = []
    await call({}, { onProgress: (progress) => reports.push(progress) })
    expect(reports[0]?.message?.length).toBeLessThan(1_100)
  })

  it('cannot have more tools than the limit, on one page or on many', async () => {
    const many = (count: number, first = 0) =>
      Array.from({ length: count }, (_, i) => ({ name: `t${first + i}`, inputSchema }))
    const notes: unknown[] = []
    const options: ToolsFromMcpOptions = { maxTools: 100, onError: (error) => notes.push(error) }
    const onePage = await connect(line, { answer: () => ({ tools: many(50_000) }) })
    expect(await toolsFromMcp(onePage.client, options)).toHaveLength(100)
    let page = 0
    const endless = await connect(line, {
      answer: () => ({ tools: many(30, 30 * page), nextCursor: String(page++) }),
    })
    expect(await toolsFromMcp(endless.client, options)).toHaveLength(100)
    expect(page).toBe(4)
    expect(notes).toMatchObject(
      Array.from({ length: 2 }, () => ({
        code: 'mcp-list',
        message:
          "The MCP server 'handmade' has more than 100 tools, and only the first 100 are used. Choose fewer in the settings of the server. Code that calls toolsFromMcp can allow more with maxTools.",
      })),
    )
    const exact = await connect(line, { answer: () => ({ tools: many(100) }) })
    expect(await toolsFromMcp(exact.client, options)).toHaveLength(100)
    expect(notes).toHaveLength(2)
  })

  it('cannot have a list larger than the limit, on one page or on many', async () => {
    const large = (i: number): object => ({ name: `t${i}`, description: 'x'.repeat(15_000_000), inputSchema })
    const notes: unknown[] = []
    const options: ToolsFromMcpOptions = { onError: (error) => notes.push(error) }
    const onePage = await connect(line, { answer: () => ({ tools: [large(0), large(1), large(2), large(3)] }) })
    expect(await toolsFromMcp(onePage.client, options)).toHaveLength(2)
    let page = 0
    const endless = await connect(line, { answer: () => ({ tools: [large(page)], nextCursor: String(page++) }) })
    expect(await toolsFromMcp(endless.client, options)).toHaveLength(2)
    expect(page).toBe(3)
    expect(notes).toMatchObject(
      Array.from({ length: 2 }, () => ({
        code: 'mcp-list',
        message:
          "The tool list of the MCP server 'handmade' is larger than 34 MB, and only the first 2 of its tools are used. Shorten the descriptions and schemas of its tools, or choose fewer in the settings of the server.",
      })),
    )
  })

  it('causes a process warning if nobody listens for errors', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const { client } = await connect(line, { answer: () => ({ tools: [{ name: 'a', inputSchema }, { name: 'b' }] }) })
    expect(await toolsFromMcp(client, { maxTools: 1 })).toHaveLength(1)
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('more than 1 tools'), { code: 'mcp-list' })
    warn.mockRestore()
  })

  it('cannot break the list with one definition that is nested too deeply', async () => {
    const deep = JSON.parse(nestText(3_000)) as object
    const { client } = await connect(line, {
      answer: () => ({
        tools: [
          { name: 'deep', description: 'Deep.', inputSchema: { type: 'object', properties: { deep } } },
          { name: 'odd', inputSchema, annotations: deep },
          deep,
          [[['list']]],
          5,
          { name: 'good', description: 'Good.', inputSchema },
        ],
      }),
    })
    const changes: unknown[] = []
    const tools = await toolsFromMcp(client, { onChange: (now) => changes.push(now) })
    const catalog = createCatalog(tools)
    expect(catalog.tools.map(({ name }) => name)).toContain('good')
    expect((await catalog.search('good')).hits.map(({ tool }) => tool.name)).toContain('good')
  })

  it.each([
    ['nothing', {}],
    ['a number in place of content', { content: 5 }],
    ['content that is not a list', { content: { type: 'text', text: 'a' } }],
    ['pieces of wrong types', { content: [null, 5, 'text', [], { type: 3 }, { type: 'text', text: { a: 1 } }] }],
    [
      'keys of prototypes',
      JSON.parse('{"content":[],"__proto__":{"isError":true},"constructor":5,"toString":1}') as object,
    ],
  ])('may answer with %s', async (_what, answer) => {
    const { call } = await connectTool(line, () => answer)
    const result = await call({}, {})
    expect(Array.isArray(result.content)).toBe(true)
    expect(result.isError).toBeUndefined()
    expect(({} as { readonly isError?: unknown }).isError).toBeUndefined()
    expect(() => JSON.stringify(result)).not.toThrow()
  })

  it('may answer with content that is nested too deeply', async () => {
    const { call } = await connectTool(line, () => ({
      content: [],
      structuredContent: JSON.parse(nestText(3_000)) as object,
    }))
    expect(await call({}, {})).toMatchObject({
      isError: true,
      content: [{ text: "The server 'handmade' sent an answer that is nested deeper than 200 levels." }],
    })
  })

  it('cannot make a client list without end by announcing changes', async () => {
    let lists = 0
    const { client, server } = await connect(line, {
      answer: () => ({ tools: [{ name: `t${lists++}`, inputSchema }] }),
    })
    const stop = new AbortController()
    await toolsFromMcp(client, { onChange: () => undefined, signal: stop.signal })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    for (let i = 0; i < 150; i++) {
      for (let j = 0; j < 20; j++) server.notify('notifications/tools/list_changed')
      await vi.advanceTimersByTimeAsync(10)
    }
    stop.abort()
    // A few at first, and then one per second.
    expect(lists).toBeLessThanOrEqual(5 + 2)
  })

  it('may have a name of any length', async () => {
    const { client } = await connect(line, {
      name: `x${'/y'.repeat(500_000)}`,
      answer: () => ({ tools: [{ name: 'a' }] }),
    })
    const [tool] = await toolsFromMcp(client)
    expect(tool?.source?.length).toBeLessThanOrEqual(200)
  })
})
