import { describe, expect, it } from 'vitest'
import { compare, runArm, type CompareArm, type CompareCase } from '../entries/compare.ts'
import { says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { createCases, createModel, desk } from './compare.fixtures.ts'

const adapter = () => scriptedAdapter([says('Done.')])
const task: CompareCase = { id: 'a', input: 'Hi.' }

describe('a run of one arm', () => {
  it('R80 goes as in a comparison of the same arms on the same cases', async () => {
    const cases = createCases(6).map((each) => ({ ...each, needs: [each.id.replace(/-\d+$/, '')] }))
    const arms: Record<string, CompareArm> = { full: { prompt: desk, open: 'all' }, folded: { prompt: desk } }
    const options = { adapter: () => createModel({ misses: 1 }), prices: { input: 3, output: 15 } }
    const report = await compare({ cases, arms, ...options })
    for (const [name, arm] of Object.entries(arms)) {
      const runs = await Promise.all(cases.map((each) => runArm(arm, each, options)))
      const passed = runs.filter(({ score }) => score === 1).length
      expect(passed / cases.length).toBe(report.arms[name]?.success)
      expect(runs.flatMap(({ missed }) => missed)).toEqual(
        report.arms[name]?.openings.missed.map(({ path }) => path).sort(),
      )
    }
    expect(report.arms['folded']?.success).toBeLessThan(1)
  })

  it('R80 returns what was said and called, with the grades, the openings and the cost', async () => {
    const [refund] = createCases(1)
    const options = { adapter: () => createModel(), prices: { input: 1_000_000, output: 1_000_000 } }
    const run = await runArm({ prompt: desk }, { ...refund, id: 'a', needs: ['refunds', 'cards'] }, options)
    expect(run).toMatchObject({
      text: 'Done.',
      answers: ['Done.'],
      calls: [{ name: 'do_refunds', ok: true }],
      opened: ['refunds'],
      missed: ['cards'],
      grades: { calls: 1 },
      usage: { inputTokens: 2_700, outputTokens: 60 },
      costUsd: 2_760,
    })
    expect(run.requests).toHaveLength(3)
  })

  it('R80 needs neither expectations nor prices', async () => {
    const run = await runArm({ prompt: desk }, task, { adapter })
    expect(run).toMatchObject({ text: 'Done.', grades: {}, score: 1, error: null, costUsd: null, missed: [] })
  })

  it('R80 makes an error of the model or a grader part of the result', async () => {
    const broken = () => scriptedAdapter([{ throws: new Error('The line is dead.') }])
    const failed = await runArm({ prompt: desk }, task, { adapter: broken })
    expect(failed).toMatchObject({ status: 'failed', score: 0, text: '' })
    expect(failed.error).toContain('The line is dead.')
    const grade = { odd: () => 7 }
    expect((await runArm({ prompt: desk }, task, { adapter, grade })).error).toContain(
      "The grader 'odd' returned neither",
    )
  })

  it('R80 rejects what cannot be run before anything is sent', async () => {
    const nobody = { prompt: desk } as CompareArm
    const rejects = async (run: Promise<unknown>, message: RegExp): Promise<void> =>
      expect(run).rejects.toMatchObject({ code: 'compare-invalid', message: expect.stringMatching(message) as string })
    await rejects(runArm(nobody, task), /The arm has no model/)
    await rejects(runArm({} as CompareArm, task, { adapter }), /The arm has no prompt/)
    await rejects(runArm(undefined as unknown as CompareArm, task, { adapter }), /The arm has no prompt/)
    await rejects(runArm(nobody, { id: 'a', user: 'Wants money.' }, { adapter }), /nobody plays users/)
    await rejects(runArm(nobody, { ...task, state: 1 }, { adapter }), /has a state, but nothing reads it/)
    await rejects(runArm(nobody, task, { adapter, maxUserTurns: 0 }), /maxUserTurns is 0/)
    await rejects(runArm(nobody, null as unknown as CompareCase, { adapter }), /cases\[0\]/)
  })

  it('R80 rejects if it is cancelled', async () => {
    const reason = new Error('Enough.')
    const signal = AbortSignal.abort(reason)
    await expect(runArm({ prompt: desk }, task, { adapter, signal })).rejects.toBe(reason)
    const controller = new AbortController()
    const late = (): never => {
      controller.abort(reason)
      throw reason
    }
    await expect(runArm({ prompt: desk, adapter: late }, task, { signal: controller.signal })).rejects.toBe(reason)
  })
})
