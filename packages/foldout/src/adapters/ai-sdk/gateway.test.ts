import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { defineTool, ok } from '../../entries/index.ts'
import type { ProviderAdapter } from '../contract.ts'
import { aiSdk } from './ai-sdk.ts'
import { evaluate } from './evaluation.fixtures.ts'
import { call, finish, says, type StreamPart } from './model.fixtures.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
})

/** An adapter for a model behind a local server that sends one answer after another. */
async function behindHttp(...answers: readonly Answer[]): Promise<{
  readonly adapter: ProviderAdapter
  readonly bodies: { readonly tools?: readonly { readonly name: string }[] }[]
}> {
  const left = [...answers]
  const bodies: { readonly tools?: readonly { readonly name: string }[] }[] = []
  const listening = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(JSON.parse(body) as object)
      left.shift()!(response, request)
    })
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as AddressInfo
  const gateway = createGateway({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'none' })
  return { adapter: aiSdk({ model: gateway('test/model') }), bodies }
}

const event = (part: StreamPart): string => `data: ${JSON.stringify(part)}\n\n`
const streams =
  (...parts: readonly StreamPart[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(parts.map(event).join(''))
  }
const refuses =
  (status: number, type: string, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message: `Said with ${status}.`, type } }))
  }

describe('aiSdk over HTTP', () => {
  it('streams text, calls tools and finishes', async () => {
    const clock = defineTool({ name: 'clock', description: 'Tells the time.', execute: () => ok('Noon.') })
    const { adapter, bodies } = await behindHttp(
      streams(call('clock', {}), finish('tool-calls')),
      streams(...says('It is ', 'noon.'), finish()),
    )
    const { result } = await evaluate(adapter, { tools: [clock] })
    expect(result).toMatchObject({ type: 'final', text: 'It is noon.', usage: { cachedInputTokens: 60 } })
    expect(JSON.stringify(bodies[0]!.tools)).toBe(JSON.stringify(bodies[1]!.tools))
    expect(JSON.stringify(bodies[1])).toContain('Noon.')
  })

  it('R38 waits as long as a 429 requests, then retries', async () => {
    const { adapter, bodies } = await behindHttp(
      refuses(429, 'rate_limit_exceeded', { 'retry-after-ms': '7' }),
      streams(...says('Hello.'), finish()),
    )
    const { result, events } = await evaluate(adapter)
    expect(result).toMatchObject({ text: 'Hello.' })
    expect(events).toContainEqual({ type: 'request/retried', attempt: 1, delayMs: 7, reason: 'Said with 429.' })
    expect(bodies).toHaveLength(2)
  })

  it('R38 does not retry after 400', async () => {
    const { adapter, bodies } = await behindHttp(refuses(400, 'invalid_request_error'))
    await expect(evaluate(adapter)).rejects.toMatchObject({
      code: 'adapter-refused',
      message: 'The provider rejected the request with status 400, and a retry would not help. It said: Said with 400.',
    })
    expect(bodies).toHaveLength(1)
  })

  it('R38 retries if the connection is lost before any text, and fails if it is lost later', async () => {
    const breaks =
      (...parts: readonly StreamPart[]): Answer =>
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(parts.map(event).join('') || ': nothing yet\n\n', () => setTimeout(() => response.destroy(), 20))
      }
    const { adapter, bodies } = await behindHttp(breaks(), streams(...says('Hello.'), finish()), breaks(...says('Hel')))
    expect((await evaluate(adapter)).result).toMatchObject({ text: 'Hello.' })
    expect(bodies).toHaveLength(2)
    await expect(evaluate(adapter)).rejects.toMatchObject({ code: 'adapter-stream-cut' })
    expect(bodies).toHaveLength(3)
  })

  it('R38 closes an aborted request', async () => {
    const controller = new AbortController()
    const reason = new Error('Enough.')
    let closed: Promise<unknown> | undefined
    const { adapter } = await behindHttp((response) => {
      closed = new Promise((resolve) => response.on('close', resolve))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(says('Hel').slice(0, 2).map(event).join(''))
    })
    const evaluation = evaluate(adapter, {
      signal: controller.signal,
      onEvent: ({ type }) => void (type === 'text/delta' && controller.abort(reason)),
    })
    await expect(evaluation).rejects.toBe(reason)
    await closed
  })
})
