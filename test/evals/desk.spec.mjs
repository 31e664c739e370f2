// Runs in the vitest of this folder: both arms on every case, by the real vitest-evals.
import { expect } from 'vitest'
import { createHarness, createJudge, describeEval, toolCalls } from 'vitest-evals'
import { arms, cases } from '../../examples/evals/desk.ts'
import { runsArm } from '../../examples/evals/vitest-evals.ts'

const graded = createJudge('graded', ({ run }) => ({ score: Math.min(...Object.values(run.artifacts.grades)) }))

for (const [name, arm] of Object.entries(arms)) {
  const harness = createHarness(runsArm(name, arm, { prices: { input: 3, output: 15 } }))
  describeEval(name, { harness, judges: [graded], judgeThreshold: 1 }, (it) => {
    it.for(cases)('$id', async (task, { run }) => {
      const result = await run(task)
      const called = toolCalls(result).map((call) => call.name)
      expect(called).toEqual(task.calls?.map((call) => call.name) ?? [])
    })
  })
}
