import type { AgentEvent } from '../../agent/events.ts'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FoldoutError, createSession, openSections } from '../../entries/index.ts'
import { calls, callsAll, says } from '../../testing/scripted-adapter.ts'
import { runShop, shop, type ShopRun } from '../shop.fixtures.ts'
import { keepingMeter, keepingTracer } from './in-memory.fixtures.ts'
import { createOpenTelemetryListener } from './opentelemetry.ts'
import { type OpenTelemetryOptions } from './spans.ts'

// Two runs are compared, and a run's state says when the model replied.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

const read = (key: string) => calls('read_section', { section_key: key })
const common = { 'gen_ai.system': 'acme', 'gen_ai.provider.name': 'acme', 'gen_ai.request.model': 'm-1' }
const used = (inputTokens: number, outputTokens: number) => ({
  'gen_ai.usage.input_tokens': inputTokens,
  'gen_ai.usage.output_tokens': outputTokens,
  'gen_ai.usage.cache_read.input_tokens': 0,
  'gen_ai.usage.cache_creation.input_tokens': 0,
})

function setup(options: Partial<OpenTelemetryOptions> = {}) {
  const { tracer, spans } = keepingTracer()
  const { meter, measures } = keepingMeter()
  const listener = createOpenTelemetryListener({
    system: 'acme',
    model: 'm-1',
    agentName: 'shop',
    tracer,
    meter,
    ...options,
  })
  const run = (script: Parameters<typeof runShop>[0], own: ShopRun = {}) =>
    runShop(script, { ...own, onEvent: listener })
  return { spans, measures, listener, run }
}

describe('OpenTelemetry', () => {
  it('R40 creates one span for the run, one per request and one per call, with GenAI names', async () => {
    const { spans, run } = setup()
    await run([read('cart'), calls('spoil'), says('Done.')])
    expect(spans.map(({ name, parent, ended }) => [name, parent, ended])).toEqual([
      ['invoke_agent shop', undefined, 1],
      ['chat m-1', 'invoke_agent shop', 1],
      ['execute_tool read_section', 'invoke_agent shop', 1],
      ['chat m-1', 'invoke_agent shop', 1],
      ['execute_tool spoil', 'invoke_agent shop', 1],
      ['chat m-1', 'invoke_agent shop', 1],
    ])
    const [agent, chat, opening, , spoiled] = spans
    expect(agent).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: undefined,
      events: [
        {
          name: 'foldout.tools.injected',
          attributes: { 'foldout.tools.names': ['add', 'clear'], 'foldout.disclosure.keys': ['cart'] },
        },
      ],
    })
    expect(agent!.attributes).toEqual({
      ...common,
      ...used(30, 15),
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'shop',
      'foldout.sections.full': 2,
      'foldout.sections.summarized': 2,
      'foldout.run.status': 'completed',
    })
    expect(chat).toMatchObject({ kind: SpanKind.CLIENT, status: undefined })
    expect(chat!.attributes).toEqual({ ...common, ...used(10, 5), 'gen_ai.operation.name': 'chat' })
    expect(opening!.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read_section',
      'gen_ai.tool.call.id': 'call-1-1',
      'gen_ai.tool.type': 'function',
      'foldout.disclosure.keys': ['cart'],
      'foldout.disclosure.reason': '',
      'foldout.sections.full': 2,
      'foldout.sections.summarized': 2,
    })
    expect(spoiled).toMatchObject({ status: { code: SpanStatusCode.ERROR } })
    expect(spoiled!.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'spoil',
      'gen_ai.tool.call.id': 'call-2-1',
      'gen_ai.tool.type': 'function',
      'error.type': 'tool_failure',
    })
  })

  it('R40 measures tokens, durations, injections, restarts and dynamic openings', async () => {
    const { measures, run } = setup()
    await run([read('cart'), read('rules'), says('Done.')])
    await run([calls('open_sections', { section_keys: ['cart'], reason: 'why' }), says('Done.')], {
      disclosure: openSections(),
    })
    const of = (name: string) => measures.filter((measure) => measure.name === name)
    expect(of('gen_ai.client.token.usage')).toHaveLength(10)
    expect(of('gen_ai.client.token.usage').slice(0, 2)).toEqual([
      {
        name: 'gen_ai.client.token.usage',
        unit: '{token}',
        value: 10,
        attributes: { ...common, 'gen_ai.operation.name': 'chat', 'gen_ai.token.type': 'input' },
      },
      {
        name: 'gen_ai.client.token.usage',
        unit: '{token}',
        value: 5,
        attributes: { ...common, 'gen_ai.operation.name': 'chat', 'gen_ai.token.type': 'output' },
      },
    ])
    const durations = of('gen_ai.client.operation.duration')
    expect(durations).toHaveLength(5)
    expect(durations[0]).toMatchObject({ unit: 's', attributes: { ...common, 'gen_ai.operation.name': 'chat' } })
    expect(durations.every(({ value }) => value >= 0 && value < 10)).toBe(true)
    expect(of('foldout.tools.injected').map(({ value }) => value)).toEqual([2])
    expect(of('foldout.disclosure.restarts').map(({ value }) => value)).toEqual([1])
    expect(of('foldout.disclosure.dynamic').map(({ value }) => value)).toEqual([1, 1])
  })

  it('R40 reports a restart in the span of the run', async () => {
    const { spans, run } = setup()
    await run([calls('open_sections', { section_keys: ['cart'], reason: 'to buy' }), says('Done.')], {
      disclosure: openSections(),
    })
    expect(spans.filter(({ name }) => name === 'invoke_agent shop')).toHaveLength(1)
    expect(spans[0]).toMatchObject({
      events: [
        {
          name: 'foldout.disclosure.restart',
          attributes: {
            'foldout.disclosure.keys': ['cart'],
            'foldout.disclosure.reason': 'to buy',
            'foldout.disclosure.expansions': 1,
          },
        },
      ],
      attributes: { 'foldout.sections.full': 3, 'foldout.sections.summarized': 2 },
    })
  })

  it('R40 reports no content unless captureContent is set', async () => {
    const script = [callsAll(['look', { secret: 'argument' }], ['spoil', {}]), says('A secret answer.')]
    const silent = setup()
    await silent.run(script)
    const told = JSON.stringify([silent.spans, silent.measures])
    for (const content of ['secret', 'Seen.', 'It would not.', 'Sell me', 'You keep a shop'])
      expect(told).not.toContain(content)
    const { spans, run } = setup({ captureContent: true })
    await run(script)
    const wrong = spans.find(({ name }) => name === 'execute_tool look')!.attributes
    expect(wrong['gen_ai.tool.call.arguments']).toBe('{"secret":"argument"}')
    expect(spans.find(({ name }) => name === 'execute_tool spoil')!.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{}',
      'gen_ai.tool.call.result': 'It would not.',
    })
    expect(JSON.parse(spans.at(-1)!.attributes['gen_ai.output.messages'] as string)).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'A secret answer.' }] },
    ])
    expect(JSON.parse(spans[1]!.attributes['gen_ai.output.messages'] as string)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'tool_call', id: 'call-1-1', name: 'look', arguments: { secret: 'argument' } },
          { type: 'tool_call', id: 'call-1-2', name: 'spoil', arguments: {} },
        ],
      },
    ])
  })

  it("R40 ends the spans of a run that threw with the error's type, without its message", async () => {
    const { spans, measures, run } = setup()
    const error = new FoldoutError('adapter-unavailable', 'It said: secret.')
    await expect(run([{ throws: error }])).rejects.toBe(error)
    expect(spans.map(({ name, ended, status, attributes }) => [name, ended, status, attributes['error.type']])).toEqual(
      [
        ['invoke_agent shop', 1, { code: SpanStatusCode.ERROR }, 'adapter-unavailable'],
        ['chat m-1', 1, { code: SpanStatusCode.ERROR }, 'adapter-unavailable'],
      ],
    )
    expect(spans[0]!.attributes['foldout.run.status']).toBe('failed')
    expect(JSON.stringify(spans)).not.toContain('secret')
    expect(measures).toMatchObject([
      { name: 'gen_ai.client.operation.duration', attributes: { 'error.type': 'adapter-unavailable' } },
    ])
  })

  it('R40 ends the spans of a run that never reported its end when the next run begins', async () => {
    const { spans, run, listener } = setup()
    const deaf = (event: AgentEvent): void => (event.type === 'run/failed' ? undefined : listener(event))
    await expect(runShop([{ throws: new Error('down') }], { onEvent: deaf })).rejects.toThrow('down')
    await run([says('Done.')])
    expect(spans.map(({ name, ended }) => [name, ended])).toEqual([
      ['invoke_agent shop', 1],
      ['chat m-1', 1],
      ['invoke_agent shop', 1],
      ['chat m-1', 1],
    ])
    expect(spans[0]!.attributes['foldout.run.status']).toBe('unfinished')
  })

  it('R40 R66 reports in the span of a run that a person was asked and has answered', async () => {
    const { spans, run } = setup()
    const session = createSession()
    const bound = shop()
    const options = { bound, session, needsApproval: () => true }
    const { approvals } = await run([calls('look')], options)
    const answers = approvals.map((request) => ({ ...request, approved: true }))
    const resumed = { ...options, approvals: answers, input: undefined }
    await run([says('Done.')], resumed as never)
    const agents = spans.filter(({ name }) => name === 'invoke_agent shop')
    const call = { 'gen_ai.tool.name': 'look', 'gen_ai.tool.call.id': 'call-1-1' }
    expect(agents.map(({ attributes, events }) => [attributes['foldout.run.status'], events])).toMatchObject([
      ['waiting', [{ name: 'foldout.approval.asked', attributes: call }]],
      [
        'completed',
        [{ name: 'foldout.approval.answered', attributes: { ...call, 'foldout.approval.approved': true } }],
      ],
    ])
  })

  it('R40 works without an SDK and never changes a run, even with a tracer that throws', async () => {
    const script = [read('cart'), calls('add'), says('Done.')]
    const plain = await runShop(script)
    const throwing = keepingTracer().tracer
    throwing.startSpan = () => {
      throw new Error('broken tracer')
    }
    const listeners = [
      createOpenTelemetryListener({ system: 'acme', model: 'm-1' }),
      createOpenTelemetryListener({ system: 'acme', model: 'm-1', tracer: throwing }),
    ]
    for (const onEvent of listeners) expect(await runShop(script, { bound: shop(), onEvent })).toEqual(plain)
  })
})
