import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createSession,
  defineTool,
  executeTool,
  fail,
  fromJsonSchema,
  ok,
  type AnyTool,
  type ToolContext,
} from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'

const context = (): ToolContext => ({
  session: createSession(),
  signal: new AbortController().signal,
  deadline: undefined,
  filesystem: createMemoryFilesystem(),
  prompt: undefined,
})
const call = (tool: AnyTool, args: unknown) => executeTool(tool, args, context())

describe('R18 tools', () => {
  const schemas = {
    zod: z.object({ city: z.string().describe('A city'), days: z.number().default(3) }),
    arktype: type({ city: type('string').describe('A city'), days: 'number = 3' }),
    valibot: toStandardJsonSchema(
      v.object({ city: v.pipe(v.string(), v.description('A city')), days: v.optional(v.number(), 3) }),
    ),
  }
  it.each(Object.entries(schemas))(
    'R18 accept params of %s, and keep the field descriptions in the schema',
    async (_, params) => {
      const tool = defineTool({
        name: 'forecast',
        description: 'Forecasts.',
        params,
        execute: ({ city, days }) => ok(`${city} ${days}`, { city, days }),
      })
      expect(tool.inputSchema).toMatchObject({
        type: 'object',
        properties: { city: { type: 'string', description: 'A city' } },
        required: ['city'],
      })
      expect(tool.inputSchema).not.toHaveProperty('$schema')
      expect(await call(tool, { city: 'Oslo' })).toEqual({
        ok: true,
        message: 'Oslo 3',
        value: { city: 'Oslo', days: 3 },
      })
      const refused = await call(tool, { city: 5 })
      expect(refused.ok).toBe(false)
      expect(refused.message).toMatch(/^Wrong arguments for tool 'forecast': city must be a string, not a number\./)
    },
  )

  it.each([
    ['no execute', { execute: undefined }, 'has no execute()'],
    ['an execute that is not a function', { execute: 'run' }, 'has no execute()'],
    ['no description', { description: undefined }, 'has no description.'],
    ['a number as description', { description: 5 }, 'has no description.'],
    ['a number as params', { params: 5 }, 'has params that are a number.'],
    ['a text as params', { params: 'city' }, 'has params that are a string.'],
  ])('R18 are rejected with %s', (_, wrong, message) => {
    const options = { name: 'odd', description: 'Odd.', execute: () => ok('Done.'), ...wrong }
    expect(() => defineTool(options as never)).toThrow(`The tool 'odd' ${message}`)
  })

  it('R18 accept a raw JSON Schema unchanged, plain or from fromJsonSchema', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 1, description: 'A count' } },
      required: ['n'],
      additionalProperties: false,
    }
    for (const params of [schema, fromJsonSchema<{ n: number }>(schema)]) {
      const tool = defineTool({
        name: 'count',
        description: 'Counts.',
        params,
        execute: ({ n }) => ok(`counted ${String(n)}`),
      })
      expect(tool.inputSchema).toEqual(schema)
      expect((await call(tool, { n: 2 })).message).toBe('counted 2')
      expect((await call(tool, { n: 0 })).message).toBe(
        `Wrong arguments for tool 'count': n must be at least 1. Its arguments are: ${JSON.stringify(schema)}`,
      )
      expect((await call(tool, {})).ok).toBe(false)
      expect((await call(tool, { n: 1, m: 2 })).ok).toBe(false)
    }
  })

  it('R18 do not need params', async () => {
    const tool = defineTool({ name: 'ping', description: 'Pings.', execute: () => ok('pong') })
    expect(tool.inputSchema).toEqual({ type: 'object', properties: {}, additionalProperties: false })
    expect((await call(tool, undefined)).message).toBe('pong')
  })

  it.each(['', 'a b', 'é', 'a.b', 'a'.repeat(65)])('R18 cannot be named %j', (name) => {
    expect(() => defineTool({ name, description: '', execute: () => ok('') })).toThrow(`'${name}' cannot name a tool.`)
  })

  it('R18 report a library that cannot produce JSON Schema', () => {
    const define = (params: unknown) => () =>
      defineTool({ name: 't', description: '', params: params as never, execute: () => ok('') })
    expect(define(v.object({ a: v.string() }))).toThrow(
      "The params of tool 't' are a valibot schema that cannot be converted to JSON Schema, which the model needs. Wrap it in toStandardJsonSchema() from @valibot/to-json-schema.",
    )
    expect(define(z.object({ when: z.date() }))).toThrow(
      "The params of tool 't' cannot be converted to JSON Schema: Date cannot be represented in JSON Schema.",
    )
  })

  it('R18 are frozen, including their schema', () => {
    const tool = defineTool({ name: 't', description: '', params: z.object({ a: z.string() }), execute: () => ok('') })
    expect(Object.isFrozen(tool)).toBe(true)
    expect(() => Object.assign(tool.inputSchema['properties'] as object, { b: 1 })).toThrow(TypeError)
  })

  it('R18 receive session, signal, deadline, filesystem and prompt', async () => {
    const seen: ToolContext[] = []
    const tool = defineTool({ name: 't', description: '', execute: (_, given) => (seen.push(given), ok('')) })
    const deadline = new Date()
    const prompt = { text: 'x', tools: [], summarized: [], findSection: () => undefined }
    const given = { ...context(), deadline, prompt }
    await executeTool(tool, {}, given)
    expect(seen[0]).toMatchObject({ deadline, prompt, signal: given.signal })
    await seen[0]!.filesystem!.list('')
    expect(seen[0]!.session.snapshot()).toEqual(given.session.snapshot())
  })

  it('R18 R20 turn an exception or a missing result into a failure', async () => {
    const thrower = defineTool({
      name: 'thrower',
      description: '',
      execute: () => {
        throw new Error('no luck')
      },
    })
    expect(await call(thrower, {})).toEqual({ ok: false, message: "Tool 'thrower' failed: no luck" })
    const empty = defineTool({ name: 'empty', description: '', execute: () => undefined as never })
    expect(await call(empty, {})).toEqual({
      ok: false,
      message: "Tool 'empty' failed: it did not return a result. Its execute() must return ok(…) or fail(…).",
    })
    const rejects = defineTool({ name: 'rejects', description: '', execute: () => Promise.reject(new Error('later')) })
    expect(await call(rejects, {})).toEqual({ ok: false, message: "Tool 'rejects' failed: later" })
    expect(await call(defineTool({ name: 'f', description: '', execute: () => fail('Not today.') }), {})).toEqual({
      ok: false,
      message: 'Not today.',
    })
  })

  it('R18 allow execute to use `this`', async () => {
    const options = {
      name: 'self',
      description: '',
      greeting: 'hi',
      execute() {
        return ok(this.greeting)
      },
    }
    expect((await call(defineTool(options), {})).message).toBe('hi')
  })
})
