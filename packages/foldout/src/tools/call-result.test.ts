import { describe, expect, it } from 'vitest'
import type { CallResult } from './call-result.ts'
import { toCallResult, toToolResult } from './convert-result.ts'
import { fail, ok } from './result.ts'

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }

describe('the answer of a catalog in a conversation', () => {
  it('R46 has its text, its images, and the whole answer as its value', () => {
    const answer = { content: [{ type: 'text', text: 'A chart.' }, image], _meta: { a: 1 } }
    expect(toToolResult(answer)).toEqual({
      ok: true,
      message: 'A chart.\n\n[image image/png, 1 KB]',
      value: answer,
      images: [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }],
      answer,
    })
  })

  it.each([
    [
      { type: 'resource_link', uri: 'file:///a.txt', mimeType: 'text/plain' },
      '[resource link text/plain file:///a.txt]',
    ],
    [{ type: 'resource', resource: { uri: 'file:///a.txt', text: 'Inside.' } }, 'Inside.'],
    [{ type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AA==' } }, '[resource file:///a.bin]'],
    [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, '[audio audio/wav, 1 KB]'],
  ])('R46 names content that is not text: %j', (content, text) => {
    expect(toToolResult({ content: [content] }).message).toBe(text)
  })

  it('R46 shows structured content that has no text', () => {
    expect(toToolResult({ content: [], structuredContent: { a: 1 } }).message).toBe('{"a":1}')
    expect(toToolResult({ content: [] }).message).toBe('Done.')
  })

  it('R46 ignores invalid content', () => {
    const answer = { content: [null, 5, {}, { type: 'text', text: 'Here.' }] } as unknown as CallResult
    expect(toToolResult(answer)).toMatchObject({ ok: true, message: 'Here.', answer })
  })

  it('R46 fails if the tool failed', () => {
    const answer = { content: [{ type: 'text', text: 'No.' }], isError: true }
    expect(toToolResult(answer)).toEqual({ ok: false, message: 'No.', answer })
  })
})

describe('the result of a tool as an answer', () => {
  it('R46 has the text, the images and, if it is declared, the value', () => {
    const images = [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }]
    const content = [{ type: 'text', text: 'A chart.' }, image]
    expect(toCallResult({ ...ok('A chart.', { a: 1 }), images })).toEqual({ content })
    expect(toCallResult({ ...ok('A chart.', { a: 1 }), images }, { isStructured: true })).toEqual({
      content,
      structuredContent: { a: 1 },
    })
    expect(toCallResult(fail('No.'))).toEqual({ content: [{ type: 'text', text: 'No.' }], isError: true })
  })

  it('R46 survives the round trip, failures too', () => {
    const content = [image, { type: 'resource_link', uri: 'a:b', name: 'b' }, { type: 'of-the-future', x: [1] }]
    for (const isError of [true, false]) {
      const answer = { content, structuredContent: [1], isError, _meta: { kept: true } }
      expect(toCallResult(toToolResult(answer))).toBe(answer)
    }
  })
})
