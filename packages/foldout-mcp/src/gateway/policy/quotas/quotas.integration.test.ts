import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { QuotaDefinition } from '../../config/definition.ts'
import { createSite, getText, serveTools, type Site } from '../gateway.fixtures.ts'
import type { ToolFacts, Who } from '../rules/rules.ts'
import { createQuotas } from './quotas.ts'
import { createMemoryQuotas, type QuotaStore } from './quota-store.ts'

const ADA: Who = { client: 'zed', user: 'ada' }
const BOB: Who = { client: 'zed', user: 'bob' }
const toFacts = (path: string): ToolFacts => {
  const [server = '', name = ''] = path.split('/')
  return { preset: '', server, names: [name], annotations: undefined }
}

/** Quotas on a store that counts its requests, and may fail. */
function create(definitions: readonly QuotaDefinition[], ahead = 0) {
  let now = 0
  const inner = createMemoryQuotas(() => now)
  const seen = { takes: 0, givenBack: 0, isAway: false }
  const store: QuotaStore = {
    getAhead: () => ahead,
    async take(bucket, wanted) {
      seen.takes++
      if (seen.isAway) throw new Error('away')
      return inner.take(bucket, wanted)
    },
    async giveBack(bucket, tokens) {
      seen.givenBack += tokens
      await inner.giveBack(bucket, tokens)
    },
  }
  const quotas = createQuotas(store)
  quotas.update(definitions)
  const pass = (ms: number): void => void (now += ms)
  return { quotas, seen, pass, take: (who: Who, path: string) => quotas.take(who, toFacts(path)) }
}

describe('R65 quotas', () => {
  it('count matching calls, separately for each user and tool if configured', async () => {
    const { take, quotas } = create([{ calls: 2, per: 'hour', each: ['user', 'tool'], server: 'mail' }])
    expect(quotas.counts(ADA, toFacts('notes/read'))).toBe(false)
    expect([await take(ADA, 'mail/send'), await take(ADA, 'mail/send')]).toEqual([undefined, undefined])
    expect(await take(ADA, 'mail/send')).toBe(
      'the quota of 2 calls per hour for each user and tool is used up. Try again in 30 minutes.',
    )
    expect(await take(ADA, 'mail/read')).toBeUndefined()
    expect(await take(BOB, 'mail/send')).toBeUndefined()
    expect(await take(ADA, 'notes/read')).toBeUndefined()
    await quotas.close()
  })

  it('refill steadily, up to the full number', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { take, pass } = create([{ calls: 60, per: 'minute' }])
    for (let i = 0; i < 60; i++) expect(await take(ADA, 'a/b')).toBeUndefined()
    expect(await take(ADA, 'a/b')).toContain('Try again in 1 second.')
    pass(3_600_000)
    vi.advanceTimersByTime(1_050)
    const answers = await Promise.all(Array.from({ length: 100 }, () => take(ADA, 'a/b')))
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(60)
  })

  it('do not count a call that another quota refuses', async () => {
    const { take } = create([
      { calls: 2, per: 'day', user: 'ada' },
      { calls: 1, per: 'day', tool: 'a/b' },
    ])
    expect(await take(ADA, 'a/b')).toBeUndefined()
    expect(await take(ADA, 'a/b')).toContain('1 call per day')
    expect(await take(ADA, 'a/c')).toBeUndefined()
    expect(await take(ADA, 'a/c')).toContain('2 calls per day')
  })

  it('ask once for calls that wait at the same time, and take a few tokens in advance', async () => {
    const { take, seen, quotas } = create([{ calls: 1_000, per: 'day' }], 10)
    await Promise.all(Array.from({ length: 100 }, () => take(ADA, 'a/b')))
    expect(seen.takes).toBeLessThanOrEqual(3)
    const before = seen.takes
    for (let i = 0; i < 5; i++) await take(ADA, 'a/b')
    expect(seen.takes).toBeLessThanOrEqual(before + 1)
    await quotas.close()
    expect(seen.givenBack).toBeGreaterThan(0)
    const refused = await Promise.all(Array.from({ length: 2_000 }, () => take(ADA, 'a/b')))
    expect(refused.filter((answer) => answer === undefined)).toHaveLength(1_000 - 105)
  })

  it('refuse while they cannot be checked', async () => {
    const { take, seen } = create([{ calls: 1, per: 'day' }])
    seen.isAway = true
    expect(await take(ADA, 'a/b')).toBe('its quota cannot be checked now. Try again later.')
    seen.isAway = false
    expect(await take(ADA, 'a/b')).toBeUndefined()
  })

  it('survive clients with ten thousand names', async () => {
    const { take } = create([{ calls: 1, per: 'day', each: 'client' }])
    for (let i = 0; i < 10_000; i++) await take({ client: `__proto__${i}`, user: undefined }, 'a/b')
    expect(await take({ client: '__PROTO__9999', user: undefined }, 'a/b')).toContain('used up')
  })
})

describe('R65 a gateway with quotas', () => {
  let site: Site
  beforeEach(() => {
    site = createSite()
  })
  afterEach(() => site.close())

  it('refuses calls over quota, says when to try again, and applies a change immediately', async () => {
    const define = (calls: number) => ({
      mcpServers: { notes: serveTools([{ name: 'get_note' }]) },
      expose: 'all' as const,
      quotas: [{ calls, per: 'hour' as const, each: 'server' as const, tool: 'notes/*' }],
    })
    const gateway = await site.create(define(1))
    const client = await site.connect((await gateway.http()).url)
    const call = async () => client.callTool({ name: 'get_note', arguments: {} })
    expect((await call()).isError).toBeUndefined()
    const refused = await call()
    expect([refused.isError, getText(refused)]).toEqual([
      true,
      "Tool 'notes/get_note' was not run: the quota of 1 call per hour for each server is used up. Try again in 60 minutes.",
    ])
    await gateway.update(define(2))
    expect((await call()).isError).toBeUndefined()
  })

  it('reports a quota that names a server that does not exist', async () => {
    await site.create({ mcpServers: {}, quotas: [{ calls: 1, per: 'day', server: 'mial' }] })
    expect(site.events).toContainEqual({
      type: 'problem',
      server: undefined,
      message: "A quota names the server 'mial', which matches nothing in the configuration.",
    })
  })
})
