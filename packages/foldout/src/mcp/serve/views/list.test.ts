import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSameList, toMcpTool, formatPage } from './list.ts'

const names = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 40 })
const getName = (name: string): string => name

describe('pages of a list', () => {
  it('R44 contain every item once, in order', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 10 }), (all, size) => {
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page = formatPage(all, cursor, { size, getName })!
          seen.push(...page.items)
          cursor = page.nextCursor
        } while (cursor !== undefined)
        expect(seen).toEqual(all)
      }),
    )
  })

  it('R44 continue after the last item when others were added or removed before it', () => {
    const { nextCursor } = formatPage(['a', 'b', 'c', 'd'], undefined, { size: 2, getName })!
    expect(formatPage(['b', 'c', 'd'], nextCursor, { size: 2, getName })).toEqual({ items: ['c', 'd'] })
    expect(formatPage(['0', 'a', 'b', 'c'], nextCursor, { size: 2, getName })).toEqual({ items: ['c'] })
    expect(formatPage(['a', 'c', 'd'], nextCursor, { size: 2, getName })).toEqual({ items: ['c', 'd'] })
    expect(formatPage([], nextCursor, { size: 2, getName })).toEqual({ items: [] })
  })

  it('are empty for a cursor of another server', () => {
    for (const cursor of ['', 'b', '1', '-1:b', '1.5:b', ':b'])
      expect(formatPage(['a', 'b'], cursor, { size: 1, getName })).toBeUndefined()
  })
})

describe('a listed tool', () => {
  const tool = { name: 'a', description: 'A', inputSchema: { type: 'object' } }

  it('R44 has the MCP format', () => {
    expect(toMcpTool({ ...tool, meta: { kept: 1 } }, 'modern')).toEqual({ ...tool, _meta: { kept: 1 } })
    const extra = { name: 'other', securitySchemes: [] }
    expect(toMcpTool({ ...tool, extra }, 'modern')).toEqual({ ...tool, securitySchemes: [] })
    expect(Object.keys(toMcpTool(tool, 'legacy'))).toEqual(['name', 'description', 'inputSchema'])
  })

  it.each([{ type: 'array' }, { oneOf: [{ type: 'object' }] }, { $ref: '#/$defs/a' }, { properties: {} }, {}])(
    'R44 has the output schema %j for modern clients only',
    (outputSchema) => {
      const listed = { ...tool, outputSchema, meta: { kept: 1 } }
      expect(toMcpTool(listed, 'modern')).toEqual({ ...tool, outputSchema, _meta: { kept: 1 } })
      expect(toMcpTool(listed, 'legacy')).toEqual({ ...tool, _meta: { kept: 1 } })
    },
  )

  it('is reused if nothing changed', () => {
    expect(isSameList([tool], [{ ...tool }])).toBe(true)
    expect(isSameList([tool], [{ ...tool, description: 'B' }])).toBe(false)
    expect(isSameList([tool], [])).toBe(false)
  })
})
