import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { FoldoutError } from '../core/errors.ts'
import type { JsonSchema, ToolSchema } from '../core/schema/schema.ts'
import { createSession } from '../session/session.ts'
import { executeTool } from './execute.ts'
import { ok } from './result.ts'
import { defineTool } from './tool.ts'

const define = (params: ToolSchema | JsonSchema) =>
  defineTool({ name: 'tool', description: 'x', params, execute: (value) => ok('Done.', value) })
const shown = (params: ToolSchema | JsonSchema): JsonSchema => define(params).inputSchema
const context = {
  session: createSession(),
  signal: new AbortController().signal,
  deadline: undefined,
  filesystem: undefined,
  prompt: undefined,
}

describe('R18 params of tools, in a form that all providers accept', () => {
  it('shows a union of objects as one object, and checks against the union', async () => {
    const params = z.union([z.object({ id: z.string() }), z.object({ name: z.string(), size: z.number().optional() })])
    expect(shown(params)).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' }, size: { type: 'number' } },
      description: 'Takes one of these sets of fields: (id) or (name, size?).',
    })
    expect((await executeTool(define(params), { size: 5 }, context)).ok).toBe(false)
    expect(await executeTool(define(params), { name: 'a' }, context)).toMatchObject({ ok: true, value: { name: 'a' } })
  })

  it('lists the tags of a discriminated union', () => {
    const params = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('circle'), radius: z.number() }),
      z.strictObject({ kind: z.literal('square'), side: z.number() }),
    ])
    expect(shown(params)).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['circle', 'square'] },
        radius: { type: 'number' },
        side: { type: 'number' },
      },
      required: ['kind'],
      additionalProperties: false,
      description: 'Takes one of these sets of fields: (kind, radius) or (kind, side).',
    })
  })

  it('merges intersections, references and nullable objects', () => {
    expect(shown(z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })))).toMatchObject({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
    })
    expect(shown(z.object({ a: z.string() }).nullable())).toMatchObject({ type: 'object', required: ['a'] })
    const $defs = { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }
    expect(shown({ $ref: '#/$defs/node', $defs })).toEqual({
      $defs,
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' } },
    })
  })

  it('never has alternatives at the top level', () => {
    const $defs = { a: { anyOf: [{ $ref: '#/$defs/a' }, { required: ['x'] }] } }
    const schemas: readonly JsonSchema[] = [
      { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: ['object', 'null'], properties: { a: { type: 'string' } } },
      { properties: { a: { type: 'string' } } },
      {},
      { not: { required: ['a'] } },
      { type: 'object', if: { required: ['a'] } },
      { oneOf: [{ type: 'string' }, { type: 'object', properties: { a: {} } }] },
      { $ref: '#/$defs/a', $defs },
      {
        allOf: Array.from({ length: 30 }, (_, index) => ({
          anyOf: [{ required: [`a${index}`] }, { required: ['b'] }],
        })),
      },
      { $ref: '#/gone' },
    ]
    for (const schema of schemas) {
      const { type, ...rest } = shown(schema)
      expect(type).toBe('object')
      for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref', 'if'])
        expect(rest).not.toHaveProperty([keyword])
    }
  })

  it('does not change the schema of an object', () => {
    const schema = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }
    expect(shown(schema)).toEqual(schema)
  })

  it.each<[string, ToolSchema | JsonSchema]>([
    ['a text', z.string()],
    ['a list', z.array(z.string())],
    ['a union of texts', z.union([z.string(), z.number()])],
    ['an enum', z.enum(['a', 'b'])],
    ['a JSON Schema of a number', { type: 'number' }],
    ['a reference to a text', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
    ['an object that is also a text', { type: 'object', allOf: [{ type: 'string' }] }],
  ])('refuses %s', (_, params) => {
    expect(() => define(params)).toThrow(
      new FoldoutError(
        'tool-invalid',
        "The params of tool 'tool' are not the schema of an object. Models call tools with named arguments: wrap the schema in an object, as in z.object({ value: … }).",
      ),
    )
  })

  it('R37 describes wrong arguments in the same words for every schema library', async () => {
    const params = z.strictObject({ region: z.enum(['north', 'south']), count: z.number().int().max(5).optional() })
    const told = async (args: unknown): Promise<string> =>
      (await executeTool(define(params), args, context)).message.split('. Its arguments are')[0] ?? ''
    expect(await told({ region: 'up', count: 9 })).toBe(
      'Wrong arguments for tool \'tool\': region must be "north" or "south"; count must be at most 5',
    )
    expect(await told({ region: 'north', who: 1 })).toBe(
      "Wrong arguments for tool 'tool': there is no argument who; there are: region, count",
    )
    expect(await told(['x'])).toBe("Wrong arguments for tool 'tool': the value must be an object, not a list")
  })

  it('R37 passes on messages that only the library knows', async () => {
    const params = z.object({ a: z.string().refine((text) => text === 'x', 'Say x.') })
    expect((await executeTool(define(params), { a: 'y' }, context)).message).toContain(
      "'tool': a: Say x. Its arguments",
    )
  })
})
