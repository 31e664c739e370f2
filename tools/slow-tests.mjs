// Prints the slowest test files of the last run: `npm run -s more -- slow`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './packages.mjs'

const cache = join(repository, 'node_modules/.vite/vitest')
const [folder] = readdirSync(cache)
const { results } = JSON.parse(readFileSync(join(cache, folder, 'results.json'), 'utf8'))
const files = results.map(([file, { duration }]) => ({ file: file.replace(/^:/, ''), seconds: duration / 1_000 }))
const total = files.reduce((sum, { seconds }) => sum + seconds, 0)
for (const { file, seconds } of files.sort((a, b) => b.seconds - a.seconds).slice(0, 25)) {
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${file}`)
}
console.log(`${total.toFixed(1).padStart(6)} s  in ${files.length} files, shared by the processors`)
