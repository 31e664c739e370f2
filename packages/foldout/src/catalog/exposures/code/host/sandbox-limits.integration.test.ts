import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSandbox, type Sandbox, type SandboxFunction, type SandboxOptions } from '../../../../entries/code.ts'
import { takeTurns } from '../../../../../../../test/turns.ts'

const open: Sandbox[] = []
const sandboxWith = (limits: SandboxOptions['limits'], options: SandboxOptions = {}): Sandbox => {
  const sandbox = createSandbox({ ...options, limits: limits ?? {} })
  open.push(sandbox)
  return sandbox
}
afterEach(() => {
  for (const sandbox of open.splice(0)) sandbox.close()
})

const nothing = new Map<string, SandboxFunction>()
const hanging = (): { readonly functions: Map<string, SandboxFunction>; readonly signals: AbortSignal[] } => {
  const signals: AbortSignal[] = []
  const hang: SandboxFunction = (_, signal) => {
    signals.push(signal)
    return new Promise(() => {})
  }
  return { functions: new Map([['hang', hang]]), signals }
}

/** Calls that wait until this many of them run, and the most that ever ran. */
function createMeeting(count: number): { readonly work: SandboxFunction; getMost(): number } {
  let now = 0
  let most = 0
  let meet = (): void => undefined
  const met = new Promise<void>((resolve) => (meet = resolve))
  return {
    async work() {
      most = Math.max(most, ++now)
      if (now === count) meet()
      await met
      // Others that may not run would have begun by now.
      await takeTurns()
      now--
    },
    getMost: () => most,
  }
}

describe('R44 limits of a program', () => {
  it('R44 time, including waiting for calls', async () => {
    const { functions, signals } = hanging()
    const ran = await sandboxWith({ timeMs: 600 }).run("console.log('before')\nawait hang()", { functions })
    expect(ran).toMatchObject({
      ok: false,
      limit: 'time',
      error: { name: 'LimitError', message: 'The program was stopped because it took longer than 600 ms.' },
      logs: [{ text: 'before' }],
      calls: [{ name: 'hang', ok: false, cancelled: true }],
    })
    expect(ran.durationMs).toBeGreaterThanOrEqual(600)
    expect(signals[0]!.aborted).toBe(true)
  })

  it('R44 time, except while a person is asked', async () => {
    const asking = new Map<string, SandboxFunction>([
      [
        'ask',
        async (_, __, pause) => {
          const resume = pause?.()
          const asked = performance.now()
          await vi.waitUntil(() => performance.now() - asked > 600)
          resume?.()
          return 'yes'
        },
      ],
      ['hang', () => new Promise(() => {})],
    ])
    const sandbox = sandboxWith({ timeMs: 300 })
    const both = 'return await Promise.all([ask(), ask()])'
    expect(await sandbox.run(both, { functions: asking })).toMatchObject({ ok: true, value: ['yes', 'yes'] })
    expect(await sandbox.run('await ask()\nawait hang()', { functions: asking })).toMatchObject({ limit: 'time' })
  })

  it('R44 a program that waits for a person keeps no other from running, and few may wait', async () => {
    const answers: (() => void)[] = []
    const asking = new Map<string, SandboxFunction>([
      [
        'ask',
        async (_, __, pause) => {
          const resume = pause?.()
          await new Promise<void>((resolve) => answers.push(resolve))
          resume?.()
        },
      ],
    ])
    const sandbox = sandboxWith({ timeMs: 2_000 }, { concurrentPrograms: 1 })
    const waiting: Promise<unknown>[] = []
    for (let i = 1; i <= 8; i++) {
      waiting.push(sandbox.run('await ask()\nreturn 1', { functions: asking }))
      await vi.waitFor(() => expect(answers).toHaveLength(i), { timeout: 10_000 })
    }
    expect((await sandbox.run('return 1', { functions: nothing })).value).toBe(1)
    expect(await sandbox.run('await ask()', { functions: asking })).toMatchObject({ limit: 'time' })
    for (const answer of answers) answer()
    expect(await Promise.all(waiting)).toEqual(Array.from(waiting, () => expect.objectContaining({ value: 1 })))
    expect((await sandbox.run('return 2', { functions: nothing })).value).toBe(2)
  }, 60_000)

  it('R44 CPU time', async () => {
    const sandbox = sandboxWith({ cpuMs: 100 })
    const { error, limit } = await sandbox.run('for (;;) {}', { functions: nothing })
    expect(limit).toBe('time')
    expect(error?.message).toBe('The program was stopped because it computed for longer than 100 ms.')
    const patient = await sandbox.run('await new Promise((done) => setTimeout(done, 300))\nreturn 1', {
      functions: nothing,
    })
    expect(patient.value).toBe(1)
  })

  it('R44 logs of a program whose thread must be ended are kept', async () => {
    const ran = await sandboxWith({ timeMs: 200 }).run(
      "console.log('begun')\nArray.prototype.sort.call({ length: 2 ** 53 - 1 })",
      { functions: nothing },
    )
    expect(ran).toMatchObject({ limit: 'time', logs: [{ text: 'begun' }] })
  })

  it('R44 memory', async () => {
    const ran = await sandboxWith({ memoryMb: 8 }).run('const all = []\nfor (;;) all.push(new ArrayBuffer(1e5))', {
      functions: nothing,
    })
    expect(ran).toMatchObject({
      ok: false,
      limit: 'memory',
      error: { name: 'LimitError', message: 'The program was stopped because it needed more than 8 MB of memory.' },
    })
  })

  it('R44 length of the source', async () => {
    const sandbox = sandboxWith({ sourceCharacters: 10 })
    expect(await sandbox.run('"123456789"', { functions: nothing })).toMatchObject({
      ok: false,
      limit: 'source',
      error: { message: 'The source is 11 characters long; at most 10 are run.' },
    })
    expect((await sandbox.run('"12345678"', { functions: nothing })).value).toBe('12345678')
  })

  it('R44 number of calls', async () => {
    let count = 0
    const functions = new Map<string, SandboxFunction>([['count', () => ++count]])
    const sandbox = sandboxWith({ calls: 3 })
    const ran = await sandbox.run('for (;;) await count()', { functions })
    expect(ran).toMatchObject({ ok: false, limit: 'calls' })
    expect(ran.error?.message).toBe('count() was not called: a program may make at most 3 calls.')
    expect(ran.calls).toHaveLength(3)
    expect(count).toBe(3)
    const survivor = await sandbox.run('let n = 0\ntry { for (;;) n = await count() } catch {}\nreturn n', {
      functions,
    })
    expect(survivor).toMatchObject({ ok: true, limit: 'calls', value: 6 })
  })

  it('R44 number of concurrent calls', async () => {
    const { work, getMost } = createMeeting(3)
    const ran = await sandboxWith({ concurrentCalls: 3 }).run(
      'await Promise.all(Array.from({ length: 10 }, () => work()))',
      { functions: new Map([['work', work]]) },
    )
    expect(ran.ok).toBe(true)
    expect(ran.calls).toHaveLength(10)
    expect(getMost()).toBe(3)
  })
})

describe('R44 the limit of output', () => {
  const most = { outputCharacters: 100 }

  it('R44 cuts logs, and says how much is missing', async () => {
    const ran = await sandboxWith(most).run("for (let i = 0; i < 5; i++) console.log('x'.repeat(40))\nreturn 1", {
      functions: nothing,
    })
    expect(ran).toMatchObject({ ok: true, value: 1, limit: 'output' })
    const kept = ran.logs.reduce((sum, { text }) => sum + text.length, 0)
    expect(kept + ran.missingCharacters).toBe(200)
    expect(kept).toBeLessThanOrEqual(99)
    expect(kept).toBeGreaterThan(90)
  })

  it('R44 cuts the value, and says how much is missing', async () => {
    const ran = await sandboxWith(most).run("return 'y'.repeat(500)", { functions: nothing })
    expect(ran.value).toBeUndefined()
    expect(ran.valueStart).toBe(`"${'y'.repeat(99)}`)
    expect(ran.missingCharacters).toBe(402)
  })

  it('R44 gives each half of the space if both are too long', async () => {
    const ran = await sandboxWith(most).run("console.log('x'.repeat(500))\nreturn 'y'.repeat(500)", {
      functions: nothing,
    })
    expect(ran.valueStart).toHaveLength(50)
    expect(ran.logs).toEqual([{ level: 'log', text: 'x'.repeat(50) }])
    expect(ran.missingCharacters).toBe(502 + 500 - 100)
  })

  it('R44 does not change output that fits', async () => {
    const ran = await sandboxWith(most).run("console.log('x'.repeat(60))\nreturn 'y'.repeat(30)", {
      functions: nothing,
    })
    expect(ran).toMatchObject({ value: 'y'.repeat(30), missingCharacters: 0, logs: [{ text: 'x'.repeat(60) }] })
    expect(ran.limit).toBeUndefined()
  })
})

describe('R44 stopping a program', () => {
  const cancelled = { ok: false, error: { name: 'AbortError', message: 'The program was cancelled.' } }

  it.each([
    ['computes', 'for (;;) {}'],
    ['waits for a call', 'await hang()'],
    ['waits for a timer', 'await new Promise((done) => setTimeout(done, 5000))'],
    ['computes and hears nothing', 'Array.prototype.sort.call({ length: 2 ** 53 - 1 })'],
  ])('R44 works at once while it %s', async (_, source) => {
    const { functions, signals } = hanging()
    const sandbox = sandboxWith({})
    await sandbox.warmUp()
    const abort = new AbortController()
    let begin: () => void = () => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const withBegin = new Map([...functions, ['begin', async () => begin()] as const])
    const running = sandbox.run(`await begin()\n${source}`, { functions: withBegin, signal: abort.signal })
    await begun
    const stoppedAt = performance.now()
    abort.abort()
    expect(await running).toMatchObject(cancelled)
    // On their own, they end after five seconds or never.
    expect(performance.now() - stoppedAt).toBeLessThan(4_000)
    expect(signals.every((signal) => signal.aborted)).toBe(true)
    expect((await sandbox.run('return 1', { functions })).value).toBe(1)
  })

  it('R44 works before it has started', async () => {
    const sandbox = sandboxWith({}, { concurrentPrograms: 1 })
    const { functions } = hanging()
    expect(await sandbox.run('1', { functions, signal: AbortSignal.abort() })).toMatchObject(cancelled)
    const first = new AbortController()
    const running = sandbox.run('await hang()', { functions, signal: first.signal })
    const second = new AbortController()
    const queued = sandbox.run('await hang()', { functions, signal: second.signal })
    const third = sandbox.run('return 3', { functions })
    second.abort()
    expect(await queued).toMatchObject({ ...cancelled, calls: [] })
    first.abort()
    expect(await running).toMatchObject(cancelled)
    expect((await third).value).toBe(3)
  })

  it('R44 does not block the host', async () => {
    const sandbox = sandboxWith({ timeMs: 400 })
    await sandbox.warmUp()
    let ticks = 0
    const timer = setInterval(() => ticks++, 10)
    await sandbox.run("'a'.repeat(1e5).replace(/a/g, 'b'.repeat(1e5))", { functions: nothing })
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
  })
})

describe('R44 the threads of a sandbox', () => {
  it('R44 are limited in number, and other programs wait', async () => {
    const { work, getMost } = createMeeting(2)
    const functions = new Map([['work', work]])
    const sandbox = sandboxWith({}, { concurrentPrograms: 2 })
    // Starts both threads.
    await Promise.all([sandbox.run('1', { functions }), sandbox.run('2', { functions })])
    const runs = await Promise.all(Array.from({ length: 6 }, () => sandbox.run('await work()', { functions })))
    expect(runs.every(({ ok }) => ok)).toBe(true)
    expect(getMost()).toBe(2)
  })

  it('R44 end when it is closed, with their programs', async () => {
    const { functions, signals } = hanging()
    const sandbox = sandboxWith({}, { concurrentPrograms: 1 })
    await sandbox.warmUp()
    const running = sandbox.run('await hang()', { functions })
    const queued = sandbox.run('1', { functions })
    await vi.waitFor(() => expect(signals).toHaveLength(1))
    sandbox.close()
    expect(await running).toMatchObject({ ok: false, error: { message: 'The sandbox was closed.' } })
    await expect(queued).rejects.toThrow('The sandbox is closed.')
    await expect(sandbox.run('1', { functions })).rejects.toMatchObject({ code: 'sandbox-closed' })
    expect(signals[0]!.aborted).toBe(true)
  })

  it('R44 do not keep the process alive, but running programs do', () => {
    const file = join(import.meta.dirname, 'process.fixtures.ts')
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(stderr).toBe('')
    expect(stdout).toBe('{"value":"waited"}\n{"limit":"time"}\n')
    expect(status).toBe(0)
  })
})
