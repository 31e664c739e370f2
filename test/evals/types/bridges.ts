// Compiled by the test next to this folder, with the types of the real packages.
import { createHarness } from 'vitest-evals'
import { evalite } from 'evalite'
import { arms, cases } from '../../../examples/evals/desk.ts'
import { runsArm } from '../../../examples/evals/vitest-evals.ts'
import { columns, createTask, graded } from '../../../examples/evals/evalite.ts'
export const harness = createHarness(runsArm('folded', arms.folded))
evalite('a', { data: cases.map((input) => ({ input })), task: createTask(arms.folded), scorers: [graded], columns })
