import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeHeader, encodeHeader, toRequestHeaders } from './headers.ts'

describe('headers of modern requests', () => {
  it('repeat the version, the method and what the request is about', () => {
    expect(toRequestHeaders('2026-07-28', 'tools/call', { name: 'größe', uri: 'x' })).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': '=?base64?Z3LDtsOfZQ==?=',
    })
    expect(toRequestHeaders('2026-07-28', 'constructor', { name: 'a' })).not.toHaveProperty('mcp-name')
    expect(toRequestHeaders('2026-07-28', 'resources/read', { uri: 5 })).not.toHaveProperty('mcp-name')
  })

  it('carry any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', ' a', 'a\r\nb: c', '=?base64?x?=', 'a b\tc'),
    )
    fc.assert(
      fc.property(text, (original) => {
        const value = encodeHeader(original)
        expect(new Headers({ x: value }).get('x')).toBe(value)
        expect(decodeHeader(value)).toBe(original)
      }),
    )
    expect(encodeHeader('get the weather')).toBe('get the weather')
    expect(decodeHeader('=?base64?%%?=')).toBeUndefined()
  })
})
