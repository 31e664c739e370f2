import { describe, expect, it } from 'vitest'
import { definePrompt, defineSection, defineTool, ok, runAgent } from '../entries/index.ts'
import { advise, createRecorder, readRecording, type Recording } from '../entries/telemetry.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'

const createTool = (name: string) =>
  defineTool({
    name,
    description: 'Returns a text.',
    params: { type: 'object' },
    execute: () => ok(`${name}: ${'many orders, none of them late. '.repeat(300)}`),
  })
const bound = definePrompt({
  ns: 'test',
  key: 'reports',
  sections: [
    defineSection({
      key: 'task',
      title: 'Task',
      template: 'Read.',
      tools: [createTool('get_contract'), createTool('get_log')],
    }),
  ],
}).bind({})

/** Contracts are needed again and again, logs never. */
const script: readonly ScriptStep[] = [
  calls('get_contract'),
  ...Array.from({ length: 40 }, (_, n) =>
    n % 3 === 2 ? calls('read_result', { result: 'r1', from: n }) : calls('get_log', { n }),
  ),
  says('Done.'),
]

async function record(): Promise<Recording> {
  const recorder = createRecorder({ prompt: bound })
  const refold = { at: 20_000, keepTurns: 2 }
  await runAgent(bound, {
    adapter: scriptedAdapter(script),
    input: 'Go.',
    refold,
    maxTurns: 100,
    onEvent: recorder.onEvent,
  })
  return readRecording(JSON.parse(JSON.stringify(recorder.recording())))
}

describe('R69 folds and read-backs are recorded', () => {
  it('with reason, tokens, cost and gain, by request and tool', async () => {
    const [run] = (await record()).runs
    expect(run?.folds?.length).toBeGreaterThan(0)
    expect(run?.folds?.[0]).toMatchObject({ reason: 'price', callIds: expect.arrayContaining(['call-1-1']) })
    expect(run?.folds?.every(({ context, freed }) => context >= 20_000 && freed > 0)).toBe(true)
    expect(new Set(run?.readBacks?.map(({ tool }) => tool))).toEqual(new Set(['get_contract']))
    const sizes = run?.requests.map(({ conversationTokens }) => conversationTokens) ?? []
    expect(Math.max(...sizes)).toBeLessThan(30_000)
  })

  it('and advise proposes options from them, with the money', async () => {
    const recordings = await Promise.all([record(), record(), record()])
    const advice = advise(recordings, { prompt: bound }).find(({ type }) => type === 'refold')
    expect(advice?.refold?.keep).toEqual(['get_contract'])
    expect(advice?.saved.tokens).toBeGreaterThan(0)
    expect(advice?.saved.requests).toBeGreaterThan(0)
    expect(advice?.message).toMatch(
      /^Fold with refold: \{ at: \d+, keepTurns: \d+, keep: \['get_contract'\] \}: over 3 runs/,
    )
    expect(advise(recordings.slice(0, 2), { prompt: bound }).filter(({ type }) => type === 'refold')).toEqual([])
  })
})
