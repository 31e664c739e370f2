import type { Attempt } from './attempts.fixtures.ts'

const LOOPS: readonly Attempt[] = [
  { name: 'loops', source: 'for (;;) {}', limit: 'time' },
  {
    name: 'loops and catches',
    source: 'for (;;) { try { for (;;) {} } catch {} finally { continue } }',
    limit: 'time',
  },
  { name: 'loops in finally', source: 'try { throw 1 } finally { for (;;) {} }', limit: 'time' },
  {
    name: 'loops between microtasks',
    source: 'function f() { Promise.resolve().then(f) }\nf()\nawait new Promise(() => {})',
    limit: 'time',
  },
  {
    name: 'loops with queueMicrotask',
    source: 'const f = () => queueMicrotask(f)\nf()\nawait new Promise(() => {})',
    limit: 'time',
  },
  { name: 'loops between awaits', source: 'for (;;) { try { await 1 } catch {} }', limit: 'time' },
  { name: 'loops after a call', source: 'await home.echo({})\nfor (;;) {}', limit: 'time' },
  { name: 'loops in a timer', source: 'await new Promise(() => setTimeout(() => { for (;;) {} }))', limit: 'time' },
  {
    name: 'loops over timers',
    source: 'const f = () => setTimeout(f, 0)\nf()\nawait new Promise(() => {})',
    limit: 'time',
  },
  {
    name: 'waits for a timer for ever',
    source: 'await new Promise((done) => setTimeout(done, Infinity))',
    limit: 'time',
  },
  {
    name: 'waits for a timer beyond all time',
    source: 'await new Promise((done) => setTimeout(done, 2 ** 40))',
    limit: 'time',
  },
  { name: 'loops in a getter', source: '({ get a() { for (;;) {} } }).a', limit: 'time' },
  { name: 'loops in a conversion', source: '`${{ [Symbol.toPrimitive]() { for (;;) {} } }}`', limit: 'time' },
  { name: 'loops in a comparison', source: '[2, 1].sort(() => { for (;;) {} })', limit: 'time' },
  {
    name: 'loops in a stack trace',
    source: 'Error.prepareStackTrace = () => { for (;;) {} }\nnew Error().stack',
    limit: 'time',
  },
  { name: 'loops in a disposal', source: '{ using one = { [Symbol.dispose]() { for (;;) {} } } }', limit: 'time' },
  { name: 'loops in a constructor of functions', source: "Function('for (;;) {}')()", limit: 'time' },
  {
    name: 'loops in an async generator',
    source: 'async function* all() { for (;;) yield 1 }\nfor await (const one of all()) {}',
    limit: 'time',
  },
  { name: 'loops in a catastrophic pattern', source: "/(a+)+$/.test('a'.repeat(50) + 'b')", limit: 'time' },
  {
    name: 'loops in a pattern of alternatives',
    source: "/^(?:(?:a|a)*)*$/.test('a'.repeat(5000) + 'b')",
    limit: 'time',
  },
  { name: 'sorts what has no end', source: 'Array.prototype.sort.call({ length: 2 ** 53 - 1 })', limit: 'time' },
  { name: 'joins what has no end', source: "Array.prototype.join.call({ length: 2 ** 32 - 2 }, '')", limit: 'time' },
  { name: 'reverses what has no end', source: 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })', limit: 'time' },
  {
    name: 'copies within what has no end',
    source: 'Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)',
    limit: 'time',
  },
  { name: 'searches text for hours', source: "('a'.repeat(2e6) + 'b').indexOf('a'.repeat(1e6) + 'c')", limit: 'time' },
  {
    name: 'sleeps on shared memory',
    source: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)',
    error: /Atomics is not defined/,
  },
]

const EITHER = ['memory', 'time'] as const

const MEMORY: readonly Attempt[] = [
  { name: 'fills a list', source: "const all = []\nfor (;;) all.push(new Array(1000).fill('x'))", limit: EITHER },
  {
    name: 'fills a list and catches',
    source: "const all = []\nfor (;;) { try { for (;;) all.push(new Array(1000).fill('x')) } catch {} }",
    limit: 'time',
  },
  { name: 'doubles a text', source: "let text = 'x'\nfor (;;) text += text", error: /string too long|stopped/ },
  { name: 'repeats a text', source: "'x'.repeat(2 ** 29)", limit: EITHER },
  { name: 'pads a text', source: "''.padEnd(2 ** 29)", limit: EITHER },
  { name: 'splits a text', source: "'x'.repeat(5e6).split('')", limit: EITHER },
  { name: 'spreads a generator', source: 'function* all() { for (;;) yield {} }\nreturn [...all()]', limit: EITHER },
  { name: 'makes a large array', source: 'new Array(2 ** 32 - 1).fill(0)', limit: EITHER },
  { name: 'makes many buffers', source: 'const all = []\nfor (;;) all.push(new ArrayBuffer(1e6))', limit: EITHER },
  {
    name: 'makes many shared buffers',
    source: 'const all = []\nfor (;;) all.push(new SharedArrayBuffer(1e6))',
    limit: EITHER,
  },
  { name: 'makes one huge buffer', source: 'new ArrayBuffer(2 ** 31)', error: /./ },
  {
    name: 'lets a buffer grow',
    source: 'new ArrayBuffer(8, { maxByteLength: 2 ** 31 - 1 }).resize(2 ** 31 - 1)',
    limit: EITHER,
  },
  { name: 'makes a huge number', source: '3n ** 10000000n', error: /too large|stopped/, limit: [undefined, 'time'] },
  { name: 'shifts a huge number', source: '1n << (2n ** 40n)', error: /too large/ },
  { name: 'floods promises', source: 'for (;;) Promise.resolve(1).then(() => 1)', limit: EITHER },
  {
    name: 'floods promises that never settle',
    source: 'const all = []\nfor (;;) all.push(new Promise(() => {}))',
    limit: EITHER,
  },
  {
    name: 'floods rejections',
    source: 'for (let i = 0; i < 5_000; i++) Promise.reject(new Error(String(i)))\nreturn 1',
    value: 1,
  },
  { name: 'floods calls', source: 'for (;;) home.echo({}).catch(() => {})', limit: EITHER },
  { name: 'floods timers', source: 'for (;;) setTimeout(() => {}, 1e9)', error: /At most 1000 timers/ },
  {
    name: 'floods symbols',
    source: "const all = []\nfor (let i = 0; ; i++) all.push(Symbol.for('k'.repeat(100) + i))",
    limit: EITHER,
  },
  {
    name: 'floods keys',
    source: "const all = {}\nfor (let i = 0; ; i++) all['k'.repeat(100) + i] = i",
    limit: EITHER,
  },
  {
    name: 'floods the console',
    source: "for (let i = 0; i < 300; i++) console.log('flood '.repeat(10))\nreturn 1",
    value: 1,
    limit: 'output',
  },
  {
    name: 'floods the console with nothing',
    source: 'for (let i = 0; i < 6_000; i++) console.log()\nreturn 1',
    value: 1,
  },
  { name: 'logs one huge line', source: "console.log('x'.repeat(3e6))\nreturn 1", value: 1, limit: 'output' },
  { name: 'returns a huge value', source: "return 'x'.repeat(3e6)", limit: 'output' },
  {
    name: 'returns a value that explodes',
    source: 'let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a',
    limit: EITHER,
  },
]

const DEPTH: readonly Attempt[] = [
  { name: 'calls itself', source: 'function f() { f() }\nf()', error: /call stack/ },
  { name: 'calls itself and catches', source: 'function f() { try { f() } catch { f() } }\nf()', limit: 'time' },
  { name: 'calls itself by a getter', source: 'const a = { get a() { return this.a } }\na.a', error: /call stack/ },
  { name: 'calls itself by a proxy', source: 'const p = new Proxy({}, { get: () => p.x })\np.x', error: /call stack/ },
  { name: 'calls itself asynchronously', source: 'async function f() { await f() }\nawait f()', error: /call stack/ },
  { name: 'reads deep JSON', source: "JSON.parse('['.repeat(1e6))", error: /call stack/ },
  {
    name: 'writes deep JSON',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)',
    error: /call stack|stopped/,
    limit: [undefined, 'memory', 'time'],
  },
  {
    name: 'flattens deep lists',
    source: 'let a = []; for (let i = 0; i < 2e4; i++) a = [a]; a.flat(Infinity)',
    error: /call stack/,
  },
  { name: 'reads deep code', source: "eval('('.repeat(1e5))", error: /call stack/ },
  { name: 'writes deep code', source: '('.repeat(50_000), error: /nested too deeply|Unexpected/ },
  {
    name: 'writes deep types',
    source: `let a: ${'Array<'.repeat(10_000)}string${'>'.repeat(10_000)}`,
    error: /nested too deeply|Unexpected/,
  },
  {
    name: 'looks through many proxies',
    source: 'let p = {}; for (let i = 0; i < 5e4; i++) p = new Proxy(p, {}); p.x',
    error: /call stack|stopped/,
    limit: [undefined, 'memory', 'time'],
  },
  {
    name: 'frees a deep chain',
    source: 'let a = {}; for (let i = 0; i < 5e4; i++) a = { a }; a = null; return 1',
    value: 1,
  },
  {
    name: 'builds a deep pattern',
    source: "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))",
    error: /stack overflow/,
  },
  { name: 'spreads too many arguments', source: 'Math.max(...new Array(1e5).fill(1))', error: /too many arguments/ },
  { name: 'sends too much source', source: `/* ${'x'.repeat(100_000)} */`, limit: 'source' },
]

export const EXHAUSTING: readonly Attempt[] = [...LOOPS, ...MEMORY, ...DEPTH]
