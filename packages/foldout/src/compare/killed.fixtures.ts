// A comparison in a process of its own, which is killed as soon as its file has a number of runs, if one is given. Every
// request that is paid is a line of a file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { compare } from '../entries/compare.ts'
import { createCases, createModel, desk } from './compare.fixtures.ts'

const [, , save = '', paid = '', most = 'Infinity'] = process.argv
const countRuns = (): number => (existsSync(save) ? readFileSync(save, 'utf8').split('"type":"run"').length - 1 : 0)

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
        if (countRuns() >= Number(most)) process.kill(process.pid, 'SIGKILL')
        await setImmediate()
        return result
      },
    }
  },
  save,
})
process.stdout.write(JSON.stringify(report))
