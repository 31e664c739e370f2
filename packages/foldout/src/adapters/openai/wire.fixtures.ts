import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { LLMock } from '@copilotkit/aimock'

export interface RecordedRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** The bytes that were sent. */
  readonly raw: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into any part of it
  readonly body: any
}

export type Answer = (response: ServerResponse) => void | Promise<void>

/** A mock provider behind a proxy that records the actual requests. */
export interface Wire extends AsyncDisposable {
  readonly url: string
  readonly mock: LLMock
  readonly requests: readonly RecordedRequest[]
  /** How many requests the client abandoned before they were answered. */
  readonly givenUp: () => number
  /** Queues answers for the next requests; without one, a request goes to the mock. */
  answerNext(...answers: readonly Answer[]): void
}

export async function startWire(): Promise<Wire> {
  const mock = new LLMock({ port: 0 })
  await mock.start()
  const requests: RecordedRequest[] = []
  const answers: Answer[] = []
  let givenUp = 0
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await text(incoming)
    requests.push({ path: incoming.url ?? '', headers: incoming.headers, raw, body: JSON.parse(raw) })
    response.on('close', () => {
      if (!response.writableFinished) givenUp++
    })
    const answer = answers.shift()
    await (answer ? answer(response) : forward(mock.url, incoming, raw, response))
  }
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    mock,
    requests,
    givenUp: () => givenUp,
    answerNext: (...more) => void answers.push(...more),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await mock.stop()
    },
  }
}

function forward(url: string, incoming: IncomingMessage, raw: string, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(raw) }
    const upstream = httpRequest(`${url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
      answer.on('close', () => (answer.complete ? undefined : response.destroy()))
      resolve()
    })
    upstream.on('error', reject)
    response.on('close', () => upstream.destroy())
    upstream.end(raw)
  })
}

/** An error response. */
export function failing(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message, type: 'test_error', param: null, code: null } }))
  }
}

export interface EventsEnd {
  /** What happens to the connection after the events. Default `done`: it ends normally. */
  readonly end?: 'done' | 'cut' | 'hang'
}

/** Server-sent events, in a provider's format. */
export function events(data: readonly (object | string)[], { end = 'done' }: EventsEnd = {}): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const one of data) {
      response.write(`data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (end === 'done') response.end()
    else if (end === 'cut') response.destroy()
  }
}
