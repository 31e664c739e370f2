import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { McpReceiver } from '../../protocol/transport.ts'

export interface Heard {
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly message: Readonly<Record<string, unknown>> | undefined
}

export type Answer = (heard: Heard, response: ServerResponse) => void

/** Listens until the test has finished, and answers each request as the test says. */
export async function listen(answer: Answer): Promise<{ readonly url: string; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const message = (body === '' ? undefined : JSON.parse(body)) as Heard['message']
    const one = { method: request.method ?? '', headers: request.headers, message }
    heard.push(one)
    answer(one, response)
  }
  const server = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, heard }
}

/** Remembers what a transport receives. */
export function createReceiver(): McpReceiver & { readonly messages: unknown[]; readonly closed: Promise<void> } {
  const messages: unknown[] = []
  let end: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (end = resolve))
  return { messages, closed, receive: (message) => messages.push(message), close: () => end() }
}

export function answerJson(
  response: ServerResponse,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export const beginEvents = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })

export const toEvent = (message: unknown): string => `data: ${JSON.stringify(message)}\n\n`

/** Writes until the other side has gone. */
export function flood(response: NodeJS.WritableStream & { readonly destroyed?: boolean }, text: string): void {
  const write = (): void => {
    while (response.destroyed !== true && response.write(text));
  }
  response.on('drain', write).on('error', () => undefined)
  write()
}
