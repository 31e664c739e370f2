import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromJsonSchema, type JsonSchema } from 'foldout'
import { describe, expect, it } from 'vitest'

interface Group {
  readonly description: string
  readonly schema: JsonSchema | boolean
  readonly tests: readonly (readonly [description: string, value: unknown, isValid: boolean])[]
}

const read = (draft: string): Readonly<Record<string, readonly Group[]>> =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${draft}.json`), 'utf8')) as Record<string, Group[]>

describe.each([
  ['draft2020-12', {}],
  ['draft7', { $schema: 'http://json-schema.org/draft-07/schema#' }],
])('R46 arguments are checked according to JSON Schema, %s', (draft, version) => {
  it.each(Object.entries(read(draft)))('%s', (_, groups) => {
    for (const { description, schema, tests } of groups) {
      const whole = typeof schema === 'boolean' ? (schema as unknown as JsonSchema) : { ...version, ...schema }
      const { validate } = fromJsonSchema(whole)['~standard']
      for (const [test, value, isValid] of tests)
        expect([description, test, !('issues' in validate(value))]).toEqual([description, test, isValid])
    }
  })
})
