import { expect } from 'vitest'
import { NO_USAGE, type Evaluation } from '../adapters/contract.ts'
import { openSections } from '../disclosure/strategies/open-sections.ts'
import { createSession } from '../session/session.ts'
import { visibility } from '../session/visibility.ts'
import type { AdapterSuiteOptions } from './adapter-peer.ts'
import { LONG_TEXT, calls, deltas, done, getRequest, opens, toolTexts, type TestCase } from './adapter-stage.ts'
import { OUTPUT_SCHEMA } from './adapter-prompt.ts'

/** Cases for answers, tool calls and openings. */
export function conversationCases<Request>(test: TestCase<Request>, options: AdapterSuiteOptions<Request>): void {
  const {
    supportsDynamicTools,
    hasForeignRepairs = false,
    getTools,
    getResults,
    getPrefixes,
    getOutputSchema,
    sendsOutputSchema = 'always',
  } = options

  test('text', 'R34 returns the text of an answer', [{ says: LONG_TEXT }], async ({ peer, run }) => {
    expect(peer.adapter.supportsDynamicTools).toBe(supportsDynamicTools)
    expect(await run()).toMatchObject({ status: 'completed', text: LONG_TEXT, expansions: 0 })
    expect(peer.requests()).toHaveLength(1)
    expect(getTools(getRequest(peer, 0)).toSorted()).toEqual(['explode', 'forecast', 'note', 'read_section', 'refuse'])
  })

  test('streaming', 'R34 streams the text as it arrives', [{ says: LONG_TEXT }], async ({ events, run }) => {
    await run()
    const parts = deltas(events)
    expect(parts.length).toBeGreaterThan(2)
    expect(parts.join('')).toBe(LONG_TEXT)
    const types = events.map(({ type }) => type)
    expect(types.indexOf('request/sent')).toBeLessThan(types.indexOf('text/delta'))
    expect(types.lastIndexOf('text/delta')).toBeLessThan(types.indexOf('reply/received'))
  })

  test(
    'tool call',
    'R37 runs a tool and sends its result back',
    [calls('forecast', { city: 'Århus "x"\n' }), done],
    async ({ peer, run }) => {
      const result = await run()
      expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
      expect(toolTexts(result)).toEqual([['forecast', 'Århus "x"\n: sun.', false]])
      expect(getResults(getRequest(peer, 1))).toEqual(['Århus "x"\n: sun.'])
    },
  )

  test(
    'call deltas',
    'R34 streams the arguments of calls as they arrive, under the ids of the calls',
    [
      {
        calls: [
          { name: 'forecast', arguments: { city: 'Llanfairpwllgwyngyll' } },
          { name: 'forecast', arguments: { city: 'Rome' } },
        ],
      },
      done,
    ],
    async ({ events, run }) => {
      const result = await run()
      const calls = result.messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
      const written = new Map<string, string>()
      for (const event of events) {
        if (event.type !== 'call/delta') continue
        expect(event.name).toBe('forecast')
        written.set(event.callId, `${written.get(event.callId) ?? ''}${event.text}`)
      }
      const read = [...written].map(([id, text]): [string, unknown] => [id, JSON.parse(text)])
      expect(read).toEqual(calls.map(({ id, arguments: args }) => [id, args]))
      const types = events.map(({ type }) => type)
      expect(types.lastIndexOf('call/delta')).toBeLessThan(types.indexOf('reply/received'))
      expect(types.filter((type) => type === 'call/delta').length).toBeGreaterThan(2)
    },
  )

  test(
    'parallel calls',
    'R37 runs the calls of one reply concurrently and sends the results in the order of the calls',
    [
      { calls: ['Oslo', 'Rome', 'Lima'].map((city) => ({ name: 'forecast', arguments: { city } })) },
      calls('forecast', { city: 'Bonn' }),
      done,
    ],
    async ({ peer, run }) => {
      const result = await run()
      const texts = ['Oslo: sun.', 'Rome: sun.', 'Lima: sun.', 'Bonn: sun.']
      expect(toolTexts(result).map(([, text]) => text)).toEqual(texts)
      expect(getResults(getRequest(peer, -1))).toEqual(texts)
      const ids = result.messages.filter((message) => message.role === 'tool').map((message) => message.callId)
      expect(new Set(ids).size).toBe(4)
      expect(result.turns.map(({ type }) => type)).toEqual(['tools', 'tools', 'answer'])
    },
  )

  test(
    'failing tool',
    'R37 continues after tools that fail and throw',
    [{ calls: [{ name: 'refuse' }, { name: 'explode' }] }, done],
    async ({ peer, run }) => {
      const result = await run()
      expect(result.text).toBe('Done.')
      expect(toolTexts(result)).toEqual([
        ['refuse', 'There is no weather on the moon.', true],
        ['explode', expect.stringContaining('The sensor burned down.'), true],
      ])
      expect(getResults(getRequest(peer, 1))).toEqual([
        expect.stringContaining('There is no weather on the moon.'),
        expect.stringContaining('The sensor burned down.'),
      ])
    },
  )

  test(
    'bad arguments',
    'R37 answers wrong arguments with the reason, so the model can correct them',
    [calls('forecast', { city: 5 }), calls('forecast', { city: 'Rome' }), done],
    async ({ peer, run }) => {
      const [bad, good] = toolTexts(await run())
      expect(bad).toEqual(['forecast', expect.stringMatching(/^Wrong arguments for tool 'forecast': city /), true])
      expect(good).toEqual(['forecast', 'Rome: sun.', false])
      expect(getResults(getRequest(peer, 1))[0]).toContain(bad?.[1])
    },
  )

  test(
    'malformed call',
    'R37 answers a call whose arguments are not valid JSON, and the conversation continues',
    [{ calls: [{ name: 'forecast', malformed: '{"city": "Ro' }] }, calls('forecast', { city: 'Rome' }), done],
    async ({ peer, run }) => {
      const [bad, good] = toolTexts(await run())
      expect(bad).toEqual([
        'forecast',
        'The arguments of this call are not valid JSON: {"city": "Ro\nCall the tool again with its arguments as one JSON object.',
        true,
      ])
      expect(good).toEqual(['forecast', 'Rome: sun.', false])
      expect(getResults(getRequest(peer, 1))[0]).toContain('are not valid JSON: {"city": "Ro')
    },
  )

  test(
    'hidden tool',
    'R36 answers a call of a tool in a folded section with instructions to open the section',
    [calls('measure_rain', { city: 'Rome' }), done],
    async ({ peer, run }) => {
      const result = await run()
      const text =
        "Tool 'measure_rain' belongs to the section 'rain', which is not open yet. Call `read_section` with section_key \"rain\" first."
      expect(toolTexts(result)).toEqual([['measure_rain', text, true]])
      for (const request of peer.requests()) expect(getTools(request)).not.toContain('measure_rain')
    },
  )

  test(
    'opening',
    'R35 R36 offers the tools of an opened section in the next request, and they can be called',
    [opens('rain'), calls('measure_rain', { city: 'Rome' }), done],
    async ({ peer, session, events, run }) => {
      const result = await run()
      const second = getRequest(peer, 1)
      expect(getTools(getRequest(peer, 0))).not.toContain('measure_rain')
      expect(getTools(second)).toContain('measure_rain')
      expect(getTools(getRequest(peer, 2))).toContain('measure_rain')
      expect(toolTexts(result).at(-1)).toEqual(['measure_rain', 'rain in Rome: 5.', false])
      expect(session.get(visibility)).toEqual({ rain: 'full' })
      const opening = supportsDynamicTools ? 'injection' : 'restart'
      expect(result.turns.map(({ type }) => type)).toEqual([opening, 'tools', 'answer'])
      expect(result.expansions).toBe(supportsDynamicTools ? 0 : 1)
      expect(events.filter(({ type }) => type === 'tools/injected')).toHaveLength(supportsDynamicTools ? 1 : 0)
      if (supportsDynamicTools)
        expect(getResults(second)).toEqual(['# Rain\n\nAll about rain.\n\nCallable now: measure_rain.'])
    },
  )

  test(
    'halting opening',
    'R33 R34 restarts on an opening that needs a new render, and adds up the usage of both',
    [
      {
        calls: [
          { name: 'open_sections', arguments: { section_keys: ['rain', 'wind'], reason: 'They matter.' } },
          { name: 'forecast', arguments: { city: 'Rome' } },
        ],
        usage: { inputTokens: 100, outputTokens: 10 },
      },
      { says: 'Done.', usage: { inputTokens: 200, outputTokens: 20 } },
    ],
    async ({ peer, session, run }) => {
      const result = await run({ disclosure: openSections() })
      expect(result).toMatchObject({ text: 'Done.', expansions: 1, usage: { inputTokens: 300, outputTokens: 30 } })
      expect(session.get(visibility)).toEqual({ rain: 'full', wind: 'full' })
      expect(toolTexts(result).map(([tool, , isError]) => [tool, isError])).toEqual([
        ['open_sections', false],
        ['forecast', true],
      ])
      expect(getTools(getRequest(peer, 1))).toEqual(expect.arrayContaining(['measure_rain', 'measure_wind']))
    },
  )

  test(
    'prefix',
    'R42 begins every request with the previous one, across three openings',
    [
      opens('wind'),
      calls('measure_wind', { city: 'Rome' }),
      opens('rain'),
      opens('snow'),
      { calls: ['wind', 'rain', 'snow'].map((key) => ({ name: `measure_${key}`, arguments: { city: 'Oslo' } })) },
      done,
    ],
    async ({ peer, run }) => {
      await run()
      const prefixes = peer.requests().map(getPrefixes)
      expect(prefixes).toHaveLength(6)
      expect(findChanges(prefixes)).toEqual([])
      expect(prefixes[0]?.every((part) => part.length > 50)).toBe(true)
      expect(getTools(getRequest(peer, -1)).slice(-3)).toEqual(['measure_wind', 'measure_rain', 'measure_snow'])
    },
  )

  test(
    'prefix',
    'R42 begins every request with the previous one, across user turns, openings and a resume in another session',
    [
      opens('wind'),
      calls('measure_wind', { city: 'Rome' }),
      done,
      calls('measure_rain', { city: 'Rome' }),
      done,
      opens('snow'),
      calls('measure_snow', { city: 'Rome' }),
      done,
    ],
    async ({ peer, session, run }) => {
      await run()
      session.dispatch(visibility.events.set({ path: 'rain', visibility: 'full' }))
      await run({ input: 'And the rain?' })
      const { state } = await run({ input: 'And the snow?', stopWhen: () => true })
      const result = await run({ session: createSession(), state, input: 'Go on.' })
      const prefixes = peer.requests().map(getPrefixes)
      expect(prefixes).toHaveLength(8)
      expect(findChanges(prefixes)).toEqual([])
      expect(getTools(getRequest(peer, -1)).slice(-3)).toEqual(['measure_wind', 'measure_rain', 'measure_snow'])
      expect(toolTexts(result).filter(([, , isError]) => isError)).toEqual([])
    },
  )

  test(
    'structured output',
    'R34 returns an answer that fits the output schema, after the model has fixed it',
    [{ says: '{"city":"Rome"}' }, { says: '{"city":"Rome","degrees":21}' }],
    async ({ peer, events, runForOutput }) => {
      expect(await runForOutput()).toMatchObject({ status: 'completed', output: { city: 'Rome', degrees: 21 } })
      const refusals = events.filter(({ type }) => type === 'output/refused')
      expect(refusals).toHaveLength(hasForeignRepairs ? 0 : 1)
      const sent = peer.requests()
      expect(sent).toHaveLength(2)
      if (!getOutputSchema) return
      const [first, fix] = sent.map(getOutputSchema)
      if (sendsOutputSchema === 'always') expect(first).toMatchObject(OUTPUT_SCHEMA)
      else expect(first).toBeUndefined()
      expect(fix).toMatchObject(OUTPUT_SCHEMA)
    },
  )

  test(
    'usage',
    'R33 sums the usage of all requests',
    [
      { ...opens('rain'), usage: { inputTokens: 100, outputTokens: 10 } },
      { ...calls('measure_rain', { city: 'Rome' }), usage: { inputTokens: 200, outputTokens: 20 } },
      { says: 'Done.', usage: { inputTokens: 400, outputTokens: 40 } },
    ],
    async ({ events, run }) => {
      const usage = { inputTokens: 700, outputTokens: 70 }
      const result = await run()
      expect(result).toMatchObject({ usage, state: { usage } })
      const replies = events.filter((event) => event.type === 'reply/received').map((event) => event.usage.inputTokens)
      expect(replies).toEqual([100, 200, 400])
    },
  )

  test(
    'returned usage',
    'R33 R38 returns the usage of an evaluation, so it counts even if no event reported it',
    [
      { ...calls('forecast', { city: 'Rome' }), usage: { inputTokens: 100, outputTokens: 10 } },
      { says: 'Done.', usage: { inputTokens: 200, outputTokens: 20 } },
    ],
    async ({ peer, run }) => {
      const { adapter } = peer
      const quiet = Object.assign(Object.create(adapter) as typeof adapter, {
        evaluate: (evaluation: Evaluation) =>
          adapter.evaluate({
            ...evaluation,
            emit: (event) => evaluation.emit(event.type === 'reply/received' ? { ...event, usage: NO_USAGE } : event),
          }),
      })
      expect(await run({ adapter: quiet })).toMatchObject({ usage: { inputTokens: 300, outputTokens: 30 } })
    },
  )

  test(
    'resume',
    'R35 R39 resumes from a state with the tools that were added before',
    [opens('rain'), done, calls('measure_rain', { city: 'Rome' }), { says: 'Done again.' }],
    async ({ peer, run }) => {
      const { state } = await run()
      const written: unknown = JSON.parse(JSON.stringify(state))
      const result = await run({ state: written as typeof state, input: 'And in Rome?' })
      expect(result.text).toBe('Done again.')
      expect(toolTexts(result).at(-1)).toEqual(['measure_rain', 'rain in Rome: 5.', false])
      expect(getTools(getRequest(peer, 2))).toContain('measure_rain')
    },
  )
}

/** Finds the parts of requests that do not begin with the same part of the previous request. */
function findChanges(prefixes: readonly (readonly string[])[]): readonly unknown[] {
  return prefixes.slice(1).flatMap((parts, index) =>
    parts.flatMap((part, at) => {
      const before = prefixes[index]?.[at]
      const isSame = before !== undefined && part.startsWith(before)
      if (isSame) return []
      return [{ request: index + 2, part: at, was: before, is: part }]
    }),
  )
}
