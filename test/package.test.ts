import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const library = join(root, 'packages/foldout')

/** Runs a command and gives back what it printed; a failure shows all of it. */
function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 240_000 })
  expect(status, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`).toBe(0)
  return stdout
}

describe('the packed package', () => {
  let folder: string
  let packed: readonly string[]

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-package-'))
    const [pack] = JSON.parse(
      run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], library),
    ) as [{ filename: string; files: readonly { path: string }[] }]
    packed = pack.files.map(({ path }) => path)
    const tarball = join(folder, pack.filename)
    for (const file of readdirSync(join(root, 'test/consumer'))) {
      if (file !== 'node_modules') cpSync(join(root, 'test/consumer', file), join(folder, file))
    }
    cpSync(join(root, 'examples/first-prompt.ts'), join(folder, 'first-prompt.ts'))
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    run('npm', ['install', ...quiet], folder)
    run('npm', ['install', '--no-save', '--no-package-lock', ...quiet, tarball], folder)
  }, 300_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('holds what a user needs and nothing else', () => {
    expect(packed.filter((path) => !path.startsWith('dist/')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
    ])
    expect(packed.filter((path) => /\.(test|fixtures)\./.test(path))).toEqual([])
    expect(packed).toContain('dist/index.js')
  })

  it.each(['typescript-5.9', 'typescript-newest'])(
    'compiles and runs with %s',
    (typescript) => {
      run(process.execPath, [`node_modules/${typescript}/bin/tsc`, '-p', '.'], folder)
      expect(run(process.execPath, ['out/first-prompt.js'], folder)).toContain(
        'What it sees once it has opened `context`',
      )
      run(process.execPath, ['out/subpaths.js'], folder)
    },
    120_000,
  )
})
