import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { connectToMcp } from '../../client/connect.ts'
import { beginEvents, createReceiver, listen, toEvent } from './server.fixtures.ts'
import { createSseTransport } from './sse-transport.ts'

const INITIALIZED = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'old', version: '1' } }

describe('the oldest transport over HTTP', () => {
  it('takes messages where the server says, and answers on one stream', async () => {
    let stream: ServerResponse | undefined
    const { url, heard } = await listen(({ method, message }, response) => {
      if (method === 'GET') {
        stream = beginEvents(response)
        stream.write('event: endpoint\ndata: /messages?session=1\n\n')
        return
      }
      response.writeHead(202).end()
      const result = message?.['method'] === 'initialize' ? INITIALIZED : { echo: message?.['params'] }
      if (message?.['id'] !== undefined) stream?.write(toEvent({ jsonrpc: '2.0', id: message['id'], result }))
    })
    const session = await connectToMcp(createSseTransport(url), { name: 'app', version: '1', era: 'legacy' })
    expect(await session.request('minds/read', { of: 1 })).toEqual({ echo: { of: 1 } })
    expect(heard.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST', 'POST'])
    stream?.end()
    await session.closed
    await expect(session.request('any')).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
  })

  it.each([
    [
      'is of another server',
      'event: endpoint\ndata: https://evil.example/\n\n',
      'https://evil.example, which is not its own',
    ],
    ['is none', 'event: endpoint\ndata: http://[\n\n', 'an address that is none'],
    ['does not come', ': nothing\n\n', 'before it said where to send messages'],
  ])('is refused if the address for messages %s', async (_what, text, why) => {
    const { url } = await listen((_, response) => beginEvents(response).end(text))
    const receiver = createReceiver()
    await expect(createSseTransport(url).start(receiver)).rejects.toThrow(why)
    await receiver.closed
  })

  it.each([
    [404, 'text/plain'],
    [200, 'text/html'],
  ])('is not there if the server answers with %s, %s', async (status, type) => {
    const { url } = await listen((_, response) => response.writeHead(status, { 'content-type': type }).end('No.'))
    await expect(createSseTransport(url).start(createReceiver())).rejects.toMatchObject({ status, body: 'No.' })
  })

  it('fails a message that the server refuses, and reports events that are no messages', async () => {
    const errors: string[] = []
    const { url } = await listen(({ method }, response) => {
      if (method === 'GET') beginEvents(response).write('event: endpoint\ndata: /messages\n\ndata: hello\n\n')
      else response.writeHead(500).end('Broken.')
    })
    const transport = createSseTransport(url, { onError: ({ message }) => errors.push(message) })
    await transport.start(createReceiver())
    await expect(transport.send({ jsonrpc: '2.0', id: 1, method: 'a' })).rejects.toThrow(
      'It answered with HTTP 500: Broken.',
    )
    await vi.waitFor(() => expect(errors).toEqual(['The server sent an event that is not JSON.']))
    await transport.close()
  })
})
