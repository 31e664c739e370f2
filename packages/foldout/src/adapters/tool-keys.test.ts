import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../core/schema/schema.ts'
import { ok } from '../tools/result.ts'
import { defineTool, type AnyTool } from '../tools/tool.ts'
import { INTERFACES } from './hostile-replies.fixtures.ts'
import { conversation } from './openai/conversation.fixtures.ts'
import { toOwnArguments, toSentTool } from './tool-keys.ts'
import { toToolParameters } from './tool-schemas.ts'

const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/

function toolWith(inputSchema: JsonSchema): AnyTool {
  return defineTool({ name: 'find', description: 'Finds.', params: inputSchema, execute: () => ok('Found.') })
}

const getProperties = (tool: AnyTool): Record<string, unknown> =>
  toToolParameters(toSentTool(tool).inputSchema, 'anthropic')['properties'] as Record<string, unknown>

const ODD = toolWith({
  type: 'object',
  properties: {
    'filter[id]': { type: 'string', description: 'The id.' },
    $top: { type: 'integer' },
    _top: { type: 'integer' },
    same: { $ref: '#/properties/$top' },
  },
  required: ['filter[id]', '_top'],
  dependentRequired: { $top: ['filter[id]'] },
})

describe('names of params', () => {
  it('leaves a tool with accepted names unchanged', () => {
    const tool = toolWith({ type: 'object', properties: { 'a.b-c_D9': {} } })
    expect(toSentTool(tool)).toBe(tool)
  })

  it('replaces the names that Anthropic rejects, and says what they were', () => {
    expect(toSentTool(ODD).inputSchema).toEqual({
      type: 'object',
      properties: {
        filter_id_: { type: 'string', description: "The field 'filter[id]'. The id." },
        _top_2: { type: 'integer', description: "The field '$top'." },
        _top: { type: 'integer' },
        same: { $ref: '#/properties/$top' },
      },
      required: ['filter_id_', '_top'],
    })
    expect(getProperties(ODD)['same']).toEqual({})
  })

  it('replaces half of an emoji in every name and text', () => {
    const half = '\ud83d'
    const inner = { type: 'object', properties: { [`b${half}`]: { enum: [half] } }, required: [`b${half}`] }
    const tool = toolWith({ type: 'object', properties: { [half]: { type: 'string' }, inner }, required: [half] })
    expect(toSentTool(tool).inputSchema).toEqual({
      type: 'object',
      properties: {
        _: { type: 'string', description: "The field '\ufffd'." },
        inner: { type: 'object', properties: { 'b\ufffd': { enum: ['\ufffd'] } }, required: ['b\ufffd'] },
      },
      required: ['_'],
    })
    expect(toOwnArguments({ _: 'a' }, tool)).toEqual({ [half]: 'a' })
    const nested = toolWith({ type: 'object', properties: { inner } })
    expect(JSON.stringify(getProperties(nested))).not.toContain('\\ud83d')
  })

  it('replaces names within alternatives', () => {
    const tool = toolWith({ anyOf: [{ properties: { $a: {} } }, { properties: { b: {} } }] })
    expect(Object.keys(getProperties(tool))).toEqual(['_a', 'b'])
  })

  it('gives any names ones that are accepted and unique, and maps arguments back', () => {
    const names = fc.uniqueArray(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 5 }),
        fc.constantFrom(
          '',
          '_',
          '_2',
          '$',
          '$$',
          '[a]',
          '_a_',
          '__proto__',
          'constructor',
          'x'.repeat(65),
          `x${'y'.repeat(64)}`,
          'x'.repeat(64),
        ),
      ),
    )
    fc.assert(
      fc.property(names, (own) => {
        const tool = toolWith({
          type: 'object',
          properties: Object.fromEntries(own.map((name) => [name, { const: name }])),
        })
        const sent = Object.keys(getProperties(tool))
        expect(sent).toHaveLength(own.length)
        for (const name of sent) expect(name).toMatch(ACCEPTED)
        const args = Object.fromEntries(
          Object.entries(getProperties(tool)).map(([name, schema]) => [name, (schema as { const: string }).const]),
        )
        const back = toOwnArguments(args, tool) as object
        for (const [name, value] of Object.entries(back)) expect(value).toBe(name)
        expect(Object.keys(back)).toHaveLength(own.length)
      }),
    )
  })

  it.each(Object.entries(INTERFACES))('go back to the tool as it knows them, over %s', async (_name, serve) => {
    const args = { filter_id_: 'a', _top_2: 3, _top: 4, other: 5 }
    const own = { 'filter[id]': 'a', $top: 3, _top: 4, other: 5 }
    const server = serve([{ calls: [{ id: 'a', name: 'find', text: JSON.stringify(args) }] }, { says: 'Done.' }])
    const talk = conversation({ tools: [ODD] })
    await server.adapter.evaluate(talk)
    expect(talk.calls[0]?.map((call) => call.arguments)).toEqual([own])
    // The stored conversation does not depend on the provider, and the model reads the names that it was given.
    expect(talk.recorded[0]).toMatchObject({ toolCalls: [{ arguments: own }] })
    expect(server.requests[1]?.replaceAll('\\', '')).toContain('"filter_id_":"a"')
    expect(server.requests[1]?.replaceAll('\\', '')).not.toContain('"filter[id]":')
  })
})
