import type { Attempt } from './attempts.fixtures.ts'

/** Values that break careless code: JavaScript expressions, each with the statements that prepare it. */
const VALUES: readonly (readonly [name: string, before: string, value: string])[] = [
  ['an object without a prototype', '', 'Object.create(null)'],
  ['an object whose prototype is a proxy', '', 'Object.create(new Proxy({}, { get() { throw 1 } }))'],
  ['a proxy that throws', '', 'new Proxy({}, new Proxy({}, { get() { throw new Proxy({}, { get() { throw 1 } }) } }))'],
  ['a revoked proxy', 'const r = Proxy.revocable({}, {}); r.revoke();', 'r.proxy'],
  ['a revoked function', 'const r = Proxy.revocable(function () {}, {}); r.revoke();', 'r.proxy'],
  ['an object with traps', '', '{ get name() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 } }'],
  ['an object that throws objects', '', '{ get message() { throw Object.create(null) }, toString() { throw this } }'],
  ['a message that is an object', '', '{ name: {}, message: { toString() { return {} } }, stack: [] }'],
  ['a message that is a symbol', '', '{ name: Symbol(), message: Symbol("m"), stack: Symbol() }'],
  ['a message that is a big integer', '', '{ name: 1n, message: 2n, stack: 3n }'],
  ['an error that is its own cause', 'const e = new Error("e"); e.cause = e; e.message = e;', 'e'],
  ['a symbol', '', 'Symbol("s")'],
  ['a big integer', '', '2n ** 64n'],
  ['a function', '', '() => 1'],
  ['a class', '', 'class A { static get name() { throw 1 } }'],
  ['a cycle', 'const o = {}; o.o = o;', 'o'],
  ['a key __proto__', '', `JSON.parse('{"__proto__":{"polluted":1}}')`],
  ['a key constructor', '', '{ constructor: { prototype: { polluted: 1 } } }'],
  ['a toJSON that throws', '', '{ toJSON() { throw Object.create(null) } }'],
  ['a toJSON that gives a proxy', 'const r = Proxy.revocable({}, {}); r.revoke();', '{ toJSON: () => r.proxy }'],
  ['a toJSON that gives itself', '', '{ toJSON() { return this } }'],
  ['a toJSON that gives a big integer', '', '{ toJSON: () => 1n }'],
  ['half a character', '', '"\\ud800"'],
  ['a text that looks like a failed read', '', '"<null>"'],
  ['null', '', 'null'],
  ['a date that is none', '', 'new Date(NaN)'],
  ['an array with holes', '', '[, 1, , ]'],
  ['a typed array', '', 'new Float64Array([NaN, Infinity])'],
  ['a weak map', '', 'new WeakMap()'],
  ['a generator', '', '(function* () { for (;;) yield 1 })()'],
]

const then = (settle: string) => (value: string) => `({ then(resolve, reject) { ${settle}(${value}) } })`

/** The uses of a value, and the ways each may end. */
const USES: readonly (readonly [name: string, use: (value: string) => string])[] = [
  ['throws', (value) => `throw ${value}`],
  ['rejects with', (value) => `await Promise.reject(${value})`],
  ['returns', (value) => `return ${value}`],
  ['returns, deep inside,', (value) => `return [{ a: [${value}] }]`],
  ['rejects a thenable with', (value) => `return ${then('reject')(value)}`],
  ['fulfils a thenable with', (value) => `return ${then('resolve')(value)}`],
  ['logs', (value) => `console.log(${value}, { a: ${value} })`],
  ['passes', (value) => `return await home.echo({ a: ${value} })`],
  [
    'throws in a timer',
    (value) => `setTimeout(() => { throw ${value} }); await new Promise((done) => setTimeout(done, 9))`,
  ],
  ['forgets a promise rejected with', (value) => `Promise.reject(${value}); home.echo(${value}).catch(() => 1)`],
]

/** `npm run more -- whole` uses every value in every way; otherwise each value is used in a third of the ways. */
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }
const EVERY = env.MODE === 'whole' ? 1 : 3

/**
 * Every value in every use. The language decides how each ends; the test only checks that it ends and nothing else
 * breaks.
 */
export const ODD_VALUES: readonly { readonly name: string; readonly source: string }[] = USES.flatMap(
  ([name, use], nth) =>
    VALUES.filter((_, at) => (nth + at) % EVERY === 0).map(([value, before, expression]) => ({
      name: `${name} ${value}`,
      source: `${before} ${use(`(${expression})`)}`,
    })),
)

/** Values that are large or deep enough to break careless code. */
export const LARGE_VALUES: readonly Attempt[] = [
  {
    name: 'throws a value 100,000 levels deep',
    source: 'let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; throw a',
    error: /object Object/,
  },
  {
    name: 'returns a value 100,000 levels deep',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a',
    error: /stack|stopped|deeper/,
    limit: [undefined, 'time', 'memory'],
  },
  {
    name: 'passes a value 100,000 levels deep',
    source: 'let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; await home.echo(a)',
    error: /stack|stopped|deeper/,
    limit: [undefined, 'time', 'memory'],
  },
  {
    name: 'throws an error with causes without end',
    source: 'let e = new Error("e"); for (let i = 0; i < 1e5; i++) e = new Error("e", { cause: e }); throw e',
    error: /^e$|stopped/,
    limit: [undefined, 'time', 'memory'],
  },
  {
    name: 'throws a text of ten million characters',
    source: 'throw "x".repeat(5e6)',
    error: /^x{2000}$/,
  },
  {
    name: 'throws a name of millions of characters',
    source: 'const e = new Error("m"); e.name = "n".repeat(2e6); e.stack = "s".repeat(2e6); throw e',
    error: /^m$/,
  },
  {
    name: 'returns a text just as long as fits',
    source: 'return "x".repeat(4_998)',
    value: 'x'.repeat(4_998),
  },
  {
    name: 'returns a text one character too long',
    source: 'return "x".repeat(4_999)',
    limit: 'output',
  },
  {
    name: 'returns escapes that grow when they are written',
    source: 'return "\\u0000".repeat(4_000)',
    limit: 'output',
  },
]
