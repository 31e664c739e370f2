// Runs the evaluation in this folder, with results in memory: evalite's database needs an install script.
import { createInMemoryStorage } from 'evalite/in-memory-storage'
import { runEvalite } from 'evalite/runner'

const [outputPath] = process.argv.slice(2)
await runEvalite({
  cwd: import.meta.dirname,
  mode: 'run-once-and-exit',
  storage: createInMemoryStorage(),
  outputPath,
  hideTable: true,
})
