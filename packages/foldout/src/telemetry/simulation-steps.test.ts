import { describe, expect, it } from 'vitest'
import { openSections, readSection } from '../entries/index.ts'
import { calls, callsAll, says } from '../testing/scripted-adapter.ts'
import { createRecorder } from './recorder.ts'
import { toSimulationSteps } from './simulation-steps.ts'
import { runShop, shop, words } from './shop.fixtures.ts'
import { simulate } from './simulate/simulate.ts'

describe('the steps of a recorded run', () => {
  const input = 'Sell me a cake.'
  const script = [
    calls('read_section', { section_key: 'cart' }),
    callsAll(['add', {}], ['look', {}]),
    calls('read_section', { section_key: 'nowhere' }),
    says('Done.'),
  ]

  it("R40 contain the model's openings, calls and answer", async () => {
    const bound = shop()
    const recorder = createRecorder({ prompt: bound, input, counter: words })
    await runShop(script, { bound, onEvent: recorder.onEvent })
    expect(toSimulationSteps(recorder.recording().runs[0]!)).toEqual([
      { opens: ['cart'] },
      {
        calls: [
          { name: 'add', argumentsTokens: 1, resultTokens: 3 },
          { name: 'look', argumentsTokens: 1, resultTokens: 1 },
        ],
      },
      { answers: 5 },
    ])
  })

  it("R40 cost the recorded amount when simulated with the run's own strategy and adapter", async () => {
    const runs = [
      { strategy: readSection(), adapter: 'dynamic' },
      { strategy: readSection(), adapter: 'restart' },
      { strategy: openSections(), adapter: 'dynamic' },
    ] as const
    for (const { strategy, adapter } of runs) {
      const bound = shop()
      const recorder = createRecorder({ prompt: bound, input, counter: words, disclosure: strategy })
      const opening =
        strategy.name === 'openSections'
          ? calls('open_sections', { section_keys: ['cart'], reason: '' })
          : calls('read_section', { section_key: 'cart' })
      await runShop([opening, calls('add'), says('Done.')], {
        bound,
        disclosure: strategy,
        scripted: { supportsDynamicTools: adapter === 'dynamic' },
        onEvent: recorder.onEvent,
      })
      const [run] = recorder.recording().runs
      const simulated = await simulate(
        { prompt: shop(), input, steps: toSimulationSteps(run!) },
        { strategy, adapter, counter: words },
      )
      expect(simulated.requests.map(({ tools, system, messages }) => tools + system + messages)).toEqual(
        run!.requests.map((each) => each.toolTokens + each.systemTokens + each.conversationTokens),
      )
      expect(simulated.restarts).toBe(run!.restarts.length)
    }
  })
})
