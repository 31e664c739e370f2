import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REACHING_OUT, type Attempt } from './attempts.fixtures.ts'
import { EXHAUSTING } from './exhaustion.fixtures.ts'
import { LARGE_VALUES, ODD_VALUES } from './values.fixtures.ts'
import { createSandbox, type Sandbox, type SandboxFunctions } from '../../../../entries/code.ts'

const TIME_MS = 1_200
const OUTPUT = 5_000
const CALLS = 20
/** Allows for a machine of 16 MB, the threads in use and being replaced, and some garbage. */
const MEMORY_MB = 400

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

const functions: SandboxFunctions = new Map<string, (args: unknown, signal: AbortSignal) => unknown>([
  ['home.echo', async (args) => args],
  ['home.merge', async (args) => deepMerge({}, args as Record<string, unknown>)],
  ['home.fail', () => Promise.reject(new Error('It failed.'))],
  [
    'home.wait',
    (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ],
  ['home.huge', () => 'x'.repeat(10e6)],
  ['home.large', () => 'x'.repeat(1.5e6)],
  ['home.cyclic', () => cyclic],
])

const ATTEMPTS: readonly Attempt[] = [...REACHING_OUT, ...EXHAUSTING, ...LARGE_VALUES]

/** Written as carelessly as many such functions: a `__proto__` among the keys would poison every object. */
function deepMerge(target: Record<string, unknown>, source: Record<string, unknown>): Record<string, unknown> {
  for (const key of Object.keys(source)) {
    const value = source[key]
    if (typeof value === 'object' && value !== null) {
      target[key] ??= {}
      deepMerge(target[key] as Record<string, unknown>, value as Record<string, unknown>)
    } else target[key] = value
  }
  return target
}

/** Values that a careless host function may throw or return. */
const HOSTILE: Readonly<Record<string, () => unknown>> = {
  'throws an object without a prototype': () => {
    throw Object.create(null)
  },
  'rejects with an object without a prototype': () => Promise.reject(Object.create(null)),
  'throws a proxy that throws': () => {
    throw new Proxy({}, { get: fail, getPrototypeOf: fail, has: fail })
  },
  'throws a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    throw proxy
  },
  'throws an error with traps': () => {
    throw Object.defineProperty(new Error(), 'message', { get: fail })
  },
  'throws a symbol': () => {
    throw Symbol('s')
  },
  'returns an object whose toJSON throws one without a prototype': () => ({
    toJSON: () => {
      throw Object.create(null)
    },
  }),
  'returns a thenable that rejects': () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- the attempt is about thenables
    then: (_: unknown, reject: (thrown: unknown) => void) => reject(Object.create(null)),
  }),
  'returns a big integer': () => 1n,
  'returns a deep value': () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    return deep
  },
}

function fail(): never {
  throw Object.create(null)
}

describe('R44 a program in the sandbox', () => {
  const limits = { cpuMs: 500, memoryMb: 16, calls: CALLS, outputCharacters: OUTPUT }
  let sandbox: Sandbox
  /** For programs that end on their own: how long that takes depends on the load of the machine. */
  let patient: Sandbox
  let memory: number

  beforeAll(async () => {
    sandbox = createSandbox({ limits: { ...limits, timeMs: TIME_MS } })
    patient = createSandbox({ limits: { ...limits, cpuMs: 10 * limits.cpuMs, timeMs: 10 * TIME_MS } })
    await Promise.all([sandbox.warmUp(), patient.warmUp()])
    memory = process.memoryUsage().rss
  })
  afterAll(() => {
    sandbox.close()
    patient.close()
  })

  it('R44 has many attempts to make', () => {
    const names = ATTEMPTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(60)
  })

  it.each(ATTEMPTS)('R44 cannot escape: $name', async (attempt: Attempt) => {
    const { value, error, limit } = attempt
    const limitsAllowed = [limit].flat()
    const used = limitsAllowed.includes('time') ? sandbox : patient
    const ran = await used.run(attempt.source, { functions })
    expect(limitsAllowed).toContain(ran.limit)
    expect(ran.error?.message ?? '').toMatch(error ?? /^/)
    expect(ran.ok).toBe(value !== undefined || limit === 'output')
    expect(ran.value).toEqual(value)
    const kept = ran.logs.map(({ text }) => text).join('') + (ran.valueStart ?? '') + (ran.error?.message ?? '')
    expect(kept.length).toBeLessThanOrEqual(OUTPUT)
    expect(ran.calls.length).toBeLessThanOrEqual(CALLS)
    const next = await used.run('return [typeof polluted, await home.echo({ a: 1 })]', { functions })
    expect(next).toMatchObject({ ok: true, value: ['undefined', { a: 1 }] })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect((process.memoryUsage().rss - memory) / 2 ** 20).toBeLessThan(MEMORY_MB)
  })

  it.each(ODD_VALUES)('R44 is the only thing that ends when it $name', async ({ source }) => {
    const ran = await patient.run(source, { functions })
    expect(ran.limit).toBeUndefined()
    expect(ran.ok).toBe(ran.error === undefined)
    expect(typeof (ran.error?.message ?? '')).toBe('string')
    expect(structuredClone(ran)).toEqual(ran)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each(Object.keys(HOSTILE))('R44 continues when a function %s', async (name) => {
    const hostile = new Map([['hostile', () => HOSTILE[name]?.()]])
    const ran = await patient.run(
      'try { await hostile() } catch (e) { return [typeof e.message, e.message.length > 0] }',
      {
        functions: hostile,
      },
    )
    expect(ran).toMatchObject({ ok: true, value: ['string', true], calls: [{ name: 'hostile', ok: false }] })
  })
})
