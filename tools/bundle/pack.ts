// Packs the gateway as an MCP bundle: one file that a client installs without npm.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages } from '../install-packages.ts'
import { createBundleManifest } from '../metadata.ts'
import { readManifest, readProject, repository } from '../packages.mjs'

const folder = import.meta.dirname

/** Installs packed packages in a folder, with what they depend on, and packs and validates the bundle with its own tool. */
export function packBundle(tarballs: readonly string[], work: string): string {
  installPackages(folder)
  const manifest = readManifest(join(repository, 'packages/foldout-mcp'))
  const content = join(work, 'bundle')
  const server = join(content, 'server')
  mkdirSync(server, { recursive: true })
  writeFileSync(join(content, 'manifest.json'), JSON.stringify(createBundleManifest(readProject(), manifest), null, 2))
  writeFileSync(join(server, 'package.json'), JSON.stringify({ private: true }))
  run('npm', ['install', ...QUIET, '--omit=optional', ...tarballs], server)
  const file = join(work, `foldout-${String(manifest['version'])}.mcpb`)
  const tool = join(folder, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js')
  run(process.execPath, [tool, 'validate', join(content, 'manifest.json')], work)
  run(process.execPath, [tool, 'pack', content, file], work)
  return file
}

const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`)
}
