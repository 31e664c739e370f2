import { describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../entries/catalog.ts'
import { withRetries } from '../entries/adapter.ts'
import { serveMcp, toolsFromMcp, type McpClient, type ServeMcpOptions } from '../entries/mcp.ts'
import { checkNumber } from './check-number.ts'
import { LONGEST_TIMER_MS, sleep } from './timer.ts'

describe('options that should be numbers', () => {
  it.each([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [-1, '-1'],
    ['5', "'5'"],
    [null, 'null'],
    [{}, 'of type object'],
  ])('are rejected by name: %o', (given, shown) => {
    expect(() => checkNumber('max', given, { code: 'mcp-options', least: 1 })).toThrow(
      `max is ${shown}. Pass a number, 1 or more, or leave it out.`,
    )
  })

  it('may be absent, and are finite', () => {
    for (const given of [undefined, 0, 1.5, Number.MAX_SAFE_INTEGER])
      expect(() => checkNumber('max', given, { code: 'mcp-options' })).not.toThrow()
  })

  it.each<Partial<ServeMcpOptions>>([
    { maxBodyBytes: Number.NaN },
    { maxResultBytes: Number.NaN },
    { maxResultBytes: 0 },
    { sessions: { max: Number.NaN } },
    { sessions: { perPeer: -1 } },
    { sessions: { idleMs: Number.NaN } },
    { sessions: { keepMs: Number.NaN } },
    { streams: { max: Number.NaN } },
    { streams: { perPeer: Number.NaN } },
    { cache: { ttlMs: Number.NaN } },
  ])('serveMcp rejects %o', (options) => {
    const serve = () => serveMcp(createCatalog([]), { name: 'home', version: '1.0.0', ...options })
    expect(serve).toThrow(expect.objectContaining({ code: 'mcp-options' }) as Error)
  })

  it('toolsFromMcp and withRetries reject NaN, which would disable the limit', async () => {
    const client = {
      getServerCapabilities: () => ({}),
      getServerVersion: () => ({ name: 'x' }),
    } as unknown as McpClient
    for (const name of ['timeoutMs', 'maxCallMs', 'maxTools'])
      await expect(toolsFromMcp(client, { [name]: Number.NaN })).rejects.toMatchObject({ code: 'mcp-options' })
    const failing = () => Promise.reject(Object.assign(new Error('busy'), { status: 503 }))
    const { signal } = new AbortController()
    await expect(
      withRetries(failing, { adapter: 'own', retries: Number.NaN, signal, emit: () => undefined }),
    ).rejects.toMatchObject({ code: 'adapter-config' })
  })
})

describe('waiting', () => {
  it('waits the full time, even if it is longer than a timer can run', async () => {
    vi.useFakeTimers()
    try {
      let isOver = false
      void sleep(LONGEST_TIMER_MS + 5_000).then(() => (isOver = true))
      await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS)
      expect(isOver).toBe(false)
      await vi.advanceTimersByTimeAsync(5_000)
      expect(isOver).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})
