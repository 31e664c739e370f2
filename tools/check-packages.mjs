// Checks the packed packages as users get them: publint, and the types under every kind of module resolution.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { listEntries, PACKAGES, repository } from './packages.mjs'

const bin = (name) => join(repository, 'node_modules/.bin', name)

for (const name of PACKAGES) {
  const folder = join(repository, 'packages', name)
  check(name, bin('publint'), ['--strict'], folder)
  // A program has no types to resolve.
  if (listEntries(folder).length > 0)
    check(name, bin('attw'), ['--pack', '.', '--profile', 'esm-only', '--quiet'], folder)
}

function check(name, command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status === 0) return
  console.error(`${name}\n${stdout}${stderr}`)
  process.exit(1)
}
