import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from './main.ts'
import { removeFolder } from '../remove-folder.fixtures.ts'

async function complete(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  const code = await runCommand(['node', 'foldout', 'completion', ...args], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
    signal: new AbortController().signal,
    version: '1.2.3',
  })
  return { code, stdout, stderr }
}

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).error === undefined

describe('R58 foldout completion', () => {
  it.each([
    ['bash', ['-n']],
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ])('prints a script that %s can read', async (shell, flags) => {
    const { code, stdout } = await complete(shell)
    expect(code).toBe(0)
    for (const word of ['serve', 'search', 'two-phase', 'explain']) expect(stdout).toContain(word)
    if (!isInstalled(shell)) return
    const folder = mkdtempSync(join(tmpdir(), 'foldout-completion-'))
    writeFileSync(join(folder, 'script'), stdout)
    const { status, stderr } = spawnSync(shell, [...flags, join(folder, 'script')], { encoding: 'utf8' })
    await removeFolder(folder)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.skipIf(!isInstalled('bash')).each([
    [['foldout', 'ser'], ['serve']],
    [['foldout', 'serve', '--exp'], ['--expose']],
    [['foldout', 'serve', '--expose', 'm'], ['meta-tool']],
    [['foldout', 'completion', 'f'], ['fish']],
    [['foldout', 'search', '--expl'], ['--explain']],
    [['foldout', 'install', 'cu'], ['cursor']],
    [['foldout', 'uninstall', 'vs'], ['vscode']],
    [['foldout', 'import', '--client', 'z'], ['zed']],
    [['foldout', 'fleet', 'app'], ['approve']],
    [['foldout', 'help', 'ser'], ['serve']],
    [
      ['foldout', 'completion', "''"],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['foldout', 'completion', '-'],
      ['--names', '-c', '--config', '--json', '-h', '--help'],
    ],
    [
      ['foldout', 'pins', "''"],
      ['-c', '--config', '--trust', '--store', '--data', '--json', '-h', '--help'],
    ],
    [['foldout', 'serve', '--expose', '=', 'm'], ['meta-tool']],
    [
      ['foldout', 'simulate', '--cache', '='],
      ['none', 'anthropic', 'openai'],
    ],
    [
      ['foldout', 'audit', '--outcome', 'o'],
      ['ok', 'over quota'],
    ],
  ])('completes %j in bash', async (words, expected) => {
    const { stdout: script } = await complete('bash')
    const ask = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _foldout; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8', cwd: '/' })
    expect(stdout.trim().split('\n')).toEqual(expected)
  })

  it.skipIf(!isInstalled('fish'))('completes values with spaces in fish', async () => {
    const { stdout: script } = await complete('fish')
    const ask = "complete -C 'foldout audit --outcome o' | string split -f 1 \\t"
    const { stdout } = spawnSync('fish', ['--no-config', '-c', `${script}\n${ask}`], { encoding: 'utf8', cwd: '/' })
    expect(stdout.trim().split('\n')).toEqual(['ok', 'over quota'])
  })

  it.skipIf(!isInstalled('fish')).each([
    ['foldout call ', []],
    ['foldout remove ', []],
    ['foldout tools --timeout ', []],
    ['foldout tools ', []],
    ['foldout tools --config ', ['my servers.json']],
    ['foldout replay ', ['my servers.json']],
    ['foldout add a -- ', ['my servers.json']],
  ])('offers files in fish only where they are meant: %s', async (line, expected) => {
    const { stdout: script } = await complete('fish')
    const folder = mkdtempSync(join(tmpdir(), 'foldout-completion-'))
    writeFileSync(join(folder, 'my servers.json'), '')
    const ask = `complete -C '${line}' | string split -f 1 \\t`
    const { stdout } = spawnSync('fish', ['--no-config', '-c', `${script}\n${ask}`], { encoding: 'utf8', cwd: folder })
    await removeFolder(folder)
    expect(stdout.split('\n').filter((word) => word !== '')).toEqual(expected)
  })

  it.skipIf(!isInstalled('bash')).each([
    [['foldout', 'call', 'my'], ''],
    [['foldout', 'tools', '--timeout', 'my'], ''],
    [['foldout', 'replay', 'my'], 'my servers.json'],
  ])('offers files in bash only where they are meant: %j', async (words, expected) => {
    const { stdout: script } = await complete('bash')
    const folder = mkdtempSync(join(tmpdir(), 'foldout-completion-'))
    writeFileSync(join(folder, 'my servers.json'), '')
    const ask = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _foldout; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8', cwd: folder })
    await removeFolder(folder)
    expect(stdout.trim()).toBe(expected)
  })

  describe('of names', () => {
    const BIN = join(import.meta.dirname, '../../bin/foldout.js')
    const SERVER = join(import.meta.dirname, '../gateway/server.fixtures.mjs')
    let folder: string
    const env = () => ({ PATH: process.env['PATH'], HOME: folder })
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'foldout-completion-'))
      const args = [SERVER, JSON.stringify({ tools: [{ name: 'send_mail' }, { name: '$(touch evil)' }] })]
      const mcpServers = { mail: { command: process.execPath, args }, '`touch evil`': { command: 'a' } }
      writeFileSync(join(folder, 'foldout.config.json'), JSON.stringify({ mcpServers }))
      writeFileSync(join(folder, 'other.json'), JSON.stringify({ mcpServers: { chat: { command: 'a' } } }))
    })
    afterAll(() => removeFolder(folder))
    const ask = async (words: readonly string[]) => {
      const { stdout: script } = await complete('bash')
      const call = `foldout() { ${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)} "$@"; }`
      const line = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _foldout; printf '%s\\n' "\${COMPREPLY[@]}"`
      const options = { encoding: 'utf8', cwd: folder, env: env() } as const
      return spawnSync('bash', ['--norc', '-c', `${call}\n${script}\n${line}`], options).stdout.trim()
    }

    it.skipIf(!isInstalled('bash'))('asks only configurations that the user trusts, and starts nothing', async () => {
      expect(await ask(['foldout', 'login', "''"])).toBe('')
      expect(await ask(['foldout', 'login', '-c', 'other.json', "''"])).toBe('chat')
      const tools = [BIN, 'tools', '--trust']
      spawnSync(process.execPath, tools, { cwd: folder, env: env() })
      for (const command of ['login', 'logout', 'remove', 'approve'])
        expect(await ask(['foldout', command, 'm'])).toBe('mail')
      expect(await ask(['foldout', 'call', "''"])).toBe('send_mail\ntouch_evil')
      expect(readdirSync(folder)).not.toContain('evil')
    })
  })

  it('escapes values with spaces in zsh', async () => {
    expect((await complete('zsh')).stdout).toContain(
      String.raw`'*--outcome=[how the call ended]:value:(ok error denied not\ approved over\ quota `,
    )
  })

  it.skipIf(!isInstalled('bash'))('completes names of files with spaces in bash', async () => {
    const { stdout: script } = await complete('bash')
    const folder = mkdtempSync(join(tmpdir(), 'foldout-completion-'))
    writeFileSync(join(folder, 'my servers.json'), '')
    const ask = `COMP_WORDS=(foldout serve --config my); COMP_CWORD=3; _foldout; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8', cwd: folder })
    await removeFolder(folder)
    expect(stdout).toBe('my servers.json\n')
  })

  it('lists all commands as JSON', async () => {
    const { stdout } = await complete('zsh', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      shell: 'zsh',
      commands: expect.arrayContaining([{ name: 'tools' }].map((x) => expect.objectContaining(x))),
    })
  })

  it('refuses shells it does not know', async () => {
    const { code, stdout, stderr } = await complete('tcsh')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('Allowed choices are bash, zsh, fish')
  })
})
