// evalite: `evalite('The desk', { data: cases.map((input) => ({ input })), task: createTask(arm), scorers: [graded] })`.
import { runArm, type ArmRun, type CompareArm, type CompareCase, type ArmRunOptions } from 'foldout/compare'

/** A task that runs an arm on a case. Its output is the whole run: the text, calls, openings, usage and cost. */
export const createTask =
  (arm: CompareArm, options: ArmRunOptions = {}) =>
  async (task: CompareCase): Promise<ArmRun> => {
    const run = await runArm(arm, task, options)
    if (run.error !== null) throw new Error(run.error)
    return run
  }

/** The grades of the case. */
export const graded = {
  name: 'graded',
  scorer: ({ output }: { readonly output: ArmRun }) => ({
    score: output.score,
    metadata: { grades: output.grades, opened: output.opened, missed: output.missed, costUsd: output.costUsd },
  }),
}

/** The columns of evalite's table. */
export const columns = ({ input, output }: { readonly input: CompareCase; readonly output: ArmRun }) => [
  { label: 'Case', value: input.id },
  { label: 'Answer', value: output.text },
  { label: 'Opened', value: output.opened.join(', ') },
  { label: 'Missed', value: output.missed.join(', ') },
]
