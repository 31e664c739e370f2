import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGateway } from '../../gateway.ts'
import { toInstallCommand } from './install-ahead.ts'
import { removeFolder } from '../../../remove-folder.fixtures.ts'

describe('R54 the package of a server', () => {
  it.each([
    ['npx', ['-y', 'server-files', '.'], ['-y', '--package', 'server-files', '--yes', '--call', 'node --version']],
    ['/usr/bin/npx', ['a@1'], ['--package', 'a@1', '--yes', '--call', 'node --version']],
    ['npx.cmd', ['--package=a', 'run-a'], ['--package=a', '--yes', '--call', 'node --version']],
    ['npx', ['-p', 'a', '-p', 'b', 'run'], ['-p', 'a', '-p', 'b', '--yes', '--call', 'node --version']],
    [
      'npx',
      ['--registry', 'http://localhost', 'a', '-p', '1'],
      ['--registry', 'http://localhost', '--package', 'a', '--yes', '--call', 'node --version'],
    ],
    [
      'cmd',
      ['/c', 'npx', '-y', 'server-files', 'C:\\'],
      ['/c', 'npx', '-y', '--package', 'server-files', '--yes', '--call', 'node --version'],
    ],
    ['uvx', ['mcp-server-git', '--repository', '.'], ['--from', 'mcp-server-git', 'python', '--version']],
    ['uvx', ['--from', 'git+x', 'run'], ['--from', 'git+x', 'python', '--version']],
  ])('is installed for %s %j', (command, args, expected) => {
    expect(toInstallCommand({ command, args })).toEqual({ command, args: expected })
  })

  it.each([
    ['node', ['npx']],
    ['npx', ['-y']],
    ['cmd', ['/c', 'node', 'server.js']],
    ['npx', ['-c', 'rm -rf x']],
    ['npx', ['--call=rm -rf x', 'a']],
  ])('is not installed for %s %j', (command, args) => {
    expect(toInstallCommand({ command, args })).toBeUndefined()
  })

  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-install-'))
  })
  afterEach(() => removeFolder(folder))

  /** A fake npx: records its arguments, takes a while to install, and then runs the fixture. */
  function writeRunner(): string {
    const file = join(folder, 'npx')
    const server = join(import.meta.dirname, '../../server.fixtures.mjs')
    writeFileSync(
      file,
      `#!/bin/sh
echo $$ > ${join(folder, 'pid')}
echo "$@" >> ${join(folder, 'asked')}
case "$*" in *--call*) sleep 1; touch ${join(folder, 'installed')}; exit ;; esac
[ -e ${join(folder, 'installed')} ] || sleep 60
exec ${process.execPath} ${server} '{"tools": [{"name": "echo", "description": "Repeats."}]}'
`,
    )
    chmodSync(file, 0o755)
    return file
  }
  const readAsked = (): readonly string[] => {
    const file = join(folder, 'asked')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  it('is installed before the server starts, however long that takes', async () => {
    const mcpServers = { a: { command: writeRunner(), args: ['-y', 'server-a'] } }
    const gateway = await createGateway({ mcpServers }, { cache: join(folder, 'cache'), timeoutMs: 15_000 })
    await gateway.ready()
    expect(gateway.servers).toMatchObject([{ state: { type: 'running' }, tools: 1 }])
    expect(readAsked()).toEqual(['-y --package server-a --yes --call node --version', '-y server-a'])
    await gateway.close()
  })

  it('is no longer installed once the gateway has closed', async () => {
    const mcpServers = { a: { command: writeRunner(), args: ['-y', 'server-a'] } }
    const gateway = await createGateway({ mcpServers }, { cache: join(folder, 'cache') })
    await vi.waitFor(() => expect(readAsked()).toHaveLength(1))
    await gateway.close()
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000)
    expect(existsSync(join(folder, 'installed'))).toBe(false)
    expect(readAsked()).toHaveLength(1)
  })
})
