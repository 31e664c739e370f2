import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { limitResponses } from './limit-response.ts'

const LIMITS = { messageBytes: 1_000, errorBytes: 100 }
let close: (() => void) | undefined
afterEach(() => close?.())

/** Requests from a server that answers like this. */
async function get(answer: (response: ServerResponse) => void): Promise<Response> {
  const server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => {
    server.close()
    server.closeAllConnections()
  }
  const { port } = server.address() as AddressInfo
  return limitResponses(fetch, LIMITS)(`http://127.0.0.1:${port}/`)
}

/** Writes until the other side has gone. */
function flood(response: ServerResponse, text: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(text));
  }
  response.on('drain', write)
  write()
}

describe('a response', () => {
  it('is counted after decompression', async () => {
    const small = await get((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('"' + 'a'.repeat(998) + '"')),
    )
    expect(await small.json()).toHaveLength(998)
    close?.()
    const bomb = await get((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000))),
    )
    await expect(bomb.json()).rejects.toThrow('The server sent an answer of more than 1000 bytes.')
  })

  it('is cut if it is an error, and its sender is stopped', async () => {
    let stop: (() => void) | undefined
    const stopped = new Promise<void>((resolve) => (stop = resolve))
    const response = await get((sent) => {
      sent.on('close', () => stop?.())
      flood(sent.writeHead(500), 'no '.repeat(10_000))
    })
    expect(response.status).toBe(500)
    expect(await response.text()).toBe('no '.repeat(34).slice(0, 100))
    await stopped
  })

  it('has no event that never ends, whatever its line breaks are', async () => {
    for (const text of ['data: x', 'data: x\n', 'data: x\r\n', 'data: x\r', ': note\r\n']) {
      const response = await get((sent) => flood(sent.writeHead(200, { 'content-type': 'text/event-stream' }), text))
      await expect(response.text()).rejects.toThrow('The server sent an event of more than 1000 bytes.')
      close?.()
    }
  })

  it('has as many events as the server sends', async () => {
    const event = `data: ${'x'.repeat(900)}\n\n`
    const response = await get((sent) =>
      sent.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end(event.repeat(1_000)),
    )
    expect(await response.text()).toBe(event.repeat(1_000))
  })
})

it('events arrive whole and unchanged, wherever chunks are split', async () => {
  const line = fc.constantFrom('data: a', 'id: 1', ': note')
  const lineBreak = fc.constantFrom('\n', '\r\n')
  const event = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 3 }), lineBreak)
    .map(([lines, end]) => lines.map((one) => one + end).join('') + end)
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 5 }), fc.integer({ min: 1, max: 7 }), async (events, size) => {
      const sent = Buffer.from(events.join(''))
      const parts = Array.from({ length: Math.ceil(sent.length / size) }, (_, i) =>
        sent.subarray(i * size, (i + 1) * size),
      )
      const headers = { 'content-type': 'text/event-stream' }
      const fetched = limitResponses(async () => new Response(ReadableStream.from(parts), { headers }), LIMITS)
      const { body } = await fetched('http://a/')
      const received: string[] = []
      for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) received.push(Buffer.from(chunk).toString())
      expect(received.join('')).toBe(sent.toString())
      // The second half of a line break may come later.
      for (const chunk of received) expect(chunk).toMatch(/(?:\n\n|\r\n\r|\r\n\r\n|^\n)$/)
    }),
  )
})
