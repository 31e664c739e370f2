import { beforeAll, describe, expect, it } from 'vitest'
import { calls, says } from '../testing/scripted-adapter.ts'
import { advise } from './advise.ts'
import { toSimulationSteps } from './simulation-steps.ts'
import { createRecorder } from './recorder.ts'
import { readRecording, type RecordedRun } from './recording.ts'
import { runShop, shop } from './shop.fixtures.ts'

let run: RecordedRun
beforeAll(async () => {
  const bound = shop()
  const recorder = createRecorder({ prompt: bound })
  const script = [calls('read_section', { section_key: 'cart' }), calls('add'), says('Done.')]
  await runShop(script, { bound, onEvent: recorder.onEvent })
  const [recorded] = recorder.recording().runs
  run = recorded ?? expect.unreachable('Nothing was recorded.')
})

const nest = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

describe('a recording from a file', () => {
  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => 'x'.repeat(1_000_000)],
    ['a list', () => []],
    ['nested without end', () => nest(100_000)],
    ['a version nested without end', () => ({ version: nest(100_000), runs: [] })],
    ['runs nested without end', () => ({ version: 1, runs: nest(100_000) })],
    ['a run nested without end', () => ({ version: 1, runs: [{ ...run, usage: nest(100_000) }] })],
    ['only a prototype', () => JSON.parse('{"__proto__": {"version": 1, "runs": []}}')],
    ['a run whose fields are on a prototype', () => ({ version: 1, runs: [Object.create(run)] })],
    ['another version', () => ({ version: 2, runs: [] })],
    ['many malformed runs', () => ({ version: 1, runs: Array.from({ length: 20_000 }, () => ({})) })],
    ['a long text for a number', () => ({ version: 1, runs: [{ ...run, usage: 'x'.repeat(1_000_000) }] })],
    ['a missing render', () => ({ version: 1, runs: [{ ...run, renders: [] }] })],
    ['a missing request', () => ({ version: 1, runs: [{ ...run, requests: [] }] })],
    ['a negative count', () => ({ version: 1, runs: [{ ...run, usage: { ...run.usage, inputTokens: -1 } }] })],
  ])('R40 is rejected with the reason if it is %s', (_what, create) => {
    const read = (): unknown => readRecording(create())
    expect(read).toThrow(
      expect.objectContaining({
        code: 'recording-invalid',
        message: expect.stringMatching(
          /^This is not a recording of version 1: .{5,320}\. Record the runs again/s,
        ) as string,
      }),
    )
  })

  it('R40 is accepted with unknown fields and with names from Object.prototype', () => {
    const odd = JSON.parse(JSON.stringify({ ...run, prompt: { ns: '__proto__', key: 'constructor' } })) as RecordedRun
    const tool = { name: '__proto__', tokens: 1 }
    const recording = readRecording({ version: 1, more: nest(100_000), runs: [{ ...odd, disclosureTools: [tool] }] })
    expect(advise([recording], { prompt: shop(), minRuns: 1 })).toEqual([])
    expect(toSimulationSteps(odd)).toEqual(toSimulationSteps(run))
  })

  it('R40 may be long', () => {
    const [request] = run.requests
    const [call] = run.toolCalls
    const requests = Array.from({ length: 5_000 }, () => request)
    const toolCalls = requests.map((_, at) => ({ ...call, request: at, callId: `call-${at}` }))
    const long = { ...run, requests, toolCalls }
    const recording = readRecording({ version: 1, runs: [long, long, long] })
    expect(toSimulationSteps(recording.runs[0] ?? run).length).toBeLessThanOrEqual(5_001)
    expect(advise([recording], { prompt: shop() }).length).toBeLessThan(10)
  })
})
