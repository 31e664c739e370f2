import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PACKAGES } from '../tools/packages.mjs'
import { removeFolder } from './remove-folder.ts'

const root = join(import.meta.dirname, '..')
const DOCUMENTS = ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'NOTICE']

interface Pack {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** Runs a command and returns its output; a failure shows all of it. */
function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 240_000 })
  expect(status, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`).toBe(0)
  return stdout
}

describe('the packed packages', () => {
  let folder: string
  const packed = new Map<string, readonly string[]>()

  let tarballs: readonly string[]

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-package-'))
    tarballs = PACKAGES.map((name) => {
      const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
      const [pack] = JSON.parse(run('npm', args, join(root, 'packages', name))) as [Pack]
      packed.set(
        name,
        pack.files.map(({ path }) => path),
      )
      return join(folder, pack.filename)
    })
    for (const file of readdirSync(join(root, 'test/consumer'))) {
      if (file !== 'node_modules') cpSync(join(root, 'test/consumer', file), join(folder, file))
    }
    cpSync(join(root, 'examples/first-prompt.ts'), join(folder, 'first-prompt.ts'))
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    run('npm', ['install', ...quiet], folder)
    run('npm', ['install', '--no-save', '--no-package-lock', ...quiet, ...tarballs], folder)
  }, 300_000)
  afterAll(() => removeFolder(folder))

  it.each([
    [
      'foldout',
      [
        'dist/index.js',
        'dist/minilm-worker.js',
        'dist/sandbox-worker.js',
        'dist/word-vectors.js',
        'dist/types/entries/index.d.ts',
      ],
    ],
    ['foldout-fleet', ['dist/fleet.js', 'dist/types/entries/fleet.d.ts']],
    [
      'foldout-mcp',
      ['bin/foldout.js', 'dist/main.js', 'dist/page/index.html', 'dist/page/page.js', 'dist/page/style.css'],
    ],
  ])('%s contains what a user needs and nothing else', (name, needed) => {
    const paths = packed.get(name) ?? []
    const documents = DOCUMENTS.filter((file) => existsSync(join(root, file)))
    expect(paths.filter((path) => !path.startsWith('dist/') && !path.startsWith('bin/')).sort()).toEqual(
      [...documents, 'package.json'].sort(),
    )
    expect(paths.filter((path) => /\.(test|fixtures)\./.test(path))).toEqual([])
    expect(needed.filter((path) => !paths.includes(path))).toEqual([])
  })

  it.each(PACKAGES)('the README of %s has links that work on npm', (name) => {
    const readme = readFileSync(join(folder, 'node_modules', name, 'README.md'), 'utf8')
    const targets = [...readme.matchAll(/\]\(([^)\s]+)\)|<img\b[^>]*\bsrc="([^"]+)"/g)].map(
      ([, link, src]) => link ?? src,
    )
    expect(targets.filter((target) => !/^(https?:|#|mailto:)/.test(target ?? ''))).toEqual([])
  })

  it('the command runs', () => {
    expect(run(process.execPath, ['node_modules/.bin/foldout', '--version'], folder)).toMatch(/^\d+\.\d+\.\d+/)
    expect(run(process.execPath, ['node_modules/.bin/foldout', 'tools', '--help'], folder)).toContain('--config')
  })

  it('the command serves with nothing else installed, with every exposure', async () => {
    const alone = join(folder, 'alone')
    mkdirSync(alone)
    writeFileSync(join(alone, 'package.json'), '{"private": true}')
    run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...tarballs], alone)
    cpSync(join(root, 'packages/foldout-mcp/src/gateway/server.fixtures.mjs'), join(alone, 'server.mjs'))
    const tools = [{ name: 'echo', description: 'Repeats its input.' }]
    const server = { command: process.execPath, args: ['server.mjs', JSON.stringify({ tools })] }
    writeFileSync(join(alone, 'foldout.config.json'), JSON.stringify({ mcpServers: { a: server } }))
    const command = [join(alone, 'node_modules/.bin/foldout')]
    const cache = ['--config', join(alone, 'foldout.config.json'), '--cache', join(alone, 'cache')]
    const { exposures } = JSON.parse(run(process.execPath, [...command, 'tools', '--json', ...cache], alone)) as {
      readonly exposures: readonly { readonly problem?: string }[]
    }
    expect(exposures.flatMap(({ problem }) => problem ?? [])).toEqual([])
    for (const expose of ['hybrid', 'code']) {
      const client = new Client({ name: 'test', version: '1' })
      const args = [...command, 'serve', '--expose', expose, ...cache]
      await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: alone, stderr: 'ignore' }))
      const { tools: listed } = await client.listTools()
      const call =
        expose === 'code'
          ? { name: 'run_code', arguments: { code: 'return await tools.echo({ word: "hello" })' } }
          : { name: 'use_tool', arguments: { name: 'echo', arguments: { word: 'hello' } } }
      expect(listed.map(({ name }) => name)).toContain(call.name)
      expect(JSON.stringify(await client.callTool(call))).toContain('hello')
      await client.close()
    }
    // The size of an install, as stated in docs/decisions/dependencies.md.
    const lock = JSON.parse(readFileSync(join(alone, 'package-lock.json'), 'utf8')) as { readonly packages: object }
    expect(Object.keys(lock.packages).length).toBeLessThan(100)
  }, 120_000)

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
