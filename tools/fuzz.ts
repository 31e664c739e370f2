// Sends random hostile input through every door of test/doors: npm run fuzz -- [--cases n] [--seed n] [--door name]
import { inspect, parseArgs } from 'node:util'
import { fuzz } from '../test/doors/fuzz.ts'
import { DOORS } from '../test/doors/registry.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    door: { type: 'string', default: '' },
  },
})
const cases = Number(values.cases)
const seed = Number(values.seed)
if (
  !Number.isInteger(cases) ||
  cases < 1 ||
  !Number.isInteger(seed) ||
  !DOORS.some(({ name }) => name.includes(values.door))
) {
  console.error(
    `--cases and --seed must be whole numbers; --door must be part of a name: ${DOORS.map(({ name }) => name).join(', ')}.`,
  )
  process.exit(2)
}

console.log(`${cases} cases, seed ${seed}${values.door === '' ? '' : `, doors with '${values.door}'`}`)
process.on('unhandledRejection', (error) => {
  console.error('Unhandled rejection:', error)
  process.exit(1)
})
const start = performance.now()
const failure = await fuzz({
  cases,
  seed,
  door: values.door,
  onProgress(done) {
    if (done % Math.max(1, Math.ceil(cases / 20)) === 0)
      console.log(`${done} of ${cases} after ${Math.round((performance.now() - start) / 1_000)} s`)
  },
})
if (failure) {
  console.error(`\nThe door '${failure.door}' failed:`, failure.error)
  console.error(`Input: ${inspect(failure.input, { depth: 4, maxStringLength: 2_000 })}`)
  console.error(`To repeat: npm run fuzz -- --door '${failure.door}' --seed ${failure.seed} --cases 1`)
  process.exit(1)
}
console.log('Every door accepted or refused every input.')
