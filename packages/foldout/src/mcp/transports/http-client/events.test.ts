import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBody, readStart } from './body.ts'
import { readEvents, type StreamEvent } from './events.ts'
import { beginEvents, flood, listen } from './server.fixtures.ts'

async function readAll(response: Response, maxBytes = 1_000): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of readEvents(response, maxBytes)) events.push(event)
  return events
}

const toResponse = (text: string | Uint8Array<ArrayBuffer>, size = 1_000_000): Response => {
  const sent = Buffer.from(text)
  const parts = Array.from({ length: Math.ceil(sent.length / size) }, (_, i) => sent.subarray(i * size, (i + 1) * size))
  return new Response(ReadableStream.from(parts))
}

describe('events of a stream', () => {
  it('have their fields, whatever the line breaks are', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const lines = [
        '\uFEFF: a comment',
        'id: 7',
        'event: endpoint',
        'data: one',
        'data:two',
        'data',
        'retry: 20',
        'x: y',
        '',
        'data: three',
        '',
      ]
      expect(await readAll(toResponse(lines.join(end) + end))).toEqual([
        { type: 'endpoint', data: 'one\ntwo\n', id: '7', retryMs: 20 },
        { type: 'message', data: 'three', id: undefined, retryMs: undefined },
      ])
    }
  })

  it('are complete without the last empty line, and may be none at all', async () => {
    expect(await readAll(toResponse('data: late'))).toMatchObject([{ data: 'late' }])
    expect(await readAll(toResponse(': only\n\n: comments\n\n'))).toEqual([])
    expect(await readAll(new Response(null))).toEqual([])
    expect(await readAll(toResponse('id: a\0b\nretry: soon\n\n'))).toEqual([])
  })

  it('are the same wherever the chunks are split', async () => {
    const data = fc.array(
      fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n\0]/.test(text)),
      { minLength: 1, maxLength: 3 },
    )
    const lineBreak = fc.constantFrom('\n', '\r\n', '\r')
    await fc.assert(
      fc.asyncProperty(
        fc.array(data, { maxLength: 5 }),
        lineBreak,
        fc.integer({ min: 1, max: 7 }),
        async (all, end, size) => {
          const text = all.map((lines) => lines.map((line) => `data: ${line}${end}`).join('') + end).join('')
          const events = await readAll(toResponse(text, size))
          expect(events.map((event) => event.data)).toEqual(all.map((lines) => lines.join('\n')))
        },
      ),
    )
  })

  it('are as many as the server sends, and none is endless', async () => {
    const many = await listen((_, response) => beginEvents(response).end(`data: ${'x'.repeat(900)}\n\n`.repeat(1_000)))
    expect(await readAll(await fetch(many.url))).toHaveLength(1_000)
    for (const text of ['data: x', 'data: x\n', 'data: x\r\n', 'data: x\r', ': note\r\n']) {
      const { url } = await listen((_, response) => flood(beginEvents(response), text))
      await expect(readAll(await fetch(url))).rejects.toThrow('The server sent an event of more than 1000 bytes.')
    }
  })
})

describe('a body', () => {
  const zipped = (bytes: Uint8Array) => () =>
    listen((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes)))

  it('is counted after decompression', async () => {
    const small = await zipped(Buffer.from('ä'.repeat(500)))()
    expect(await readBody(await fetch(small.url), 1_000)).toBe('ä'.repeat(500))
    const bomb = await zipped(Buffer.alloc(50_000_000))()
    await expect(readBody(await fetch(bomb.url), 1_000)).rejects.toThrow(
      'The server sent an answer of more than 1000 bytes.',
    )
  })

  it('is cut if it is an error, and its sender is stopped', async () => {
    let stop: (() => void) | undefined
    const stopped = new Promise<void>((resolve) => (stop = resolve))
    const { url } = await listen((_, response) => {
      response.on('close', () => stop?.())
      flood(response.writeHead(500), 'no '.repeat(10_000))
    })
    expect(await readStart(await fetch(url), 100)).toBe('no '.repeat(34).slice(0, 100))
    await stopped
  })
})
