import { describe, expect, it } from 'vitest'
import type { RecordedTraffic } from '../../gateway/traffic/recording.ts'
import { MAX_CLIENT_STEPS, MAX_CLIENTS_STEPS } from './limits.ts'
import { createClientStore } from './store.ts'

const AT = '2026-11-17T12:00:00.000Z'
type Line<Type extends RecordedTraffic['type']> = Extract<RecordedTraffic, { type: Type }>

const common = (client: string) => ({ run: 'a', at: AT, preset: '', client })
const list = (client: string, tokens: number): Line<'list'> => ({
  type: 'list',
  ...common(client),
  exposure: 'hybrid',
  tools: 2,
  tokens,
  all: 40,
  allTokens: 4_000,
})
const call = (client: string, more: Partial<Line<'call'>> = {}): Line<'call'> => ({
  type: 'call',
  ...common(client),
  tool: 'shop/find_order',
  through: 'use_tool',
  arguments: { order: 'A-1' },
  isRedacted: false,
  isReadOnly: true,
  ok: true,
  durationMs: 12,
  wrappingTokens: 9,
  toolTokens: 50,
  answer: { tokens: 100, bytes: 400, isFolded: false },
  ...more,
})
const search = (client: string): Line<'search'> => ({
  type: 'search',
  ...common(client),
  query: 'orders',
  isRedacted: false,
  hits: [],
  tokens: 60,
  answer: { tokens: 50, bytes: 200, isFolded: false },
})

describe('R59 clients of a gateway', () => {
  it('have what they were given counted, against every tool listed', () => {
    const store = createClientStore()
    store.add([
      { type: 'client', ...common('client-1'), name: 'cursor', user: 'ada' },
      list('client-1', 200),
      search('client-1'),
      call('client-1'),
      call('client-1', { ok: false, message: 'There is no order A-1.' }),
      call('client-1', { ok: false, decision: 'denied', answer: undefined }),
    ])
    const [client] = store.clients
    expect(client?.summary).toMatchObject({
      name: 'cursor',
      user: 'ada',
      figures: {
        lists: 1,
        searches: 1,
        calls: 3,
        failed: 1,
        held: 1,
        listed: 200,
        answered: 250,
        everything: 4_000,
      },
    })
    // The search would not have been needed.
    expect(client?.chart.map(({ context, everything }) => [context, everything])).toEqual([
      [200, 4_000],
      [250, 4_000],
      [350, 4_100],
      [450, 4_200],
      [450, 4_200],
    ])
    expect(client?.steps.map(({ kind, title, isBad }) => [kind, title, isBad])).toEqual([
      ['start', 'Connected', false],
      ['list', 'Listed 2 tools as hybrid', false],
      ['search', 'Searched for “orders”', true],
      ['call', 'shop/find_order through use_tool answered', false],
      ['call', 'shop/find_order through use_tool failed', true],
      ['approval', 'shop/find_order through use_tool is denied by a rule', true],
    ])
    expect(client?.steps[4]?.detail).toBe('There is no order A-1. · {"order":"A-1"}')
  })

  it('are told apart by gateway, preset and connection; those without a connection are one', () => {
    const store = createClientStore()
    store.add([
      call('client-1'),
      { ...call('client-1'), run: 'b' },
      { ...call('client-1'), preset: 'work' },
      { ...call('stateless'), name: 'cursor' },
      { ...call('stateless'), name: 'claude' },
    ])
    expect(store.clients).toHaveLength(4)
    const [shared] = store.clients
    expect(shared?.summary.name).toBe('')
    expect(shared?.steps.map(({ detail }) => detail.split(':')[0])).toEqual(['cursor', 'claude'])
  })

  it('R60 are kept within bounds: one in parts, and of many the ones that did something last', () => {
    const store = createClientStore()
    store.add([list('client-1', 200), ...Array.from({ length: MAX_CLIENT_STEPS }, () => call('client-1'))])
    const [second, first] = store.clients
    expect([first?.size, second?.size]).toEqual([MAX_CLIENT_STEPS, 1])
    // It still lists what it listed before.
    expect(second?.summary).toMatchObject({ part: 2, figures: { listed: 200, calls: 1 } })
    store.add(Array.from({ length: MAX_CLIENTS_STEPS }, (_, i) => call(`other-${i}`)))
    expect(store.clients.reduce((sum, { size }) => sum + size, 0)).toBe(MAX_CLIENTS_STEPS)
    expect(store.find(first?.id ?? '')).toBeUndefined()
    store.add([call('client-1')])
    expect(store.clients[0]?.summary).toMatchObject({ part: 1, figures: { calls: 1 } })
  })
})
