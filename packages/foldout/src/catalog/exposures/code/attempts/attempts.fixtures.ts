import type { LimitName } from '../host/sandbox-run.ts'

/** Something a hostile program tries. It must end as described here, and leave the host unchanged. */
export interface Attempt {
  readonly name: string
  readonly source: string
  /** The value that the program returns, if it may run to its end. */
  readonly value?: unknown
  /** The error that it fails with. */
  readonly error?: RegExp
  /** The limit that it reaches, or one of several: which comes first depends on the speed of the machine. */
  readonly limit?: LimitName | readonly (LimitName | undefined)[]
}

/** Searches for any host object behind a value. */
const REACH = (expression: string): string => `
  const value = ${expression}
  const make = value?.constructor?.constructor ?? Function
  let found = make('return typeof process + typeof require + typeof module + typeof fetch')()
  if (typeof found === 'object') found = found.next ? found.next().value : await found
  return found`

const NOTHING = 'undefinedundefinedundefinedundefined'

const REACHING: readonly Attempt[] = [
  { name: 'reads process', source: 'process.env', error: /process is not defined/ },
  { name: 'requires a module', source: "require('node:fs')", error: /require is not defined/ },
  {
    name: 'imports a module',
    source: "import fs from 'node:fs'\nfs.readFileSync('/etc/passwd')",
    error: /import is not/,
  },
  { name: 'imports a module on the way', source: "await import('node:fs')", error: /could not load module/ },
  { name: "imports the engine's own modules", source: "await import('std')", error: /could not load module/ },
  { name: 'imports the modules of its system', source: "await import('qjs:os')", error: /could not load module/ },
  { name: 'imports from a file', source: "await import('file:///etc/passwd')", error: /could not load module/ },
  {
    name: 'imports from data',
    source: "await import('data:text/javascript,export default 1')",
    error: /could not load/,
  },
  { name: 'asks for import.meta', source: 'import.meta.url', error: /import.meta|import is not|Unexpected|expected/ },
  { name: 'uses the network', source: "await fetch('http://127.0.0.1')", error: /fetch is not defined/ },
  { name: 'opens a socket', source: "new WebSocket('ws://127.0.0.1')", error: /WebSocket is not defined/ },
  {
    name: 'looks for other ways out',
    source: `return ['XMLHttpRequest', 'WebSocket', 'EventSource', 'Worker', 'WebAssembly', 'Atomics', 'Deno', 'Bun', 'std', 'os',
      'print', 'load', 'scriptArgs', 'navigator', 'global', 'window', 'self', 'require', 'module', 'exports', '__dirname',
      '__filename', 'Buffer', 'setInterval', 'setImmediate', 'gc', 'bjs', 'postMessage', 'structuredClone', 'Intl', 'post', 'has',
      'list', 'random'].filter((name) => name in globalThis)`,
    value: [],
  },
  { name: 'asks Function for the host', source: REACH('() => 1'), value: NOTHING },
  { name: 'asks an async function for the host', source: REACH('async () => 1'), value: NOTHING },
  { name: 'asks a generator for the host', source: REACH('(function* () {})()'), value: NOTHING },
  { name: 'asks a tool for the host', source: REACH('home.echo'), value: NOTHING },
  { name: "asks a tool's server for the host", source: REACH('home'), value: NOTHING },
  { name: "asks a tool's promise for the host", source: REACH('home.echo({})'), value: NOTHING },
  { name: "asks a tool's answer for the host", source: REACH('await home.echo({ a: [1] })'), value: NOTHING },
  { name: "asks a tool's failure for the host", source: REACH('await home.fail({}).catch((e) => e)'), value: NOTHING },
  { name: 'asks the console for the host', source: REACH('console.log'), value: NOTHING },
  { name: 'asks a timer for the host', source: REACH('setTimeout'), value: NOTHING },
  { name: 'asks Math.random for the host', source: REACH('Math.random'), value: NOTHING },
  { name: 'asks eval for the host', source: "eval('typeof process')", value: 'undefined' },
  { name: 'asks an indirect eval for the host', source: "(0, eval)('typeof process')", value: 'undefined' },
  {
    name: 'walks up the callers',
    source: '(function f() { return f.caller?.caller?.name ?? arguments.callee.caller ?? null })()',
    value: null,
  },
  {
    name: 'collects the functions on the stack',
    source: `const seen = []
      Error.prepareStackTrace = (error, sites) => { for (const site of sites) seen.push(site.getFunction?.()); return '' }
      await home.echo({ get a() { new Error().stack; return 1 } })
      new Error().stack
      const types = new Set()
      for (const found of seen) try { types.add(await found?.constructor('return typeof process')()) } catch {}
      return [seen.length > 0, ...types]`,
    value: [true, 'undefined'],
  },
  {
    name: "reads the host's paths in a stack",
    source: 'const e = await home.fail({}).catch((e) => e)\nreturn /node_modules|src|file:|worker|\\.js/.test(e.stack)',
    value: false,
  },
  {
    name: 'breaks out of its function',
    source: '})(); globalThis.out = typeof process; (async () => { return 1',
    error: /./,
  },
  { name: 'breaks out with a return', source: 'return 1\n})(); process.exit(1); (async () => {', error: /./ },
  { name: 'closes a comment of the host', source: 'return 1 */ process.exit(1) /*', error: /./ },
]

const PASSING: readonly Attempt[] = [
  {
    name: "poisons the host's prototype by arguments",
    source: `await home.merge(JSON.parse('{"__proto__":{"polluted":1}}'))`,
    error: /cannot be passed on: it has a key '__proto__'/,
  },
  {
    name: "poisons the host's prototype by nested arguments",
    source: `await home.merge({ a: [JSON.parse('{"__proto__":{"polluted":1}}')] })`,
    error: /cannot be passed on: it has a key '__proto__'/,
  },
  {
    name: "poisons the host's prototype by its value",
    source: `return JSON.parse('{"a":{"__proto__":{"polluted":1}}}')`,
    error: /cannot be returned: it has a key '__proto__'/,
  },
  {
    name: "poisons the host's prototype by toJSON",
    source: `await home.merge({ toJSON: () => JSON.parse('{"__proto__":{"polluted":1}}') })`,
    error: /cannot be passed on: it has a key '__proto__'/,
  },
  {
    name: 'writes JSON of its own',
    source: `JSON.stringify = () => '{"__proto__":{"polluted":1}}'; return await home.echo({ a: 1 })`,
    value: { a: 1 },
  },
  {
    name: 'puts raw JSON into arguments',
    source: `return await home.echo({ a: JSON.rawJSON('"b"'), get c() { return JSON.rawJSON('1') } })`,
    value: { a: 'b', c: 1 },
  },
  {
    name: 'reads JSON in its own way',
    source: 'JSON.parse = () => ({ hacked: 1 }); return await home.echo({ a: 1 })',
    value: { a: 1 },
  },
  {
    name: 'changes every built-in',
    source: `const bad = () => { throw new Error('patched') }
      for (const owner of [Array, Object, String, Map, Set, Promise, Reflect, JSON, Function, Error]) {
        for (const at of [owner, owner.prototype ?? {}]) {
          for (const key of Reflect.ownKeys === bad ? [] : Object.getOwnPropertyNames(at)) {
            if (['prototype', 'length', 'name', 'constructor', 'getOwnPropertyNames', 'ownKeys'].includes(key)) continue
            try { at[key] = bad } catch {}
          }
        }
      }
      return await home.echo({ a: 1 })`,
    error: /patched/,
  },
  {
    name: 'replaces the globals',
    source: 'Promise = JSON = Object = Array = String = Error = undefined; return await home.echo({ a: 1 })',
    value: { a: 1 },
  },
  {
    name: 'catches indices of arrays',
    source: `Object.defineProperty(Array.prototype, 0, { set() { throw new Error('caught') }, configurable: true }); console.log('a'); return await home.echo({ a: 1 })`,
    error: /caught/,
  },
  {
    name: 'takes then for itself',
    source: 'Promise.prototype.then = function () { return 1 }; return await home.echo({ a: 1 })',
    value: { a: 1 },
  },
  {
    name: 'makes promises of another species',
    source:
      'class Mine extends Promise { static get [Symbol.species]() { throw new Error("species") } }; return await Mine.resolve(1)',
    error: /species/,
  },
  { name: 'returns a thenable that never ends', source: 'return { then() {} }', error: /nothing will settle/ },
  {
    name: 'returns a thenable that settles over and over',
    source: 'return { then(done) { done(1); done(2); throw 3 } }',
    value: 1,
  },
  {
    name: 'returns thenables without end',
    source: 'const next = () => ({ then(done) { done(next()) } }); return next()',
    limit: 'time',
  },
  {
    name: 'passes a proxy',
    source:
      'return await home.echo(new Proxy({ a: 1 }, { ownKeys: () => ["a", "b"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: (_, key) => String(key) }))',
    value: { a: 'a', b: 'b' },
  },
  {
    name: 'passes a proxy without end',
    source:
      'const p = new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: (_, key) => key === "a" ? p : undefined }); return await home.echo({ p })',
    error: /circular|stack/i,
  },
  {
    name: 'passes a getter that throws',
    source: 'await home.echo({ get a() { throw new Error("trap") } })',
    error: /trap/,
  },
  { name: 'passes a cycle', source: 'const a = {}; a.a = a; await home.echo(a)', error: /circular/ },
  {
    name: 'passes what JSON has not',
    source: 'return await home.echo({ a: undefined, b: () => 1, c: Symbol("c"), d: NaN, e: new Date(0) })',
    value: { d: null, e: '1970-01-01T00:00:00.000Z' },
  },
  { name: 'passes a big integer', source: 'await home.echo({ a: 1n })', error: /bigint|BigInt/i },
  { name: 'passes several values', source: 'await home.echo(1, 2)', error: /one object/ },
  {
    name: 'passes deep arguments',
    source: 'let a = {}; for (let i = 0; i < 200; i++) a = { a }; await home.echo(a)',
    error: /deeper than 100/,
  },
  {
    name: 'passes endless toJSON',
    source: 'const bomb = { toJSON: () => ({ a: bomb }) }; await home.echo(bomb)',
    error: /circular|stack|stopped/i,
    limit: [undefined, 'time'],
  },
  { name: 'passes long arguments', source: 'await home.echo({ a: "x".repeat(2e6) })', error: /at most 1000000/ },
  {
    name: 'returns a deep value',
    source: 'let a = []; for (let i = 0; i < 200; i++) a = [a]; return a',
    error: /deeper than 100/,
  },
  {
    name: 'returns a revoked proxy',
    source: 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy',
    error: /revoked/,
  },
  { name: 'throws nothing', source: 'throw undefined', error: /undefined/ },
  { name: 'throws a symbol', source: 'throw Symbol("s")', error: /s/ },
  {
    name: 'throws a revoked proxy',
    source: 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy',
    error: /cannot be shown/,
  },
  {
    name: 'throws an error with traps',
    source:
      'throw Object.defineProperties(new Error(), { name: { get() { throw 1 } }, message: { get() { throw 2 } }, stack: { get() { throw 3 } } })',
    error: /cannot be shown/,
  },
  { name: 'throws a message without end', source: 'throw { get message() { for (;;) {} } }', limit: 'time' },
  { name: 'throws a long message', source: 'throw new Error("x".repeat(1e6))', error: /^x{2000}$/ },
  {
    name: 'names its error for a host path',
    source: 'const e = new Error("m"); e.stack = "program.ts:9999999999999999:1"; throw e',
    error: /^m$/,
  },
  { name: 'logs a bomb', source: 'console.log({ toJSON() { for (;;) {} } })', limit: 'time' },
  {
    name: 'logs a proxy',
    source:
      'console.log(new Proxy({}, { get() { throw new Error("trap") }, ownKeys() { throw new Error("trap") } })); return 1',
    value: 1,
  },
  { name: 'logs a symbol', source: 'console.log(Symbol("s"), Object.create(null)); return 1', value: 1 },
]

const CALLING: readonly Attempt[] = [
  { name: 'calls what it was not given', source: 'await home.secret({})', error: /not a function/ },
  { name: 'calls by a path', source: "await home['../home.echo']({})", error: /not a function/ },
  { name: 'calls a name with a line break', source: "await home['echo\\nhome.secret']({})", error: /not a function/ },
  {
    name: "calls the object's own",
    source: 'return [typeof home.constructor, typeof home.__proto__, typeof home.toString]',
    value: ['function', 'object', 'function'],
  },
  { name: 'adds a function of its own', source: 'home.secret = () => 1; return await home.secret()', value: 1 },
  {
    name: 'renames a function',
    source: "Object.defineProperty(home.echo, 'name', { value: 'home.secret' }); return await home.echo({ a: 1 })",
    value: { a: 1 },
  },
  { name: 'calls too often', source: 'for (;;) await home.echo({})', error: /at most 20 calls/, limit: 'calls' },
  {
    name: 'calls too often at once',
    source:
      'return (await Promise.allSettled(Array.from({ length: 500 }, () => home.echo({})))).filter((one) => one.status === "fulfilled").length',
    value: 20,
    limit: 'calls',
  },
  { name: 'calls too often and does not care', source: 'for (;;) try { await home.echo({}) } catch {}', limit: 'time' },
  { name: 'does not wait for its calls', source: 'home.wait({}); home.wait({}); return 1', value: 1 },
  { name: 'waits for a call that never ends', source: 'await home.wait({})', limit: 'time' },
  { name: 'gets more than it can hold', source: 'await home.huge({})', error: /more than a program can receive/ },
  { name: 'gets something that is no JSON', source: 'await home.cyclic({})', error: /circular/i },
  {
    name: 'keeps what it gets until it bursts',
    source: 'const all = []; for (let i = 0; i < 20; i++) all.push(await home.large({})); return all.length',
    limit: 'memory',
  },
]

export const REACHING_OUT: readonly Attempt[] = [...REACHING, ...PASSING, ...CALLING]
