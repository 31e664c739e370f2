import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { unpackVectors } from '../../packages/foldout/src/catalog/search/vectors/vectors.ts'
import { readCorpus, readDevSets, readTrainingSets } from './data.ts'
import { prepare } from './evaluate.ts'
import { readGlove } from './glove.ts'
import { learn, SETTINGS, type Settings } from './learn.ts'
import { formatModules, pack } from './pack.ts'
import { report } from './report.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')
const WEIGHTS = [0, 0.3, 0.6, 1, 1.5, Infinity]

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(ROOT, '..', 'shared', 'data') },
    out: { type: 'string', default: join(ROOT, 'packages/foldout/word-vectors') },
    /** A setting and its value, such as `steps=400`; repeatable. */
    set: { type: 'string', multiple: true, default: [] },
    /** Score the development sets with at most this many queries each. */
    queries: { type: 'string', default: 'Infinity' },
    /** Do not write the package's table. */
    'dry-run': { type: 'boolean', default: false },
  },
})

const started = Date.now()
const tell = (message: string): void => console.log(`${((Date.now() - started) / 1000).toFixed(0)} s  ${message}`)
const settings: Settings = { ...SETTINGS, ...Object.fromEntries(values.set.map(readSetting)) }

tell('reading')
const material = { corpus: readCorpus(values.data), sets: readTrainingSets(values.data), general: readGlove() }
const { model, vocabulary } = await learn(material, settings, tell)
const packed = pack(model, vocabulary.words)
const modules = formatModules(packed)
if (!values['dry-run']) {
  for (const file of readdirSync(values.out)) if (/^word-vectors-\d+\.js$/.test(file)) rmSync(join(values.out, file))
  for (const [file, source] of modules) writeFileSync(join(values.out, file), source)
}
const bytes = [...modules.values()].reduce((sum, source) => sum + source.length, 0)
tell(`${(bytes / 1e6).toFixed(2)} MB; what fields weigh: ${JSON.stringify(packed.fields)}`)

const vectors = unpackVectors(packed)
const devSets = readDevSets(values.data).map((set) => prepare(set, Number(values.queries)))
const encoder = { dimensions: vectors.dimensions, query: vectors.computeVector, tool: vectors.computeToolVector }
console.log(report(devSets, encoder, WEIGHTS))
tell('done')

function readSetting(text: string): readonly [string, number | boolean] {
  const [name = '', value = ''] = text.split('=')
  if (!(name in SETTINGS))
    throw new Error(`There is no setting ${name}. Choose from: ${Object.keys(SETTINGS).join(', ')}.`)
  return [name, value === 'true' || (value === 'false' ? false : Number(value))]
}
