import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installPackages } from '../../tools/install-packages.ts'
import { compile } from '../docs/snippets.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

// Without its optional packages (see .npmrc), promptfoo is a quarter of a gigabyte instead of two.
installPackages(import.meta.dirname)

interface Result {
  readonly success: boolean
  readonly cost: number
  readonly provider: { readonly id: string }
  readonly testCase: { readonly description: string }
  readonly response: {
    readonly output: string
    readonly tokenUsage: { readonly total: number }
    readonly metadata: object
  }
}

it('R80 the bridge has the types that promptfoo expects', () => {
  expect(compile('test/promptfoo/types')).toBe('')
})

it('R80 promptfoo runs arms as providers, asserts their grades, and has their openings, usage and cost', () => {
  const folder = createTemporaryFolder('foldout-promptfoo-')
  const output = join(folder, 'results.json')
  const env = {
    ...process.env,
    PROMPTFOO_CONFIG_DIR: folder,
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
  }
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'run-promptfoo.mjs', output], {
    cwd: import.meta.dirname,
    env,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  const results = JSON.parse(readFileSync(output, 'utf8')) as readonly Result[]
  const find = (arm: string, task: string): Result | undefined =>
    results.find(({ provider, testCase }) => provider.id === `foldout:${arm}` && testCase.description === task)
  expect(results).toHaveLength(4)
  expect(results.filter(({ success }) => !success)).toEqual([find('folded', 'hours')])
  expect(find('folded', 'refund')?.response).toMatchObject({
    output: 'It is refunded.',
    metadata: { grades: { calls: 1 }, opened: ['refunds'], missed: [], calls: [{ name: 'refund_order', ok: true }] },
  })
  expect(find('folded', 'hours')?.response.metadata).toMatchObject({ grades: { includes: 0 }, missed: ['hours'] })
  const [full, folded] = [find('full', 'refund'), find('folded', 'refund')]
  // The scripted model counts what it is sent: opening takes one request more.
  expect(folded?.response.tokenUsage.total).toBeGreaterThan(full?.response.tokenUsage.total ?? Infinity)
  expect(folded?.cost).toBeGreaterThan(full?.cost ?? Infinity)
})
