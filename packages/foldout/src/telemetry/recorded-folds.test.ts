import { describe, expect, it } from 'vitest'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type AgentEvent,
  type AgentOptions,
} from '../entries/index.ts'
import { defineLog, resultsFolded, visibility } from '../entries/session.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { keepingMeter, keepingTracer } from './opentelemetry/in-memory.fixtures.ts'
import { createOpenTelemetryListener } from './opentelemetry/opentelemetry.ts'
import { createRecorder } from './recorder.ts'
import { readRecording } from './recording.ts'

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  execute: ({ n }) => ok(`report ${String(n)}: ${'many orders, none of them late. '.repeat(120)}`),
})
const createGuide = (isOpen: boolean) =>
  defineSection({
    key: 'guide',
    title: 'Guide',
    summary: 'How to write.',
    visibility: isOpen ? 'full' : 'summary',
    template: 'Write short sentences. '.repeat(50),
  })
const createPrompt = (isOpen: boolean) =>
  definePrompt({
    ns: 'test',
    key: 'folds',
    sections: [
      defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report] }),
      createGuide(isOpen),
    ],
  }).bind({})

const folds = defineLog({ name: 'folds', of: [resultsFolded] })
const reports = (count: number): ScriptStep[] => Array.from({ length: count }, (_, n) => calls('get_report', { n }))

/** The folds of a run, as listeners, the journal, a recording and OpenTelemetry have them. */
async function run(
  script: readonly ScriptStep[],
  { isOpen = false, ...options }: Partial<AgentOptions> & { isOpen?: boolean },
) {
  const bound = createPrompt(isOpen)
  const events: AgentEvent[] = []
  const recorder = createRecorder({ prompt: bound, input: 'Go.' })
  const { tracer, spans } = keepingTracer()
  const trace = createOpenTelemetryListener({ system: 'test', model: 'test', tracer, meter: keepingMeter().meter })
  const session = createSession({ slices: [folds] })
  const onEvent = (event: AgentEvent): void => {
    events.push(event)
    recorder.onEvent(event)
    trace(event)
  }
  await runAgent(bound, { adapter: scriptedAdapter(script), session, input: 'Go.', onEvent, ...options })
  const told = events.flatMap((event) => {
    if (event.type !== 'results/folded') return []
    const { type: _type, ...fold } = event
    return [fold]
  })
  const recording = readRecording(JSON.parse(JSON.stringify(recorder.recording())))
  return {
    told,
    session,
    logged: [...session.get(folds)].map(({ payload }) => payload),
    recorded: recording.runs.flatMap((one) => one.folds ?? []).map(({ request: _request, ...fold }) => fold),
    traced: spans.flatMap((span) => span.events.filter(({ name }) => name === 'foldout.folded')),
  }
}

const open = calls('read_section', { section_key: 'guide' })

describe('R70 each fold is in the journal, in recordings and in traces, with its reason and its numbers', () => {
  it.each<[string, readonly ScriptStep[], Partial<AgentOptions>, object]>([
    ['of old results', [...reports(12), says('Done.')], { refold: { at: 6_000, keepTurns: 2 } }, { reason: 'size' }],
    [
      'of a result as it arrives',
      [...reports(2), says('Done.')],
      { refold: { at: 6_000, largeTokens: 500 } },
      { reason: 'large', callIds: ['call-1-1'] },
    ],
    [
      'of a section that is not used',
      [open, ...reports(12), says('Done.')],
      { refold: { at: 6_000, keepTurns: 2, closeAfter: 3 } },
      { sections: ['guide'] },
    ],
    [
      'that a hook asks for',
      [...reports(4), says('Done.')],
      { beforeRequest: ({ messages }) => (messages.length === 7 ? { results: ['call-1-1', 'call-2-1'] } : undefined) },
      { reason: 'asked', callIds: ['call-1-1', 'call-2-1'] },
    ],
    [
      'of turns that are summarized',
      [...reports(12), says('Done.')],
      { contextWindow: 8_000, refold: { at: 7_000, minTokens: 5_000, keepTurns: 3, summarize: () => 'Read.' } },
      { reason: 'summary', summarized: expect.any(Number) },
    ],
  ])('%s', async (_name, script, options, fold) => {
    const { told, logged, recorded, traced } = await run(script, options)
    expect(told[0]).toMatchObject(fold)
    expect(logged).toEqual(told)
    expect(recorded).toEqual(told)
    expect(traced.map(({ attributes }) => attributes)).toEqual(
      told.map(({ reason, callIds, context, freed, cost, gain, sections, summarized }) => ({
        'foldout.fold.reason': reason,
        'foldout.fold.results': callIds.length,
        'foldout.fold.context': context,
        'foldout.fold.freed': freed,
        'foldout.fold.cost': cost,
        'foldout.fold.gain': gain,
        ...(sections && { 'foldout.fold.sections': sections }),
        ...(summarized !== undefined && { 'foldout.fold.summarized': summarized }),
      })),
    )
    for (const { freed, gain, context } of told) {
      expect(freed).toBeGreaterThan(0)
      expect(freed).toBeLessThan(context)
      expect(gain).toBe(Math.round(freed * 0.1))
    }
  })

  it('when a hook closes a section that no result shows', async () => {
    const beforeRequest: AgentOptions['beforeRequest'] = ({ messages }) =>
      messages.length === 3 ? { sections: ['guide'] } : undefined
    const { told, logged, recorded, traced, session } = await run([...reports(3), says('Done.')], {
      isOpen: true,
      beforeRequest,
    })
    expect(session.get(visibility)).toEqual({ guide: 'summary' })
    expect(told).toMatchObject([{ callIds: [], reason: 'asked', sections: ['guide'] }])
    expect(logged).toEqual(told)
    expect(recorded).toEqual(told)
    expect(traced).toHaveLength(1)
  })
})
