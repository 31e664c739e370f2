// The quick checks, to run often: format, lint and types; with --all also unused code, as in `npm test`.
// They run concurrently; the output of failed checks is printed at the end.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './packages.mjs'

const cache = join(repository, 'node_modules/.cache/foldout')
mkdirSync(cache, { recursive: true })

const CHECKS = {
  format: ['oxfmt', '--check', '.'],
  lint: ['oxlint', '--type-aware', '--quiet'],
  types: ['tsc', '-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', join(cache, 'types.tsbuildinfo')],
  page: ['tsc', '-p', 'packages/foldout-mcp/page'],
}
if (process.argv.includes('--all'))
  CHECKS.unused = ['knip', '--no-progress', '--cache', '--cache-location', join(cache, 'knip')]
const HINTS = { format: 'Some files are not formatted. Run: npm run more -- format' }

const began = performance.now()
const results = await Promise.all(Object.entries(CHECKS).map(([name, command]) => run(name, command)))
const failed = results.filter(({ code }) => code !== 0)
for (const { name, output } of failed) console.error(`\n${name}:\n${HINTS[name] ?? output.trimEnd()}`)
const times = results.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`).join(', ')
const verdict = failed.length === 0 ? 'All checks pass' : `Failed: ${failed.map(({ name }) => name).join(', ')}`
console.error(`${failed.length === 0 ? '' : '\n'}${verdict} (${times}; ${getSeconds(began).toFixed(1)} s in all).`)
process.exitCode = failed.length === 0 ? 0 : 1

function run(name, [command, ...args]) {
  const start = performance.now()
  return new Promise((resolve) => {
    const child = spawn(join(repository, 'node_modules/.bin', command), args, { cwd: repository })
    let output = ''
    const hear = (chunk) => {
      output += chunk
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('error', (error) => resolve({ name, code: 1, output: error.message, seconds: getSeconds(start) }))
    child.on('close', (code) => resolve({ name, code, output, seconds: getSeconds(start) }))
  })
}

function getSeconds(start) {
  return (performance.now() - start) / 1_000
}
