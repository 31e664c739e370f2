// Measures the source of the packages: `npm run -s house -- [folder] [--all] [--json] [--ratchet]`.
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { getMeasures, readRatchet, tightenRatchet } from './goals.ts'
import { measureHabits } from './habits.ts'
import { measureHouse } from './measure.ts'
import { formatReport } from './report.ts'
import { readSources } from './sources.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ratchetFile = join(root, 'test/house-ratchet.json')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    ratchet: { type: 'boolean', default: false },
  },
})
const [folder = ''] = positionals
const under = folder === '' ? '' : relative(root, join(root, folder))
const house = measureHouse(readSources(root), under)
const habits = under === '' ? measureHabits(root) : undefined
const measures = getMeasures(house, habits)
if (values.ratchet && habits) tightenRatchet(ratchetFile, measures)
if (values.json) console.log(JSON.stringify({ ...house, ...habits, measures }))
else console.log(formatReport(house, habits, { all: values.all, ratchet: readRatchet(ratchetFile) }))
