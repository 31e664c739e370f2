// Runs both arms on every case by the real promptfoo. Nothing is sent to anybody: no telemetry, no updates, no sharing.
import { writeFileSync } from 'node:fs'
import promptfoo from 'promptfoo'
import { arms, cases } from '../../examples/evals/desk.ts'
import { createProvider, toTest } from '../../examples/evals/promptfoo.ts'

const [output] = process.argv.slice(2)
const prices = { input: 3, output: 15 }
const evaluation = await promptfoo.evaluate(
  {
    prompts: ['{{input}}'],
    providers: Object.entries(arms).map(([name, arm]) => createProvider(name, arm, { prices })),
    tests: cases.map(toTest),
    writeLatestResults: false,
    sharing: false,
  },
  { cache: false, showProgressBar: false, maxConcurrency: 1 },
)
const { results } = await evaluation.toEvaluateSummary()
writeFileSync(output, JSON.stringify(results))
process.exit()
