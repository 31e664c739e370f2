import { describe, expect, it } from 'vitest'
import { computeWarmth } from '../../core/price/prompt-cache.ts'
import { chatAdapter, findPromptCache } from '../../entries/adapter.ts'
import { anthropic } from '../../entries/anthropic.ts'
import { openai, openaiCompatible } from '../../entries/openai.ts'
import { NO_USAGE } from '../contract.ts'

describe('what adapters know about the cache of a model', () => {
  it.each([
    ['claude-opus-4-6', { minimum: 4096, read: 0.1, write: 1.25 }],
    ['anthropic/claude-haiku-4.5', { minimum: 4096, read: 0.1 }],
    ['us.anthropic.claude-3-5-haiku-20241022-v1:0', { minimum: 2048 }],
    ['claude-sonnet-5-5', { minimum: 1024, read: 0.05 }],
    ['claude-fable-5-1', { read: 0.025 }],
    ['claude-sonnet-4', { minimum: 1024, read: 0.1, ttlMs: 300_000 }],
    ['gpt-5', { read: 0.1, write: 1, step: 128 }],
    ['openai/gpt-5.6-mini', { write: 1.25 }],
    ['gpt-4o-2024-08-06', { read: 0.5, write: 1 }],
    ['deepseek-chat', { read: 0.02, minimum: 64 }],
  ])('R86 %s', (model, expected) => {
    expect(findPromptCache(model)).toMatchObject(expected)
    expect(findPromptCache(model)?.checked).toMatch(/^20\d\d-\d\d-\d\d$/)
  })

  it('R86 is undefined for a model that nobody has checked, however long its name', () => {
    expect(findPromptCache('qwen3')).toBeUndefined()
    expect(findPromptCache('x'.repeat(4_000_000))).toBeUndefined()
    expect(openaiCompatible({ model: 'qwen3', baseURL: 'http://127.0.0.1:1' }).promptCache).toBeUndefined()
  })

  it('R86 is a capability of each adapter, and every number can be replaced', () => {
    expect(anthropic({ model: 'claude-sonnet-5-5' }).promptCache).toMatchObject({ read: 0.05, write: 1.25 })
    expect(anthropic({ model: 'claude-sonnet-5-5', cache: { ttl: '1h' } }).promptCache).toMatchObject({
      read: 0.05,
      write: 2,
      ttlMs: 3_600_000,
    })
    expect(openai({ model: 'gpt-5', promptCache: { read: 0.2 } }).promptCache).toMatchObject({ read: 0.2, write: 1 })
    const own = { minimum: 10, read: 0.3, write: 1, ttlMs: 60_000 }
    expect(openaiCompatible({ model: 'qwen3', baseURL: 'http://127.0.0.1:1', promptCache: own }).promptCache).toEqual(
      own,
    )
  })

  it('R86 refuses a number that would spoil every sum', () => {
    const complete = async () => ({ message: { role: 'assistant', text: '', toolCalls: [] }, usage: NO_USAGE }) as const
    expect(() => chatAdapter({ name: 'a', model: 'a', complete, promptCache: { read: Number.NaN } })).toThrow(
      /promptCache\.read is NaN/,
    )
  })

  it('R78 computes how likely a beginning is warm from the traffic and the lifetime', () => {
    expect(computeWarmth(0, { ttlMs: 300_000 })).toBe(0)
    expect(computeWarmth(40, { ttlMs: 300_000 })).toBeCloseTo(0.964, 3)
    expect(computeWarmth(40, { ttlMs: 3_600_000 })).toBeCloseTo(1, 6)
  })
})
