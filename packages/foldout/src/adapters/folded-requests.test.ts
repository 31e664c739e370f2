import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { anthropic } from '../entries/anthropic.ts'
import { definePrompt, defineSection, defineTool, ok, runAgent, type AgentEvent } from '../entries/index.ts'
import { openai, openaiCompatible } from '../entries/openai.ts'
import type { ProviderAdapter } from './contract.ts'

const REPORTS = 24

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object', properties: { n: { type: 'integer' } } },
  execute: ({ n }) => ok(`report ${String(n)}: ${'many orders, none of them late. '.repeat(60)}`),
})
const bound = definePrompt({
  ns: 'test',
  key: 'wire',
  sections: [defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report] })],
}).bind({})

type Item = Readonly<Record<string, unknown>>
type Listed = readonly ['call' | 'result' | 'other', string]

/** A provider's protocol: how it streams two calls or an answer, and what its requests have. */
interface Protocol {
  readonly create: (url: string) => ProviderAdapter
  readonly stream: (turn: number, ids: readonly string[]) => readonly Item[]
  /** The calls of a request and the results for them, in order. */
  readonly list: (body: Item) => readonly Listed[]
}

const listItems = (body: Item, name: string): readonly Item[] => body[name] as readonly Item[]

const messagesApi: Protocol = {
  create: (url) =>
    anthropic({
      model: 'claude-sonnet-4-5',
      apiKey: 'k',
      maxRetries: 0,
      fetch: (address, init) => fetch((address as string).replace('https://api.anthropic.com', url), init),
    }),
  stream(turn, ids) {
    const usage = { input_tokens: 10, output_tokens: 5 }
    const blocks = ids.map((id) => ({ type: 'tool_use', id, name: 'get_report', input: {} }))
    const content = blocks.length > 0 ? blocks : [{ type: 'text', text: '' }]
    return [
      {
        type: 'message_start',
        message: { id: `m${turn}`, type: 'message', role: 'assistant', model: 'x', content: [], usage },
      },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        {
          type: 'content_block_delta',
          index,
          delta:
            block.type === 'text'
              ? { type: 'text_delta', text: 'Done.' }
              : { type: 'input_json_delta', partial_json: `{"n":${turn}}` },
        },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: blocks.length > 0 ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' },
    ]
  },
  list: (body) =>
    listItems(body, 'messages').flatMap(({ content }) =>
      (Array.isArray(content) ? (content as readonly Item[]) : []).map(({ type, id, tool_use_id: of }) => {
        if (type === 'tool_use') return ['call', String(id)] as const
        return type === 'tool_result' ? (['result', String(of)] as const) : (['other', String(type)] as const)
      }),
    ),
}

const chatApi: Protocol = {
  create: (url) => openaiCompatible({ model: 'm', baseURL: `${url}/v1` }),
  stream(turn, ids) {
    const calls = ids.map((id, index) => ({
      index,
      id,
      type: 'function',
      function: { name: 'get_report', arguments: `{"n":${turn}}` },
    }))
    const delta = calls.length > 0 ? { tool_calls: calls } : { content: 'Done.' }
    const finish = calls.length > 0 ? 'tool_calls' : 'stop'
    return [
      { choices: [{ index: 0, delta, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    ]
  },
  list: (body) =>
    listItems(body, 'messages').flatMap(({ role, tool_calls: calls = [], tool_call_id: of }): readonly Listed[] => {
      if (role === 'tool') return [['result', String(of)] as const]
      return [
        ['other', String(role)] as const,
        ...(calls as readonly Item[]).map(({ id }) => ['call', String(id)] as const),
      ]
    }),
}

const responsesApi: Protocol = {
  create: (url) => openai({ model: 'gpt-5', apiKey: 'k', maxRetries: 0, baseURL: `${url}/v1` }),
  stream(turn, ids) {
    const calls = ids.map((id) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name: 'get_report',
      arguments: `{"n":${turn}}`,
      status: 'completed',
    }))
    const said = { type: 'message', id: 'm', role: 'assistant', status: 'completed' }
    const answer = { ...said, content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }
    const output = calls.length > 0 ? calls : [answer]
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    return [
      ...output.map((item, index) => ({ type: 'response.output_item.done', output_index: index, item })),
      {
        type: 'response.completed',
        response: { id: `r${turn}`, object: 'response', status: 'completed', output, usage },
      },
    ]
  },
  list: (body) =>
    listItems(body, 'input').map(({ type = 'message', call_id: id }) => {
      if (type === 'function_call') return ['call', String(id)] as const
      return type === 'function_call_output' ? (['result', String(id)] as const) : (['other', String(type)] as const)
    }),
}

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A provider on loopback whose model calls two tools in each reply. */
async function listen({ stream }: Protocol): Promise<{ readonly url: string; readonly sent: readonly string[] }> {
  const sent: string[] = []
  const answer = (response: ServerResponse): void => {
    const turn = sent.length
    const ids = turn > REPORTS ? [] : [`call_${turn}_a`, `call_${turn}_b`]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of stream(turn, ids)) {
      const name = typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  }
  server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      sent.push(await text(request))
      answer(response)
    }
    serve().catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

/** Finds what breaks the rule of every provider: the calls of a reply are followed by exactly their results. */
function findUnpaired(items: readonly Listed[]): Listed | undefined {
  const waiting = new Set<string>()
  const seen = new Set<string>()
  for (const item of items) {
    const [kind, id] = item
    const isNext = kind === 'call' ? !seen.has(id) : waiting.size === 0
    const isPaired = kind === 'result' ? waiting.delete(id) : isNext
    if (!isPaired) return item
    if (kind === 'call') {
      seen.add(id)
      waiting.add(id)
    }
  }
  return waiting.size === 0 ? undefined : items.at(-1)
}

describe('R67 R69 requests of a provider, over HTTP, after a fold', () => {
  it.each([
    ["Anthropic's Messages", messagesApi],
    ['Chat Completions', chatApi],
    ["OpenAI's Responses", responsesApi],
  ])('%s: are shorter, and have each call with its result', async (_name, protocol) => {
    const { url, sent } = await listen(protocol)
    const folds: number[] = []
    const onEvent = (event: AgentEvent): void => {
      if (event.type === 'results/folded') folds.push(sent.length)
    }
    const { status } = await runAgent(bound, {
      adapter: protocol.create(url),
      input: 'Go.',
      maxTurns: REPORTS + 5,
      refold: { at: 8_000, frees: 3_000, keepTurns: 3 },
      onEvent,
    })
    expect(status).toBe('completed')
    expect(sent).toHaveLength(REPORTS + 1)
    expect(folds.length).toBeGreaterThan(1)
    const unpaired = sent.map((body) => findUnpaired(protocol.list(JSON.parse(body) as Item)))
    expect(unpaired.filter((item) => item !== undefined)).toEqual([])
    const bytes = sent.map((body) => Buffer.byteLength(body))
    const shrunk = bytes.flatMap((size, at) => (size < (bytes[at - 1] ?? 0) - 6_000 ? [at] : []))
    const grown = bytes.flatMap((size, at) => (size > (bytes[at - 1] ?? 0) ? [at] : []))
    expect(shrunk).toEqual(folds)
    expect(grown).toHaveLength(bytes.length - folds.length)
    expect(Math.max(...bytes)).toBeLessThan(60_000)
    expect(protocol.list(JSON.parse(sent.at(-1) ?? '{}') as Item).filter(([kind]) => kind === 'result')).toHaveLength(
      2 * REPORTS,
    )
  })
})
