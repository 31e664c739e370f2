import { describe, expect, it } from 'vitest'
import { runAgent } from '../agent/loop/run-agent.ts'
import { compareDelegating } from '../core/price/delegate.ts'
import { definePrompt, defineSection, defineTool, ok, type BoundPrompt } from '../entries/index.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'
import { advise, type AdviseOptions } from './advise.ts'
import { createRecorder } from './recorder.ts'
import { words } from './shop.fixtures.ts'

const repeat = (word: string, count: number): string => Array.from({ length: count }, () => word).join(' ')

function makeDesk(delegate: boolean): BoundPrompt<{}> {
  const look = (name: string, length: number) =>
    defineTool({ name, description: 'Looks.', execute: () => ok(repeat('found', length)) })
  return definePrompt({
    ns: 'desk',
    key: 'desk',
    sections: [
      defineSection({ key: 'role', title: 'Role', template: repeat('rule', 5_000), tools: [look('scan', 50)] }),
      defineSection({
        key: 'orders',
        title: 'Orders',
        template: repeat('order', 3_000),
        summary: 'About orders.',
        visibility: 'summary',
        delegate,
        tools: [look('find_order', 800)],
      }),
    ],
  }).bind()
}

async function record(bound: BoundPrompt<{}>, scripts: readonly (readonly ScriptStep[])[]) {
  const recorder = createRecorder({ prompt: bound, input: 'Go.', counter: words })
  for (const script of scripts)
    await runAgent(bound, { adapter: scriptedAdapter(script), input: 'Go.', counter: words, onEvent: recorder.onEvent })
  return recorder.recording()
}

const open = calls('read_section', { section_key: 'orders' })
const find = calls('find_order')
const scan = calls('scan')
const rare = [scan, says('Done.')]
const busy = [open, find, find, find, ...Array.from({ length: 6 }, () => scan), says('Done.')]
const runs = [busy, busy, busy, rare, rare, rare, rare]

const adviceOn = async (scripts: readonly (readonly ScriptStep[])[], more: Partial<AdviseOptions> = {}) => {
  const prompt = makeDesk(false)
  const found = advise([await record(prompt, scripts)], { prompt, ...more })
  return found.filter(({ type }) => type === 'delegate-section')
}

describe('R83 advice about delegates', () => {
  it('R83 names a section whose openings cost more than questions would, by the same formula', async () => {
    const [advice] = await adviceOn(runs)
    expect(advice).toMatchObject({ path: 'orders', runs: 7, used: 3 })
    // Three requests call the tool behind 5,000 words of the role, and seven later ones read everything again.
    const { opening, asking } = compareDelegating({
      context: 5_040,
      section: 3_007,
      requests: 3,
      results: 2_403,
      later: 7,
    })
    expect(advice?.saved.tokens).toBeGreaterThan((opening - asking) * 3 * 0.95)
    expect(advice?.saved.tokens).toBeLessThan((opening - asking) * 3 * 1.05)
    expect(advice?.message).toMatch(
      /^Delegate section 'orders' \(delegate: true\): 3 runs opened it, which cost about [\d,]+ tokens with a prompt cache\. Questions about it would have cost \d+ % less, if the model only needs answers\. A cheaper model saves more\.$/,
    )
  })

  it('R83 saves more on a cheaper model, and nothing on a dearer one', async () => {
    const [same] = await adviceOn(runs)
    const [cheap] = await adviceOn(runs, { delegate: { rate: 0.2 } })
    expect(cheap?.saved.tokens).toBeGreaterThan(same?.saved.tokens ?? Infinity)
    expect(await adviceOn(runs, { delegate: { rate: 5 } })).toEqual([])
  })

  it('R83 says nothing about sections that are read at the end, opened rarely, or delegated already', async () => {
    const late = [scan, open, says('Done.')]
    expect(await adviceOn([late, late, late, rare, rare, rare, rare])).toEqual([])
    expect(await adviceOn([busy, busy, rare, rare, rare])).toEqual([])
    const prompt = makeDesk(true)
    const found = advise([await record(makeDesk(false), runs)], { prompt })
    expect(found.filter(({ type }) => type === 'delegate-section')).toEqual([])
  })
})
