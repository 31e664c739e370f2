import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallResult, ToolProgress, RawTool } from '../../catalog/tool.ts'
import { requestFromMcp } from './request.ts'
import { isUnsent } from './unsent.ts'
import { takeTurns } from '../../../../../test/turns.ts'
import { toolsFromMcp, type ToolsFromMcpOptions } from './tools-from-mcp.ts'
import {
  connect,
  connectOwn,
  connectSdk,
  LINES,
  ServerError,
  type Connection,
  type Line,
  type Message,
  type Script,
} from '../client/server.fixtures.ts'

const outputSchema = { type: 'object', required: ['celsius'], properties: { celsius: { type: 'number' } } }

interface Called extends Connection {
  readonly tool: RawTool
  readonly calls: () => readonly Message[]
}

/** A tool on a server that answers its calls like this. */
async function calling(line: Line, answer: Script['answer'], options: ToolsFromMcpOptions = {}): Promise<Called> {
  const connection = await connect(line, {
    answer: (request, server) =>
      request.method === 'tools/list'
        ? { tools: [{ name: 'Get.Forecast', inputSchema: { type: 'object' }, outputSchema }] }
        : answer?.(request, server),
  })
  const [tool] = await toolsFromMcp(connection.client, options)
  const calls = (): readonly Message[] => connection.server.received.filter(({ method }) => method === 'tools/call')
  return { ...connection, tool: tool!, calls }
}

function getText({ content }: Pick<CallResult, 'content'>): string {
  return content.map((piece) => String(piece['text'])).join('\n')
}

describe.each(LINES)("a call of a server's tool, with a client of %s", (line) => {
  it('R46 is sent under the declared name, and its answer is complete', async () => {
    const answer = {
      content: [
        { type: 'text', text: 'Cold.', annotations: { audience: ['user'], priority: 0.2 }, _meta: { a: 1 } },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///a', name: 'a', size: 3 },
        { type: 'resource', resource: { uri: 'file:///b', text: 'b', mimeType: 'text/plain' } },
        { type: 'hologram', voxels: [1, 2], extra: { deep: true } },
      ],
      // Does not match the output schema, which is not checked here.
      structuredContent: { celsius: 'cold' },
      isError: false,
      _meta: { 'acme/cost': 3 },
      vendorField: ['kept'],
    }
    const { tool, calls } = await calling(line, () => answer)
    expect(await tool.call!({ city: 'Köln', nested: { days: [1, 2] } }, {})).toEqual(answer)
    expect(calls()[0]!.params).toMatchObject({
      name: 'Get.Forecast',
      arguments: { city: 'Köln', nested: { days: [1, 2] } },
    })
  })

  it('R46 keeps an error of the tool, even without the structure its schema requires', async () => {
    const failed = { content: [{ type: 'text', text: 'No such city.' }], isError: true }
    const { tool } = await calling(line, () => failed)
    expect(await tool.call!({}, {})).toEqual(failed)
    const plain = { content: [{ type: 'text', text: 'Cold.' }] }
    expect(await (await calling(line, () => plain)).tool.call!({}, {})).toEqual(plain)
  })

  it('R46 turns the malformed answer of a careless server into content', async () => {
    const answers = [
      { structuredContent: [1] },
      { content: 'Cold.' },
      { content: ['Cold.', { text: 'no type' }, null] },
    ]
    const { tool } = await calling(line, () => answers.shift())
    expect(await tool.call!({}, {})).toEqual({ structuredContent: [1], content: [] })
    expect(await tool.call!({}, {})).toEqual({ content: [{ type: 'text', text: 'Cold.' }] })
    expect(await tool.call!({}, {})).toEqual({
      content: ['Cold.', '{"text":"no type"}', 'null'].map((text) => ({ type: 'text', text })),
    })
  })

  it.each([
    [{ toolResult: { content: [{ type: 'text', text: 'a' }], isError: true } }, 'a', true],
    [{ toolResult: 'a' }, 'a', undefined],
    [{ message: 'Hello.', _meta: { b: 1 } }, '{"message":"Hello."}', undefined],
    [{ structuredContent: { celsius: 1 } }, '', undefined],
  ])('R46 shows what a result without content has: %j', async (answer, text, isError) => {
    const { tool } = await calling(line, () => answer)
    const result = await tool.call!({}, {})
    expect(result).toMatchObject(answer)
    expect([getText(result), result.isError]).toEqual([text, isError])
  })

  it('R46 passes on the _meta of the request, except the keys of the connection', async () => {
    const { tool, calls } = await calling(line, () => ({ content: [] }))
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const outer = { progressToken: 'outer', 'io.modelcontextprotocol/protocolVersion': 'outer' }
    await tool.call!({}, { meta: { traceparent, 'acme/user': { id: 4 }, ...outer } })
    expect(calls()[0]!.params!['_meta']).toMatchObject({ traceparent, 'acme/user': { id: 4 } })
    expect(JSON.stringify(calls()[0])).not.toContain('outer')
  })

  it('R66 is sent with the key by which the server recognizes a repeated call', async () => {
    const { tool, calls } = await calling(line, () => ({ content: [] }))
    await tool.call!({}, { idempotencyKey: 'conversation/call-1', meta: { 'foldout/idempotencyKey': 'of another' } })
    await tool.call!({}, { meta: { 'foldout/idempotencyKey': 'of another' } })
    const keys = calls().map(({ params }) => (params!['_meta'] as Record<string, unknown>)?.['foldout/idempotencyKey'])
    expect(keys).toEqual(['conversation/call-1', undefined])
  })

  it('R46 R66 is sent without a key for a client that has sent none', async () => {
    const { tool, calls } = await calling(line, () => ({ content: [] }))
    const peer = { era: 'legacy', capabilities: {}, notify: async () => undefined } as const
    await tool.call!({}, { peer, idempotencyKey: 'connection/1' })
    await tool.call!({}, { peer, idempotencyKey: 'ada/again', meta: { 'foldout/idempotencyKey': 'again' } })
    const keys = calls().map(({ params }) => (params!['_meta'] as Record<string, unknown>)?.['foldout/idempotencyKey'])
    expect(keys).toEqual([undefined, 'ada/again'])
  })

  it('R46 reports the last progress even if it arrives with the answer', async () => {
    const { tool } = await calling(line, ({ params }, server) => {
      const { progressToken } = params['_meta'] as { readonly progressToken: number }
      server.notify('notifications/progress', { progressToken, progress: 1, total: 2, message: 'half' })
      server.notify('notifications/progress', { progressToken: 'of another', progress: 7 })
      server.notify('notifications/progress', { progressToken, progress: 2, total: 2 })
      return { content: [] }
    })
    const seen: ToolProgress[] = []
    await tool.call!({}, { onProgress: (progress) => seen.push(progress) })
    expect(seen).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2 },
    ])
    const throwing = (): void => {
      throw new Error('The listener is at fault.')
    }
    expect(await tool.call!({}, { onProgress: throwing })).toEqual({ content: [] })
  })

  it('R46 is cancelled upstream with its signal, and only while it runs', async () => {
    let finish = (): void => {}
    const { tool, server, calls } = await calling(line, async () => {
      await new Promise<void>((resolve) => (finish = resolve))
      return { content: [] }
    })
    const cancelled = (): unknown[] =>
      server.received
        .filter(({ method }) => method === 'notifications/cancelled')
        .map(({ params }) => params!['requestId'])
    const abort = new AbortController()
    const running = tool.call!({}, { signal: abort.signal })
    await vi.waitFor(() => expect(calls()).toHaveLength(1))
    abort.abort(new Error('Enough.'))
    await expect(running).rejects.toThrow('Enough.')
    await vi.waitFor(() => expect(cancelled()).toEqual([calls()[0]!.id]))
    await expect(tool.call!({}, { signal: abort.signal })).rejects.toThrow('Enough.')
    expect(calls()).toHaveLength(1)

    const late = new AbortController()
    const done = tool.call!({}, { signal: late.signal })
    await vi.waitFor(() => expect(calls()).toHaveLength(2))
    finish()
    await done
    late.abort()
    await takeTurns()
    expect(cancelled()).toHaveLength(1)
  })

  it('R46 returns protocol errors', async () => {
    const errors = [
      new ServerError(-32602, 'Tool Get.Forecast not found'),
      new ServerError(-32602, 'Invalid params', { path: 'city' }),
      new ServerError(-32001, 'No such session'),
    ]
    const { tool } = await calling(line, () => {
      throw errors.shift()!
    })
    const told = async (): Promise<unknown> => tool.call!({}, {})
    const refused = (why: string): unknown => ({
      content: [{ type: 'text', text: `The server 'handmade' rejected the call of 'Get.Forecast': ${why}` }],
      isError: true,
    })
    expect(await told()).toEqual(refused('Tool Get.Forecast not found'))
    expect(await told()).toEqual(refused('Invalid params ({"path":"city"})'))
    expect(await told()).toEqual(refused('No such session'))
  })

  it('R46 reports that the connection was lost, or never existed', async () => {
    const { tool, server, calls } = await calling(line, () => new Promise(() => {}))
    const running = tool.call!({}, {})
    await vi.waitFor(() => expect(calls()).toHaveLength(1))
    server.die()
    expect(await running).toEqual({
      content: [
        {
          type: 'text',
          text: "The connection to the server 'handmade' was lost during the call of 'Get.Forecast'. It is unknown whether it has run.",
        },
      ],
      isError: true,
    })
    const unsent = await tool.call!({}, {})
    expect(getText(unsent)).toBe("Tool 'Get.Forecast' was not run: there is no connection to the server 'handmade'.")
    expect([isUnsent(await running), isUnsent(unsent)]).toEqual([false, true])
  })

  it('R46 gets results that are errors, and data of progress reports, unchanged', async () => {
    const answer = {
      isError: true,
      content: [{ type: 'text', text: 'y'.repeat(200_000), annotations: { priority: 1 } }],
    }
    const { tool } = await calling(
      line,
      ({ params }, server) => {
        const { progressToken } = params['_meta'] as { readonly progressToken: number }
        for (const note of ['short', 'x'.repeat(20_000)])
          server.notify('notifications/progress', {
            progressToken,
            progress: note.length,
            _meta: { note },
          })
        return answer
      },
      { maxErrorCharacters: Number.MAX_SAFE_INTEGER },
    )
    const seen: ToolProgress[] = []
    expect(await tool.call!({}, { onProgress: (progress) => seen.push(progress) })).toEqual(answer)
    expect(seen).toEqual([{ progress: 5, _meta: { note: 'short' } }, { progress: 20_000 }])
  })

  it('R46 says if a call did not reach the server', async () => {
    const { tool, transport, calls } = await calling(line, () => ({ content: [] }))
    const refuse = async (): Promise<never> => {
      throw Object.assign(new Error('HTTP 404 Session not found'), { code: 'NOT_CONNECTED' })
    }
    Object.assign(transport, { send: refuse })
    const unsent = await tool.call!({}, {})
    expect(getText(unsent)).toBe(
      "Tool 'Get.Forecast' was not run: there is no connection to the server 'handmade'. HTTP 404 Session not found",
    )
    expect([isUnsent(unsent), calls().length]).toEqual([true, 0])
  })

  it('R46 fails at once if the stream for its answer ends', async () => {
    const tools = [{ name: 'Get.Forecast', inputSchema: { type: 'object' } }]
    const { client, server, transport } = await connect(line, {
      answer: ({ method }) => (method === 'tools/list' ? { tools } : new Promise(() => {})),
    })
    const send = transport.send.bind(transport)
    const endStream = async (message: object, options?: { onRequestStreamEnd?(): void }): Promise<void> => {
      await send(message)
      await takeTurns()
      options?.onRequestStreamEnd?.()
    }
    Object.assign(transport, { hasPerRequestStream: true, send: endStream })
    const [tool] = await toolsFromMcp(client)
    const text =
      "The connection to the server 'handmade' was lost during the call of 'Get.Forecast'. It is unknown whether it has run."
    expect(getText(await tool!.call!({}, {}))).toBe(text)
    await expect(requestFromMcp(client, 'resources/read', { uri: 'a:b' })).rejects.toThrow(
      'The connection to the server was lost during the request.',
    )
    expect(server.received.map(({ method }) => method)).not.toContain('notifications/cancelled')
  })

  it('R46 times out without an answer', async () => {
    const silent = await calling(line, () => new Promise(() => {}), { timeoutMs: 60 })
    expect(await silent.tool.call!({}, {})).toEqual({
      content: [
        {
          type: 'text',
          text: "Tool 'Get.Forecast' was cancelled: the server 'handmade' gave no answer and no progress for 0.06 seconds.",
        },
      ],
      isError: true,
    })
  })
})

/** Waits by the clock of the test. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

describe("a call of a server's tool", () => {
  beforeEach(() => {
    vi.useFakeTimers()
    return () => vi.useRealTimers()
  })

  it.each(LINES)('R46 may be silent for nine minutes, with a client of %s', async (line) => {
    const { tool } = await calling(line, async () => {
      await wait(540_000)
      return { content: [] }
    })
    const running = tool.call!({}, {})
    await vi.advanceTimersByTimeAsync(541_000)
    expect(await running).toEqual({ content: [] })
  })

  it.each(LINES)('R46 may take longer than its timeout if it reports progress, with a client of %s', async (line) => {
    const { tool } = await calling(
      line,
      async ({ params }, server) => {
        const { progressToken } = params['_meta'] as { readonly progressToken: number }
        for (let progress = 1; progress <= 6; progress++) {
          await wait(150)
          server.notify('notifications/progress', { progressToken, progress })
        }
        return { content: [] }
      },
      { timeoutMs: 200 },
    )
    const running = tool.call!({}, {})
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await running).toEqual({ content: [] })
  })
})

const asking: Script['answer'] = ({ method, params }) => {
  if (method === 'tools/list') return { tools: [{ name: 'Get.Forecast', inputSchema: { type: 'object' } }] }
  if (params['inputResponses'] !== undefined)
    return { content: [{ type: 'text', text: JSON.stringify([params['inputResponses'], params['requestState']]) }] }
  const requestedSchema = { type: 'object', properties: { city: { type: 'string' } } }
  const question = { mode: 'form', message: 'Which city?', requestedSchema }
  return {
    resultType: 'input_required',
    inputRequests: { city: { method: 'elicitation/create', params: question } },
    requestState: 'round 1',
  }
}

describe('a call of a tool on a server of MCP 2026-07-28', () => {
  const answer = { action: 'accept', content: { city: 'Köln' } }
  const heard = { content: [{ type: 'text', text: JSON.stringify([{ city: answer }, 'round 1']) }] }

  it("R46 leaves the server's questions to a client of the SDK, and returns the final answer", async () => {
    const { client, server } = await connectSdk({ answer: asking }, 'modern')
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { city: 'Köln' } }))
    const [tool] = await toolsFromMcp(client)
    expect(await tool!.call!({}, {})).toEqual(heard)
    expect(server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(2)
  })

  it("R46 asks the handler of our own client, or the call's client", async () => {
    const onRequest = vi.fn(async () => answer)
    const { client } = await connectOwn('our own on 2026-07-28', { answer: asking }, { onRequest })
    const [tool] = await toolsFromMcp(client)
    expect(await tool!.call!({}, {})).toEqual(heard)
    expect(onRequest).toHaveBeenCalledExactlyOnceWith(
      'elicitation/create',
      expect.objectContaining({ message: 'Which city?' }),
      expect.any(AbortSignal),
    )
    const ask = vi.fn(async () => answer)
    const peer = { era: 'legacy', capabilities: {}, notify: async () => undefined, ask } as const
    expect(await tool!.call!({}, { peer })).toEqual(heard)
    expect([ask.mock.calls.length, onRequest.mock.calls.length]).toEqual([1, 1])
    const { ask: _, ...modern } = peer
    expect(await tool!.call!({}, { peer: { ...modern, era: 'modern' } })).toMatchObject({
      resultType: 'input_required',
      requestState: 'round 1',
      content: [],
    })
  })

  it('R46 accepts an answer that does not say that it is complete', async () => {
    const { tool } = await calling('our own on 2026-07-28', () => ({ resultType: undefined, content: [] }))
    expect(await tool.call!({}, {})).toEqual({ content: [] })
  })
})
