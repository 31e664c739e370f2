import { describe, expect, it } from 'vitest'
import { toolResult } from './tool-result.ts'

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }

describe('an answer of a catalog in a conversation', () => {
  it('R46 is its text, with pictures beside it and the whole answer as its value', () => {
    const answer = { content: [{ type: 'text', text: 'A chart.' }, image], _meta: { a: 1 } }
    expect(toolResult(answer)).toEqual({
      ok: true,
      message: 'A chart.\n\n[image image/png, 1 KB]',
      value: answer,
      images: [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }],
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
  ])('R46 names what is no text: %j', (content, text) => {
    expect(toolResult({ content: [content] }).message).toBe(text)
  })

  it('R46 says structured content that has no words', () => {
    expect(toolResult({ content: [], structuredContent: { a: 1 } }).message).toBe('{"a":1}')
    expect(toolResult({ content: [] }).message).toBe('Done.')
  })

  it('R46 fails where the tool failed', () => {
    expect(toolResult({ content: [{ type: 'text', text: 'No.' }], isError: true })).toEqual({
      ok: false,
      message: 'No.',
    })
  })
})
