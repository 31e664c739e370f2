import { describe, expect, it } from 'vitest'
import {
  ask,
  block,
  end,
  refuse,
  says,
  START,
  stream,
  TEXT,
  toolNamed,
  useClaude,
  type Provider,
} from './harness.fixtures.ts'

let provider: Provider
const claude = useClaude((started) => (provider = started))

const REASONS = ['model_changed', 'system_changed', 'tools_changed', 'messages_changed'] as const
const BETA = 'cache-diagnosis-2026-04-07'

/** A reply with an id, and with a reason for a cache miss. */
const reply = (id: string, reason: unknown) => [
  { ...START, message: { ...START.message, id, diagnostics: { cache_miss_reason: reason } } },
  ...block(0, TEXT, says('Yes.')),
  ...end('end_turn'),
]

describe('cache diagnostics of Anthropic', () => {
  it.each(REASONS)('R42 name the reply before, and report %s', async (type) => {
    provider.intercept((_, response, number) =>
      stream(response, reply(`msg_${number}`, number === 0 ? null : { type, cache_missed_input_tokens: 4321 })),
    )
    const adapter = claude({ cacheDiagnostics: true })
    const first = await ask(adapter, { tools: [toolNamed('look')] })
    const messages = [
      { role: 'user', text: 'Hello.' } as const,
      ...first.recorded,
      { role: 'user', text: 'Go.' } as const,
    ]
    const stored = JSON.parse(JSON.stringify(messages)) as typeof messages
    const { events } = await ask(claude({ cacheDiagnostics: true }), { tools: [toolNamed('look')], messages: stored })
    expect(provider.requests.map(({ body }) => body['diagnostics'])).toEqual([
      { previous_message_id: null },
      { previous_message_id: 'msg_0' },
    ])
    for (const { headers } of provider.requests) expect(headers['anthropic-beta']).toContain(BETA)
    expect(first.events.some((event) => event.type === 'cache/diagnosed')).toBe(false)
    expect(events).toContainEqual({ type: 'cache/diagnosed', reason: type, tokens: 4321 })
  })

  it.each([{ type: 'unavailable' }, { type: 7 }, 'x', { type: 'x'.repeat(1000), cache_missed_input_tokens: -1 }])(
    'R37 accept any answer: %j',
    async (reason) => {
      provider.intercept((_, response) => stream(response, reply('msg_1', reason)))
      const { events, result } = await ask(claude({ cacheDiagnostics: true }))
      expect(result.type).toBe('final')
      const tokens = events.flatMap((event) => (event.type === 'cache/diagnosed' ? [event.tokens] : []))
      expect(tokens.every((each) => each === 0)).toBe(true)
    },
  )

  it('R34 are asked for only on request, and no longer after a refusal', async () => {
    provider.answer({ content: 'Yes.' }, { content: 'Yes.' }, { content: 'Yes.' })
    await ask(claude())
    expect('diagnostics' in (provider.requests[0]?.body ?? {})).toBe(false)
    provider.intercept(({ body }, response) =>
      'diagnostics' in body ? refuse(response, 400, 'diagnostics: Extra inputs are not permitted') : false,
    )
    const adapter = claude({ cacheDiagnostics: true })
    await ask(adapter)
    await ask(adapter)
    expect(provider.requests.map(({ body }) => 'diagnostics' in body)).toEqual([false, true, false, false])
  })
})
