// Compiled by the test next to this folder, with the types of the real packages.
import promptfoo from 'promptfoo'
import { arms, cases } from '../../../examples/evals/desk.ts'
import { createProvider, toTest } from '../../../examples/evals/promptfoo.ts'
await promptfoo.evaluate({
  prompts: ['{{input}}'],
  providers: [createProvider('folded', arms.folded)],
  tests: cases.map(toTest),
})
