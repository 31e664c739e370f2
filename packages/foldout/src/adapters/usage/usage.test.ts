import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../contract.ts'
import { NO_USAGE, addUsage, countLostReply, readUsage, subtractUsage, type Usage } from './usage.ts'
import { mergeReports, readQueryUsage, readReport } from '../anthropic/usage.ts'
import { findChatUsage, readChatUsage, readResponseUsage } from '../openai/usage.ts'
import { readStepUsage } from '../ai-sdk/usage.ts'

const amount = fc.integer({ min: 0, max: 1_000_000 })
const usages: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: amount,
    outputTokens: amount,
    cachedInputTokens: amount,
    cacheWriteTokens: amount,
    cacheWriteTokens1h: amount,
    reasoningTokens: amount,
    costUsd: amount,
  },
  { requiredKeys: ['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens'] },
)

describe('usage', () => {
  it('R77 adds and subtracts every field, and starts at none', () => {
    fc.assert(
      fc.property(usages, usages, (one, other) => {
        expect(addUsage(NO_USAGE, one)).toEqual(one)
        const sum = addUsage(one, other)
        for (const [field, count] of Object.entries(one))
          expect(sum[field as keyof Usage]).toBe(count + (other[field as keyof Usage] ?? 0))
        expect({ ...one, ...subtractUsage(sum, other) }).toMatchObject(one)
      }),
    )
  })

  it('R77 reads any value as a usage whose counts are finite and not negative', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), fc.anything(), (whole, part) => {
        for (const given of [whole, { inputTokens: part, costUsd: part, reasoningTokens: part }]) {
          const counts = Object.values(readUsage(given)) as number[]
          expect(counts.length).toBeGreaterThanOrEqual(4)
          expect(counts.every((count) => Number.isFinite(count) && count >= 0)).toBe(true)
        }
      }),
    )
    expect(readUsage({ inputTokens: Infinity, costUsd: NaN, reasoningTokens: '7' })).toEqual(NO_USAGE)
  })

  it('R77 reports what a lost reply cost, and nothing if that is unknown', async () => {
    const events: ModelEvent[] = []
    const emit = (event: ModelEvent): void => void events.push(event)
    const fails = (): Promise<never> => Promise.reject(new Error('cut'))
    const usage = { ...NO_USAGE, inputTokens: 9 }
    await expect(countLostReply(fails, { getUsage: () => NO_USAGE, emit })).rejects.toThrow('cut')
    await expect(countLostReply(fails, { getUsage: () => usage, emit })).rejects.toThrow('cut')
    expect(events).toEqual([{ type: 'reply/lost', usage }])
  })
})

describe('the usage that Anthropic reports', () => {
  it('R77 counts compaction and advice, which the totals leave out, but not each turn of the reply again', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500, cache_read_input_tokens: 10 },
      { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
      { type: 'advisor_message', input_tokens: 40, output_tokens: 2 },
    ]
    expect(readReport({ input_tokens: 23_000, output_tokens: 1_000, iterations })).toEqual({
      inputTokens: 180_000 + 10 + 23_000 + 40,
      outputTokens: 4_502,
      cachedInputTokens: 10,
      cacheWriteTokens: 0,
    })
  })

  it('R77 tells writes for an hour from writes for five minutes, and reasoning from the rest', () => {
    const start = {
      input_tokens: 5,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    }
    const later = { input_tokens: null, output_tokens: 50, output_tokens_details: { thinking_tokens: 30 } }
    expect(readReport(mergeReports(start, later))).toEqual({
      inputTokens: 305,
      outputTokens: 50,
      cachedInputTokens: 0,
      cacheWriteTokens: 300,
      cacheWriteTokens1h: 200,
      reasoningTokens: 30,
    })
  })

  it('R77 takes the Agent SDK at its word about the price of a query', () => {
    const modelUsage = { opus: { inputTokens: 2, cacheReadInputTokens: 10 }, haiku: { outputTokens: 3 } }
    const result = { type: 'result', subtype: 'success', is_error: false, modelUsage, total_cost_usd: 0.25 } as const
    expect(readQueryUsage(result)).toEqual({
      inputTokens: 12,
      outputTokens: 3,
      cachedInputTokens: 10,
      cacheWriteTokens: 0,
      costUsd: 0.25,
    })
  })
})

describe('the usage that servers report in Chat Completions', () => {
  const base = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
  it.each([
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 80 } }],
    ['Kimi', { cached_tokens: 80 }],
    ['Mistral', { num_cached_tokens: 80 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 80, prompt_cache_miss_tokens: 20 }],
    ['a server with both', { prompt_tokens_details: { cached_tokens: 0 }, prompt_cache_hit_tokens: 80 }],
  ])('R77 finds the cached tokens of %s', (_name, more) => {
    expect(readChatUsage({ ...base, ...more })).toMatchObject({ inputTokens: 100, cachedInputTokens: 80 })
  })

  it('R77 counts reasoning that xAI and Gemini leave out of the completion', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 290 } }
    expect(readChatUsage({ ...base, total_tokens: 400, ...details })).toMatchObject({
      outputTokens: 300,
      reasoningTokens: 290,
    })
    // OpenAI counts it in the completion.
    expect(readChatUsage({ ...base, ...details })).toMatchObject({ outputTokens: 10 })
    // A total that makes no sense changes nothing.
    expect(readChatUsage({ ...base, total_tokens: 3 })).toMatchObject({ outputTokens: 10 })
  })

  it('R77 finds the usage where Groq puts it', () => {
    expect(findChatUsage({ x_groq: { id: 'r', usage: base } })).toMatchObject({ inputTokens: 100, outputTokens: 10 })
    expect(findChatUsage({ x_groq: { id: 'r' } })).toBeUndefined()
    expect(findChatUsage({ usage: null })).toBeUndefined()
  })

  it.each([
    ['OpenRouter', { cost: 0.95, cost_details: { upstream_inference_cost: 0.95 } }, 0.95],
    ['OpenRouter with an own key', { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } }, 1.05],
    ['xAI', { cost_in_usd_ticks: 37_756_000 }, 0.0037756],
    ['a server that says it as an object', { cost: { total_cost: 1 } }, undefined],
    ['a server that pays', { cost: -1 }, undefined],
  ])('R77 passes on the price of %s', (_name, more, costUsd) => {
    expect(readChatUsage({ ...base, ...more }).costUsd).toBe(costUsd)
  })
})

it('R77 reads the usage of a Responses reply', () => {
  const usage = {
    input_tokens: 100,
    output_tokens: 30,
    input_tokens_details: { cached_tokens: 60, cache_write_tokens: 40 },
    output_tokens_details: { reasoning_tokens: 20 },
  }
  expect(readResponseUsage(usage)).toEqual({
    inputTokens: 100,
    outputTokens: 30,
    cachedInputTokens: 60,
    cacheWriteTokens: 40,
    reasoningTokens: 20,
  })
  expect(readResponseUsage(undefined)).toEqual(NO_USAGE)
})

describe('the usage that the AI SDK reports', () => {
  const usage = {
    inputTokens: 100,
    inputTokenDetails: { noCacheTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 30 },
    outputTokens: 20,
    outputTokenDetails: { textTokens: 15, reasoningTokens: 5 },
    totalTokens: 120,
  }

  it('R77 has reasoning and writes for an hour', () => {
    const raw = { cache_creation: { ephemeral_1h_input_tokens: 30 } }
    expect(readStepUsage({ ...usage, raw }, undefined)).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cachedInputTokens: 60,
      cacheWriteTokens: 30,
      cacheWriteTokens1h: 30,
      reasoningTokens: 5,
    })
  })

  it('R77 has what older versions report beside the totals', () => {
    const older = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 }
    expect(readStepUsage(older)).toEqual({ ...older, cacheWriteTokens: 0 })
  })

  it.each([
    ['OpenRouter', { openrouter: { usage: { cost: 0.5 } } }, 0.5],
    ['the AI Gateway', { gateway: { cost: '0.0045' } }, 0.0045],
    ['nobody', { gateway: { cost: 'free' } }, undefined],
  ])('R77 has the price of %s', (_name, metadata, costUsd) => {
    expect(readStepUsage(usage, metadata).costUsd).toBe(costUsd)
  })
})
