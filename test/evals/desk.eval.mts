// Runs in evalite: both arms on every case.
import { evalite } from 'evalite'
import { arms, cases } from '../../examples/evals/desk.ts'
import { columns, createTask, graded } from '../../examples/evals/evalite.ts'

for (const [name, arm] of Object.entries(arms)) {
  const task = createTask(arm, { prices: { input: 3, output: 15 } })
  evalite(name, { data: cases.map((input) => ({ input })), task, scorers: [graded], columns })
}
