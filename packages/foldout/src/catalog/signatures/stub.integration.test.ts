import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { anySchema } from './schemas.fixtures.ts'
import { inferSchema } from '../use/infer-schema.ts'
import { formatStub, type Stub, type StubbedTool } from './stub.ts'

const root = join(import.meta.dirname, '../../../../..')
const corpus = join(root, 'test/data/mcp-tools/tools.jsonl')

const tool = (given: Partial<StubbedTool>): StubbedTool => ({
  name: 'f',
  source: 'home',
  description: 'Does it.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: undefined,
  ...given,
})

const getInput = (inputSchema: unknown): string =>
  /function f\((.*)\): Promise<unknown>/s.exec(formatStub(tool({ inputSchema: inputSchema as JsonSchema })).text)![1]!

/** Returns the installed compiler's messages about each stub, in its own module. */
function compiled(stubs: readonly Stub[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-stubs-'))
  try {
    for (const [i, stub] of stubs.entries()) {
      const file = join(folder, String(i), `${dirname(stub.path)}/stub.d.ts`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, stub.text)
    }
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
      lib: ['es2023'],
      module: 'nodenext',
    }
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.d.ts'] }))
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
    return ''
  } catch (error) {
    const [first = ''] = (error as { stdout?: string }).stdout?.split('\n') ?? []
    const at = Number(/^(\d+)\//.exec(first)?.[1])
    return `${first}\n${stubs[at]?.text ?? String(error)}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('R44 a typed stub of a tool', () => {
  it('R44 declares one function with its description and input', () => {
    const stub = formatStub(
      tool({
        name: 'set-light',
        description: 'Sets a light.\nSee */ the manual.',
        inputSchema: {
          type: 'object',
          properties: {
            brightness: { type: 'integer', minimum: 0, maximum: 100, default: 100, description: 'How bright.' },
            device_id: { type: 'string' },
            scene: { $ref: '#/$defs/scene' },
          },
          required: ['device_id'],
          $defs: {
            scene: { type: 'object', properties: { next: { $ref: '#/$defs/scene' }, 'a-b': { enum: ['x', 1] } } },
          },
        },
        outputSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
      }),
    )
    expect(stub).toEqual({
      path: 'servers/home/set_light.d.ts',
      identifier: 'set_light',
      text: [
        'type Scene = {',
        '  next?: Scene',
        '  "a-b"?: "x" | 1',
        '}',
        '/**',
        ' * Sets a light.',
        String.raw` * See *\/ the manual.`,
        ' */',
        'export declare function set_light(input: {',
        '  device_id: string',
        '  /** How bright. (int 0..100, default 100) */',
        '  brightness?: number',
        '  scene?: Scene',
        '}): Promise<{',
        '  ok: boolean',
        '}>',
        '',
      ].join('\n'),
    })
  })

  it('R44 describes the result if no schema does', () => {
    const { text } = formatStub(tool({ description: '' }))
    expect(text).toBe(
      [
        '/**',
        ' * Calls f.',
        " * @returns The tool's text, parsed if it is JSON; a list of content parts if it is more than text.",
        ' */',
        'export declare function f(input?: Record<string, never>): Promise<unknown>',
        '',
      ].join('\n'),
    )
    const untyped = { type: 'string', note: 'Its text.' }
    expect(formatStub(tool({}), { untyped }).text).toMatch(/@returns Its text\.\n \*\/\n.*Promise<string>\n$/)
  })

  it('R44 has the given name and namespace', () => {
    const { path, text } = formatStub(tool({ source: undefined }), { identifier: 'g' })
    expect([path, text.includes('function g(')]).toEqual(['servers/local/g.d.ts', true])
    expect(formatStub(tool({ source: 'my server' })).path).toBe('servers/my_server/f.d.ts')
    expect(formatStub(tool({}), { server: 'other' }).path).toBe('servers/other/f.d.ts')
  })

  it.each<[string, unknown, string]>([
    ['any fields', { type: 'object' }, 'input?: Record<string, unknown>'],
    ['nothing known', null, 'input?: Record<string, unknown>'],
    ['no fields', { type: 'object', properties: {} }, 'input?: Record<string, never>'],
    ['a record', { type: 'object', additionalProperties: { type: 'number' } }, 'input?: {\n  [key: string]: number\n}'],
    [
      'fields and others',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } },
      'input?: {\n  a?: string\n  [key: string]: unknown\n}',
    ],
    [
      'alternatives',
      { oneOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: { type: ['string', 'null'] } } }] },
      'input: {\n  a: unknown\n} | {\n  b?: string | null\n}',
    ],
    [
      'lists and tuples',
      {
        type: 'object',
        properties: {
          a: { type: 'array', items: { enum: ['x', 'y'] } },
          b: { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } },
        },
      },
      'input?: {\n  a?: ("x" | "y")[]\n  b?: [number, ...string[]]\n}',
    ],
    [
      'more values than anybody reads',
      { type: 'object', properties: { a: { enum: Array.from({ length: 100 }, (_, i) => `v${i}`) } } },
      'input?: {\n  a?: string\n}',
    ],
  ])('R44 types %s', (_, schema, expected) => {
    expect(getInput(schema)).toBe(expected)
  })

  it('R44 compiles however nasty the definition is', () => {
    const self: { type: string; properties: Record<string, unknown> } = { type: 'object', properties: {} }
    self.properties['self'] = self
    const refers = (definitions: JsonSchema): JsonSchema => ({
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/A' },
        list: { type: 'array', items: { $ref: '#/$defs/A' } },
        again: { $ref: '#' },
      },
      $defs: definitions,
    })
    const tools = [
      ...['class', 'default', 'await', 'a b', '1', '', '*/', 'undefined', 'Promise', 'Record', '天気', 'then'].map(
        (name) =>
          tool({ name, source: name, inputSchema: refers({ A: { type: 'object', properties: { [name]: {} } } }) }),
      ),
      tool({ description: '*/ export const x = 1 /* \u2028 */ @param {' }),
      tool({ inputSchema: self, outputSchema: self }),
      tool({ inputSchema: refers({ A: { $ref: '#/$defs/A' } }) }),
      tool({
        inputSchema: refers({ A: { anyOf: [{ $ref: '#/$defs/B' }, { type: 'string' }] }, B: { $ref: '#/$defs/A' } }),
      }),
      tool({ inputSchema: refers({ A: { allOf: [{ $ref: '#/$defs/A' }, { properties: { x: {} } }] } }) }),
      tool({ inputSchema: refers({ A: { type: 'array', items: { $ref: '#/$defs/A' } } }) }),
      tool({ inputSchema: refers({ A: { type: 'object', additionalProperties: { $ref: '#/$defs/A' } } }) }),
      tool({
        name: 'A',
        inputSchema: refers({ A: { type: 'array', prefixItems: [{ $ref: '#/$defs/A' }, { type: 'null' }] } }),
        outputSchema: refers({ A: { oneOf: [{ type: 'number' }, { type: 'array', items: { $ref: '#/$defs/A' } }] } }),
      }),
      tool({ inputSchema: { properties: { 'a-b': { description: '*/' }, __proto__: {}, 'q"\n': { default: '*/' } } } }),
    ]
    expect(compiled(tools.map((given) => formatStub(given)))).toBe('')
  })

  it('R44 compiles for any schema', () => {
    const pairs = fc.sample(fc.tuple(anySchema, anySchema), { numRuns: 300, seed: 5 })
    expect(compiled(pairs.map(([inputSchema, outputSchema]) => formatStub(tool({ inputSchema, outputSchema }))))).toBe(
      '',
    )
  })

  it('R44 compiles for real tools', () => {
    const tools = readFileSync(corpus, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as StubbedTool)
      .filter(({ inputSchema }) => inputSchema !== undefined)
    expect(tools.length).toBeGreaterThan(200)
    expect(compiled(tools.map((given) => formatStub({ ...given, source: 'corpus' })))).toBe('')
  })

  it('R83 describes every result that its schema was learned from', () => {
    const results = fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1, maxLength: 4 })
    const stubs = fc.sample(results, { numRuns: 300, seed: 5 }).map((seen): Stub => {
      const learnedOutput = { schema: inferSchema(seen), results: seen.length, confidence: 1 }
      const stub = formatStub(tool({ learnedOutput }))
      // The text of JSON is also that of a type.
      const checks = seen.map((value, at) => `type Fits${at} = Fits<${JSON.stringify(value)}>`)
      const fits = 'type Fits<Value extends Awaited<ReturnType<typeof f>>> = Value'
      return { ...stub, text: [stub.text, fits, ...checks].join('\n') }
    })
    expect(compiled(stubs)).toBe('')
  })
})
