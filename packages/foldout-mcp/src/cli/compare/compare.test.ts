import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ComparePlan, CompareReport } from 'foldout/compare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { runCommand } from '../main.ts'
import { adapter, arms, clerk } from './desk.fixtures.ts'

const DESK = join(import.meta.dirname, 'desk.fixtures.ts')

let folder = ''
let cases = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'foldout-compare-')))
  cases = write(
    'cases.jsonl',
    Array.from({ length: 24 }, (_, i) =>
      JSON.stringify({ id: String(i), input: 'Refund it.', calls: [{ name: 'refund_order' }] }),
    ).join('\n'),
  )
})
afterAll(() => removeFolder(folder))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  const code = await runCommand(['node', 'foldout', 'compare', ...args], {
    stdout: { columns: 110, write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
    signal: new AbortController().signal,
    version: '1.2.3',
  })
  return { code, stdout, stderr }
}

describe('R80 foldout compare', () => {
  it('says that an arm is worse, what it missed and what that cost, in every form', async () => {
    const prices = write('prices.json', '{"input": 3, "read": 0.3, "write": 3.75, "output": 15, "minimum": 100}')
    const [junit, markdown] = [join(folder, 'compare.xml'), join(folder, 'compare.md')]
    const files = ['--junit', junit, '--markdown', markdown, '--prices', prices]
    const { code, stdout, stderr } = await run(
      cases,
      '--prompt',
      DESK,
      '--arms',
      ['full', 'folded', ...Object.keys(arms)].join(','),
      ...files,
    )
    expect(stderr).toBe('')
    expect(code).toBe(1)
    expect(stdout).toContain('24 cases, 1 of 1 repeat.')
    expect(stdout).toMatch(/^folded +50\.0 % .* worse +0 +12 +12 of 24 /m)
    expect(stdout).toContain('folded missed refunds in 12 of 24 runs that needed it; 12 of these failed and cost $')
    expect(stdout).toMatch(/in-full: 'in-full' and 'full' began with the same bytes in every case|in-full: Every run/)
    expect(readFileSync(junit, 'utf8')).toMatch(
      /<testcase name="folded is not worse than full".*<failure message="worse: /,
    )
    expect(readFileSync(markdown, 'utf8')).toMatch(/^\| folded \| 50\.0 % /m)
  })

  it('plans, saves, and runs nothing twice', async () => {
    const save = join(folder, 'compare.jsonl')
    const module = write('clerk.ts', `export { clerk } from ${JSON.stringify(DESK)}\n`)
    const options = ['--prompt', DESK, '--repeat', '2', '--save', save, '--json']
    const planned = await run('plan', cases, ...options)
    expect(planned.code).toBe(0)
    expect(JSON.parse(planned.stdout)).toMatchObject({
      runs: 96,
      kept: 0,
      usd: null,
      clusters: 24,
      arms: { folded: { runs: 48, startTokens: clerk.render().tokens.total } },
    })
    const first = await run(cases, ...options)
    expect(first.code).toBe(1)
    const { name, model } = adapter({ case: { id: '0' } })
    const lines = readFileSync(save, 'utf8').split('\n').length
    expect(JSON.parse(readFileSync(save, 'utf8').split('\n')[0] ?? '')).toMatchObject({
      models: { full: `${name}/${model}` },
    })
    const again = await run(cases, ...options)
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(first.stdout))
    // Only a header is new.
    expect(readFileSync(save, 'utf8').split('\n').length).toBe(lines + 1)
    expect((JSON.parse((await run('plan', cases, ...options)).stdout) as ComparePlan).runs).toBe(0)
    // What is saved can be reported where there is no model.
    const offline = ['--prompt', `${module}#clerk`, ...options.slice(2), '--offline']
    expect((JSON.parse((await run(cases, ...offline)).stdout) as CompareReport).verdict).toBe('worse')
    expect((await run(cases, ...offline.slice(0, -1))).stderr).toMatch(/There is no model/)
  })

  it.each([
    [['--prompt', DESK, '--arms', 'full'], /Name two arms or more/],
    [['--prompt', DESK, '--arms', 'full,nothing'], /There is no arm 'nothing'/],
    [['--prompt', DESK, '--looks', '3,1'], /looks must be/],
    [[], /Name what to compare/],
    [['--prompt', DESK, '--adapter', join(import.meta.dirname, 'arms.ts')], /exports no adapter/],
    [['--prompt', DESK, '--prices', '{"input": 3}'], /--prices has no prices in dollars/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run(cases, ...args)
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  it('names the line of a case that is wrong', async () => {
    const { code, stderr } = await run(write('wrong.jsonl', '{"id": "a", "input": "Hi"}\n{"id": 3}'), '--prompt', DESK)
    expect(stderr).toMatch(/Line 2 of '.*wrong\.jsonl' has a field 'id' that is not a text/)
    expect(code).toBe(2)
  })

  it('shows the noise of two arms that are the same', async () => {
    const { code, stdout } = await run(cases, '--prompt', DESK, '--arms', 'folded,folded', '--json')
    const { arms, verdict } = JSON.parse(stdout) as CompareReport
    expect(Object.keys(arms)).toEqual(['folded', 'folded 2'])
    expect(verdict).toBe('no-signal')
    expect(code).toBe(3)
    expect(arms['folded 2']?.against?.reasons.join(' ')).toContain('began with the same bytes')
  })
})
