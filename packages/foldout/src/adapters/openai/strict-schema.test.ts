import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { openai } from '../../entries/openai.ts'
import { outputSpec } from '../../prompt/definition/output.ts'
import { conversation, tool, warnings } from './conversation.fixtures.ts'
import { isStrictSchema } from './strict-schema.ts'
import { failing, startWire, type Wire } from './wire.fixtures.ts'

const city = { type: 'string', description: 'Where.' }
const exact = (properties: Record<string, unknown>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const nest = (levels: number): JsonSchema => (levels === 0 ? exact({ city }) : exact({ inner: nest(levels - 1) }))
const many = (count: number): JsonSchema =>
  exact(Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, city])))

describe('a schema that OpenAI enforces', () => {
  it.each<[string, JsonSchema]>([
    ['no fields', exact({})],
    ['plain fields', exact({ city, count: { type: 'integer' }, is: { type: ['boolean', 'null'] } })],
    ['values', exact({ unit: { type: 'string', enum: ['C', 'F'] }, kind: { type: 'string', const: 'x' } })],
    ['lists and objects', exact({ list: { type: 'array', items: exact({ city }) } })],
    ['alternatives below the top', exact({ one: { anyOf: [city, exact({ city })] } })],
    ['the name of its dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...exact({ city }) }],
    ['some depth', nest(3)],
    ['as many fields as are allowed', many(100)],
  ])('R17 has %s', (_, schema) => {
    expect(isStrictSchema(schema)).toBe(true)
  })

  it.each<[string, JsonSchema]>([
    ['an optional field', { ...exact({ city, unit: city }), required: ['city'] }],
    ['other fields', { ...exact({ city }), additionalProperties: true }],
    ['fields that are not restricted', { type: 'object', properties: { city }, required: ['city'] }],
    ['no properties', { type: 'object', additionalProperties: false }],
    ['a required field without a schema', { ...exact({ city }), required: ['city', 'unit'] }],
    ['a field named like a method', { ...exact({ city }), required: ['constructor'] }],
    ['a rule that not every model knows', exact({ city: { type: 'string', minLength: 1 } })],
    ['a default', exact({ city: { type: 'string', default: 'Oslo' } })],
    ['a reference', exact({ city: { $ref: '#/$defs/city' } })],
    ['a field of any type', exact({ city: {} })],
    ['a field that is `true`', exact({ city: true })],
    ['a type named like a method', exact({ city: { type: 'toString' } })],
    ['a list of anything', exact({ list: { type: 'array' } })],
    ['alternatives at the top', { anyOf: [exact({ city })] }],
    ['an inexact object inside', exact({ inner: { type: 'object', properties: {} } })],
    ['values that are objects', exact({ one: { type: 'string', enum: [{}] } })],
    ['too much depth', nest(9)],
    ['too many fields', many(101)],
  ])('R17 does not have %s', (_, schema) => {
    expect(isStrictSchema(schema)).toBe(false)
  })
})

describe('strict schemas', () => {
  let wire: Wire
  beforeEach(async () => {
    wire = await startWire()
  })
  afterEach(() => wire[Symbol.asyncDispose]())

  it('R17 are requested of OpenAI, and no longer once it has refused one', async () => {
    const adapter = openai({
      model: 'gpt-3.5-turbo',
      interface: 'chat',
      apiKey: 'k',
      baseURL: 'https://api.openai.com/v1',
      fetch: (url, init) => fetch((url as string).replace('https://api.openai.com', wire.url), init),
    })
    wire.mock.onMessage('Hello', { content: '{"city":"Oslo"}' })
    wire.answerNext(failing(400, "Unsupported parameter: 'strict' is not supported with this model."))
    const output = outputSpec(exact({ city }))
    const talk = conversation({ output, tools: [tool('weather')] })
    await adapter.evaluate(talk)
    await adapter.evaluate(conversation({ output, tools: [tool('weather')] }))
    expect(
      wire.requests.map(({ body }) => [body.response_format.json_schema.strict, body.tools[0].function.strict]),
    ).toEqual([
      [true, true],
      [false, undefined],
      [false, undefined],
    ])
    expect(warnings(talk.events)).toEqual([expect.stringMatching(/^The endpoint refused a strict schema\./)])
  })

  it('R17 are not requested of other servers', async () => {
    wire.mock.onMessage('Hello', { content: '{"city":"Oslo"}' })
    const adapter = openai({ model: 'm', interface: 'chat', apiKey: 'k', baseURL: `${wire.url}/v1` })
    await adapter.evaluate(conversation({ output: outputSpec(exact({ city })), tools: [tool('weather')] }))
    expect(wire.requests[0]?.raw).not.toContain('"strict":true')
  })
})
