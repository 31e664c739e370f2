import { describe, expect, it } from 'vitest'
import { readInputSchema } from './schemas.ts'

describe('R43 patterns of an upstream', () => {
  it('R43 are left to the tool and reported if they are not supported', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(x)\\1$' } } }
    const read = readInputSchema(schema)
    expect(read).toMatchObject({ shown: schema, isCheckable: true })
    expect(read.faults).toEqual([
      "A pattern in its input schema is left for the tool to check: 'a' has the pattern ^(x)\\1$, which refers back to a group.",
    ])
  })
})
