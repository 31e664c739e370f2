import { describe, expect, it } from 'vitest'
import { createRunStore } from './store.ts'
import { describeStep } from './steps.ts'

const tokens = { total: 100, text: 90, tools: 10 }
const renders = (text: string) => ({
  type: 'prompt/rendered',
  text,
  tools: ['look'],
  full: [],
  summarized: [],
  tokens,
  tokensIfAllOpen: tokens,
})
const sends = (...tools: string[]) => ({ type: 'request/sent', messages: 1, tools })
const receives = (cachedInputTokens: number) => ({
  type: 'reply/received',
  message: { text: 'Yes.', toolCalls: [] },
  usage: { inputTokens: 5000, outputTokens: 1, cachedInputTokens, cacheWriteTokens: 0 },
})
const folds = {
  type: 'results/folded',
  callIds: ['c1'],
  reason: 'price',
  context: 1,
  freed: 1,
  cost: 1,
  gain: 1,
}
const restarts = { type: 'run/expanded', callIds: ['c1'], keys: ['a'], paths: ['a'], reason: '', expansions: 1 }

/** Two requests, of which the second finds less in the cache, and what happens in between. */
function miss(between: readonly object[], after: object = sends('look'), waitedMs = 1) {
  const store = createRunStore()
  const before = [renders('You help.'), sends('look'), receives(4000)]
  const later = [...between, after, receives(1000)]
  const lines = [...before.map((event) => [1, event]), ...later.map((event) => [1 + waitedMs, event])]
  store.add(lines.map(([at, event]) => ({ version: 1, run: 'a', at, event })))
  const steps = store.runs[0]?.steps.map(describeStep) ?? []
  return steps.filter(({ kind }) => kind === 'miss').map(({ title, detail }) => `${title}: ${detail}`)
}

describe('cache misses on the timeline', () => {
  it.each([
    ['a restart', [restarts], 'An opening restarted the run, so the prompt was rendered again.'],
    ['a fold', [folds], 'Results were folded, so the messages after them changed.'],
    ['another system text', [renders('You help a lot.')], 'The system text changed.'],
  ])('R60 are explained by %s', (_what, between, cause) => {
    expect(miss(between)).toEqual([`Cache missed for 3,000 tokens: ${cause}`])
  })

  it.each([
    [sends('find'), 1, 'The list of tools changed: look.'],
    [sends('look', 'find'), 1, 'Tools were added to the list, which providers read first: find.'],
    [sends('look'), 420_000, '7 minutes had passed, and the cache may have expired.'],
    [sends('look'), 1, 'Nothing that the request begins with changed, so the provider has dropped it.'],
  ])('R60 are explained by the request itself: %j after %i ms', (after, waitedMs, cause) => {
    expect(miss([], after, waitedMs)).toEqual([`Cache missed for 3,000 tokens: ${cause}`])
  })

  it('R60 stand beside what the provider says', () => {
    const said = { type: 'cache/diagnosed', reason: 'tools_changed', tokens: 3000 }
    const store = miss([], sends('look', 'find'))
    expect(miss([said])).toContain('The provider missed 3,000 tokens in its cache: tools changed')
    expect(store).toHaveLength(1)
  })
})
