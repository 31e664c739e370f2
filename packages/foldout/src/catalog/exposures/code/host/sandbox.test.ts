import fc from 'fast-check'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox, type SandboxFunction, type SandboxRun } from '../../../../entries/code.ts'

const sandbox = createSandbox()
afterAll(() => sandbox.close())

const functions = new Map<string, SandboxFunction>([
  ['home.set_light', async (args) => ({ done: args })],
  ['home.get_nothing', async () => {}],
  ['home.fail', async () => Promise.reject(new Error("There is no room 'attic'."))],
  ['home.hang', () => new Promise(() => {})],
  ['ping', async () => 'pong'],
])
const run = (source: string, given: ReadonlyMap<string, SandboxFunction> = functions): Promise<SandboxRun> =>
  sandbox.run(source, { functions: given })
const valueOf = async (source: string): Promise<unknown> => {
  const ran = await run(source)
  expect(ran.error).toBeUndefined()
  return ran.value
}
const toError = async (source: string): Promise<SandboxRun['error']> => (await run(source)).error

describe('R44 a program', () => {
  it.each([
    ['what it returns', 'return 1 + 1', 2],
    ['its last expression', 'const a = 20\na + 22', 42],
    [
      'what it returns after waiting',
      'const answer = await home.set_light({ on: true })\nreturn answer',
      { done: { on: true } },
    ],
    ['what its last expression waits for', 'async function main() { return await ping() }\nmain()', 'pong'],
    ['nothing', 'const a = 1', undefined],
    ['nothing JSON has', 'return () => 1', undefined],
  ])('R44 returns %s', async (_, source, value) => {
    expect(await valueOf(source)).toEqual(value)
  })

  it('R44 is TypeScript', async () => {
    const source = `
      import type { Nothing } from './nothing'
      interface Room { readonly name: string; on?: boolean }
      type Named<T extends Room> = T & { name: string }
      enum Level { Low = 1, High }
      class Light { constructor(private readonly level: Level, public name = 'lamp') {} get isOn(): boolean { return this.level > 1 } }
      const first = <T,>(all: readonly T[]): T | undefined => all[0]
      const rooms = new Map<string, Room>([['a', { name: 'A' } satisfies Named<Room>]])
      const light = new Light(Level.High) as Light
      return [first<Room>([...rooms.values()])!.name, light.isOn, light.name, Level[2], (<string>'x')]`
    expect(await valueOf(source)).toEqual(['A', true, 'lamp', 'High', 'x'])
  })

  it('R44 may call the given functions, alone or as members of objects', async () => {
    expect(await valueOf('return [Object.keys(home), typeof home.set_light, typeof ping, "fail" in home]')).toEqual([
      ['set_light', 'get_nothing', 'fail', 'hang'],
      'function',
      'function',
      true,
    ])
    expect(await valueOf('return [await ping(), await home.get_nothing() ?? null, await home.set_light()]')).toEqual([
      'pong',
      null,
      { done: {} },
    ])
  })

  it('R44 reports its calls', async () => {
    // It ends only when its time is up.
    const hasty = createSandbox({ limits: { timeMs: 1_500 } })
    onTestFinished(() => hasty.close())
    const { calls } = await hasty.run('await ping(); await home.fail().catch(() => {}); home.hang({})', { functions })
    expect(calls).toEqual([
      { name: 'ping', ok: true, durationMs: expect.any(Number) },
      { name: 'home.fail', ok: false, durationMs: expect.any(Number) },
      { name: 'home.hang', ok: false, durationMs: expect.any(Number), cancelled: true },
    ])
  })

  it('R44 may redeclare any name', async () => {
    expect(
      await valueOf('const home = 1, console = 2; function ping() { return 3 }\nreturn [home, console, ping()]'),
    ).toEqual([1, 2, 3])
  })

  it('R44 passes JSON through calls unchanged', async () => {
    const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__'))
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        const passed = JSON.parse(JSON.stringify(value)) as unknown
        const echo = new Map<string, SandboxFunction>([['echo', (args) => args]])
        const source = `return (await echo({ value: ${JSON.stringify(value).replaceAll('\u2028', '\\u2028')} })).value`
        expect((await run(source, echo)).value).toEqual(passed)
      }),
      { numRuns: 50 },
    )
  })

  it('R44 leaves nothing behind for the next one', async () => {
    await run('globalThis.left = 1; Object.prototype.left = 1; JSON.parse = null; home.left = 1; Math.random = () => 4')
    expect(await valueOf('return [typeof left, typeof {}.left, typeof JSON.parse, typeof home.left]')).toEqual([
      'undefined',
      'undefined',
      'function',
      'undefined',
    ])
    const random = await Promise.all(Array.from({ length: 5 }, () => valueOf('Math.random()')))
    expect(new Set(random).size).toBe(5)
  })

  it('R44 can wait for timers', async () => {
    const source = `
      const order = []
      setTimeout((what) => order.push(what), 20, 'late')
      const never = setTimeout(() => order.push('never'), 5)
      setTimeout(() => order.push('soon'), 1)
      clearTimeout(never)
      await new Promise((done) => setTimeout(done, 60))
      return order`
    expect(await valueOf(source)).toEqual(['soon', 'late'])
    const { logs } = await run(
      'setTimeout(() => { throw new Error("lost") })\nawait new Promise((done) => setTimeout(done, 5))',
    )
    expect(logs).toEqual([{ level: 'error', text: 'Uncaught in setTimeout(): Error: lost' }])
  })
})

describe('R44 the logs of a program', () => {
  it('R44 are kept with their level', async () => {
    const { logs } = await run(
      "console.log('a', 1); console.info('b'); console.warn('c'); console.error('d'); console.debug('e'); console.table([1])",
    )
    expect(logs).toEqual([
      { level: 'log', text: 'a 1' },
      { level: 'info', text: 'b' },
      { level: 'warn', text: 'c' },
      { level: 'error', text: 'd' },
      { level: 'debug', text: 'e' },
      { level: 'log', text: '[1]' },
    ])
  })

  it.each([
    ["{ a: [1, { b: 'c' }] }", '{"a":[1,{"b":"c"}]}'],
    ['undefined', 'undefined'],
    ['null', 'null'],
    ['12n', '"12"'],
    ['Symbol("s")', 'Symbol(s)'],
    ['function named() {}', '[Function named]'],
    ['new TypeError("wrong")', 'TypeError: wrong'],
    ['{ inner: new Error("deep") }', '{"inner":"Error: deep"}'],
    ['new Map([["a", 1]])', '[["a",1]]'],
    ['{ all: new Set([1, 2]) }', '{"all":[1,2]}'],
    ['(() => { const a = { b: {} }; a.b.a = a; return a })()', '{"b":{"a":"[Circular]"}}'],
    ['(() => { const a = { n: 1 }; return [a, a] })()', '[{"n":1},{"n":1}]'],
    ['(() => { const a = new Map(); a.set("self", a); return a })()', '[["self","[Circular]"]]'],
  ])('R44 shows %s', async (value, text) => {
    expect((await run(`console.log(${value})`)).logs).toEqual([{ level: 'log', text }])
  })
})

describe('R44 the error of a program', () => {
  it.each([
    ['let a = ;', { name: 'SyntaxError', message: 'Unexpected token', line: 1, column: 9 }],
    ['const a: number = 1\nconst b: = 2', { name: 'SyntaxError', message: 'Unexpected token', line: 2, column: 10 }],
    ['let a\nlet a', { name: 'SyntaxError', message: 'invalid redefinition of lexical identifier', line: 2 }],
    ['return 1\nlet a; let a', { name: 'SyntaxError', message: 'invalid redefinition of lexical identifier', line: 2 }],
    [
      "import fs from 'fs'\nfs.a()",
      {
        name: 'SyntaxError',
        line: 1,
        message: 'import is not available. Everything that a program may call is already there, as globals.',
      },
    ],
    [
      'export const a = 1',
      { name: 'SyntaxError', line: 1, message: 'export is not available. Return the value instead.' },
    ],
    ['\n\nmissing.a', { name: 'ReferenceError', message: 'missing is not defined', line: 3, column: 1 }],
    ['return missing', { name: 'ReferenceError', message: 'missing is not defined', line: 1, column: 8 }],
    ['const a: string = missing', { name: 'ReferenceError', message: 'missing is not defined', line: 1 }],
    ['function f() {\n  throw new RangeError("far")\n}\nf()', { name: 'RangeError', message: 'far', line: 2 }],
    ['\nawait home.fail()', { name: 'Error', message: "There is no room 'attic'.", line: 2 }],
    ['home.nothing()', { name: 'TypeError', message: 'not a function', line: 1 }],
    ['throw "text"', { name: 'Error', message: 'text' }],
    ['throw null', { name: 'Error', message: 'null' }],
    ['class Mine extends Error { name = "Mine" }\nthrow new Mine("own")', { name: 'Mine', message: 'own' }],
    [
      'await new Promise(() => {})',
      {
        name: 'Error',
        message: 'The program waits for a promise that nothing will settle: no call and no timer is pending.',
      },
    ],
  ])('R44 is reported for %j', async (source, error) => {
    expect(await toError(source)).toMatchObject(error)
  })

  it('R44 is reported without a column if types were removed from the line', async () => {
    expect(await toError('const a: string = missing')).not.toHaveProperty('column')
  })

  it('R44 can be caught by the program, if a call failed', async () => {
    const source = 'try { await home.fail() } catch (error) { return [error instanceof Error, error.message] }'
    expect(await valueOf(source)).toEqual([true, "There is no room 'attic'."])
  })
})

describe('R44 a sandbox', () => {
  it('R44 rejects impossible limits', () => {
    expect(() => createSandbox({ limits: { timeMs: 0 } })).toThrow(
      "The limit 'timeMs' of a sandbox must be a whole number from 1 to 2147483647, not 0.",
    )
    expect(() => createSandbox({ limits: { memoryMb: 1 } })).toThrow("'memoryMb'")
    expect(() => createSandbox({ concurrentPrograms: 0 })).toThrow("'concurrentPrograms' of a sandbox must be")
  })

  it.each(['', 'a b', '1a', 'a.', '.a', 'a\nb', 'a.b\nc', 'my-server.tool'])(
    'R44 rejects a function named %j',
    async (name) => {
      await expect(run('1', new Map([[name, () => 1]]))).rejects.toThrow('cannot name a function of a program')
    },
  )

  it('R44 accepts any text after the dot', async () => {
    const given = new Map<string, SandboxFunction>([['server.get-it.now', () => 'got']])
    expect((await run("return await server['get-it.now']()", given)).value).toBe('got')
  })

  it('R44 runs programs with different functions each time', async () => {
    const one = new Map<string, SandboxFunction>([['a.b', () => 1]])
    const other = new Map<string, SandboxFunction>([
      ['a.b', () => 2],
      ['a.c', () => 3],
    ])
    expect((await run('return [await a.b(), Object.keys(a)]', one)).value).toEqual([1, ['b']])
    expect((await run('return [await a.b(), Object.keys(a)]', other)).value).toEqual([2, ['b', 'c']])
    expect((await run('return [await a.b(), Object.keys(a)]', one)).value).toEqual([1, ['b']])
  })
})
