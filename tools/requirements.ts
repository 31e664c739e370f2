// Lists each requirement of docs/specification.md with the tests that name it, and fails when one has none.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface ListedTest {
  readonly name: string
  readonly file: string
}

/** The parts of vitest's JSON report that matter here. */
interface RunReport {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const specification = readFileSync(`${root}/docs/specification.md`, 'utf8')
const stated = [...specification.matchAll(/^- \*\*(R\d+)\*\* (.*)$/gm)].map((match) => ({
  id: match[1]!,
  text: match[2]!,
}))

const reports = process.argv.slice(2)
const tests = reports.length === 0 ? listTests() : reports.flatMap(readReport)

/** Asks vitest for the names of all tests, which loads every test file. */
function listTests(): readonly ListedTest[] {
  const vitest = `${root}/node_modules/vitest/vitest.mjs`
  const { stdout, stderr, status } = spawnSync(process.execPath, [vitest, 'list', '--json', '--mode', 'all'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) {
    console.error(stderr || stdout)
    process.exit(1)
  }
  return JSON.parse(stdout.slice(stdout.indexOf('['))) as readonly ListedTest[]
}

/** Takes the names from the report of a run. Only tests that passed count. */
function readReport(file: string): readonly ListedTest[] {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as RunReport
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed')
      .map(({ ancestorTitles, title }) => ({ file: name, name: [...ancestorTitles, title].join(' > ') })),
  )
}

const ids = new Set(stated.map(({ id }) => id))
const named = new Set(tests.flatMap(({ name }) => name.match(/\bR\d+\b/g) ?? []))
const unknown = [...named].filter((id) => !ids.has(id))
let without = 0
for (const { id, text } of stated) {
  const own = tests.filter(({ name }) => new RegExp(`\\b${id}\\b`).test(name))
  if (own.length === 0) without += 1
  console.log(`${id.padEnd(4)} ${text.length > 100 ? `${text.slice(0, 99)}…` : text}`)
  for (const { name, file } of own) console.log(`       ${file.slice(root.length)} › ${name}`)
  if (own.length === 0) console.log('       no test names it')
}
console.log(`\n${stated.length} requirements, ${stated.length - without} named by tests, ${without} by none.`)
if (unknown.length > 0)
  console.log(`Tests name requirements that the specification does not state: ${unknown.join(', ')}.`)
// Not process.exit, because output to a pipe may not have left the process yet.
process.exitCode = without > 0 || unknown.length > 0 || stated.length === 0 ? 1 : 0
