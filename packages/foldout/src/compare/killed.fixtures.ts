// A comparison in a process of its own, which another process kills. Every request that is paid is a line of a file.
import { appendFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { compare } from '../entries/compare.ts'
import { createCases, createModel, desk } from './compare.fixtures.ts'

const [, , save = '', paid = ''] = process.argv
const report = await compare({
  cases: createCases(12),
  arms: { full: { prompt: desk, open: 'all' }, folded: { prompt: desk } },
  repeat: 2,
  adapter: ({ arm, case: { id }, repeat }) => {
    const model = createModel()
    return {
      ...model,
      async evaluate(evaluation) {
        const result = await model.evaluate(evaluation)
        // The run is paid; it is saved soon after.
        appendFileSync(paid, `${arm} ${id} ${repeat}\n`)
        await setImmediate()
        return result
      },
    }
  },
  save,
})
process.stdout.write(JSON.stringify(report))
