import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../gateway/config/config.ts'
import { getEntries, loadFormat } from '../documents/document.ts'
import { anyName, createText } from '../documents/texts.fixtures.ts'
import { CLIENTS } from '../known/clients.ts'
import { createMachine } from './machine.fixtures.ts'
import { getStateFolder } from '../places.ts'
import { uninstallGateway } from './uninstall.ts'

const machine = createMachine()

/** All files below a folder, except Foldout's own state. */
async function listTree(root: string): Promise<readonly string[]> {
  const names = await readdir(root, { recursive: true })
  return names.filter((name) => !name.startsWith('home/.local')).sort()
}

describe.each(CLIENTS)('R52: $name', (client) => {
  it('gets the gateway, and is byte for byte what it was after uninstalling', async () => {
    const [map] = client.maps
    const { path, isList = false } = map ?? { path: [] }
    const format = await loadFormat(client.format)
    const file = await machine.write(client.name, '')
    await fc.assert(
      fc.asyncProperty(createText({ format: client.format, path, isList }), fc.boolean(), async (text, isMove) => {
        await writeFile(file, text)
        const { status, moved } = await machine.install(client, { isMove })
        expect(status).toBe('installed')
        const after = await readFile(file, 'utf8')
        const entries = getEntries(format.parse(after), path, isList)
        expect(JSON.stringify(entries?.get('foldout'))).toContain('"foldout-mcp@1.2.3","serve","--config"')
        const before = getEntries(format.parse(text), path, isList)?.size ?? 0
        expect(entries?.size).toBe(before - moved.length + 1)
        expect((await machine.uninstall(client)).status).toBe('restored')
        expect(await readFile(file, 'utf8')).toBe(text)
      }),
      { numRuns: 12 },
    )
    await expect(stat(join(machine.where.project, 'foldout.config.json'))).rejects.toThrow('ENOENT')
  })

  it('gets a new file if it has none, and loses it and its folders on uninstall', async () => {
    const before = await listTree(machine.folder)
    const { file } = await machine.install(client)
    expect((await stat(file)).isFile()).toBe(true)
    await machine.uninstall(client)
    expect(await listTree(machine.folder)).toEqual(before)
  })
})

describe.each(CLIENTS.filter(({ project }) => project !== undefined))('R52: $name in a project', (client) => {
  it('gets a file in the project folder', async () => {
    const { file } = await machine.install(client, { scope: 'project' })
    expect(file.startsWith(`${machine.where.project}/`)).toBe(true)
    await uninstallGateway({ client, scope: 'project', where: machine.where })
    expect(await listTree(machine.where.project)).toEqual([])
  })
})

describe('R52: installing', () => {
  it('writes a command that starts exactly this version', async () => {
    const { entry } = await machine.install('cursor', { config: 'mine.json' })
    const config = join(machine.where.project, 'mine.json')
    expect(entry).toEqual({ command: 'npx', args: ['-y', 'foldout-mcp@1.2.3', 'serve', '--config', config] })
  })

  it('starts npx through cmd on Windows', async () => {
    const { entry } = await machine.install('cursor', {
      where: {
        ...machine.where,
        platform: 'win32',
        env: { USERPROFILE: join(machine.folder, 'home'), LOCALAPPDATA: join(machine.folder, 'local') },
      },
      isDryRun: true,
    })
    expect(entry).toMatchObject({
      command: 'cmd',
      args: ['/c', 'npx', '-y', 'foldout-mcp@1.2.3', 'serve', '--config', expect.any(String)],
    })
  })

  it('accepts any name except that of another server', async () => {
    const file = await machine.write('cursor', '{"mcpServers": {"git": {"command": "git-server"}}}')
    await fc.assert(
      fc.asyncProperty(
        anyName.filter((name) => name !== 'git' && name.trim() !== ''),
        async (name) => {
          await machine.install('cursor', { name })
          const format = await loadFormat('json')
          const entries = getEntries(format.parse(await readFile(file, 'utf8')), ['mcpServers'])
          expect([...(entries?.keys() ?? [])].sort()).toEqual(['git', name].sort())
          await machine.uninstall('cursor')
        },
      ),
      { numRuns: 20 },
    )
    await expect(machine.install('cursor', { name: 'git' })).rejects.toThrow(
      "Cursor already has another server called 'git'",
    )
  })

  it('says which clients have no project file', async () => {
    await expect(machine.install('windsurf', { scope: 'project' })).rejects.toThrow('has no per-project configuration')
  })

  it('refuses to serve the file of the client itself', async () => {
    const file = await machine.write('cursor', '{"mcpServers": {}}')
    const link = join(machine.folder, 'link.json')
    await symlink(file, link)
    for (const config of [file, link])
      await expect(machine.install('cursor', { config, isMove: true })).rejects.toThrow(
        new UsageError(
          `${config} is the file of Cursor itself, so the gateway would have to start itself. Name another configuration: --config <file>.`,
        ),
      )
    expect(await readFile(file, 'utf8')).toBe('{"mcpServers": {}}')
  })

  it('does not change a file that does not parse', async () => {
    const texts = { cursor: '{"mcpServers": {', goose: 'a: [', codex: 'a = ' }
    for (const [client, text] of Object.entries(texts)) {
      const file = await machine.write(client, text)
      await expect(machine.install(client)).rejects.toThrow(/was not changed: it is not valid/)
      await expect(machine.uninstall(client)).rejects.toThrow(/was not changed: it is not valid/)
      expect(await readFile(file, 'utf8')).toBe(text)
    }
    expect(await readdir(machine.where.project)).toEqual([])
  })

  it('does not change a read-only file, a binary file or a folder', async () => {
    const file = await machine.write('cursor', '{}')
    await chmod(file, 0o444)
    await expect(machine.install('cursor')).rejects.toThrow('is read-only')
    await chmod(file, 0o644)
    const bytes = Buffer.from([0xff, 0xfe, 0x7b, 0x00])
    await writeFile(file, bytes)
    await expect(machine.install('cursor')).rejects.toThrow('is not UTF-8 text')
    expect((await readFile(file)).equals(bytes)).toBe(true)
    await rm(file)
    await mkdir(file)
    await expect(machine.install('cursor')).rejects.toThrow('is not a file')
  })

  it('keeps links and permissions', async () => {
    const real = join(machine.folder, 'dotfiles.json')
    await writeFile(real, '{}', { mode: 0o640 })
    await chmod(real, 0o640)
    const file = machine.getFile('cursor')
    await mkdir(dirname(file), { recursive: true })
    await symlink(real, file)
    await machine.install('cursor')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect((await stat(real)).mode & 0o777).toBe(0o640)
    expect(await readFile(real, 'utf8')).toContain('foldout-mcp')
    await machine.uninstall('cursor')
    expect(await readFile(real, 'utf8')).toBe('{}')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect((await stat(real)).mode & 0o777).toBe(0o640)
  })

  it('follows a link to a file that does not exist yet', async () => {
    const file = machine.getFile('cursor')
    await mkdir(dirname(file), { recursive: true })
    await symlink('../target.json', file)
    await machine.install('cursor')
    expect(await readFile(join(machine.folder, 'home/target.json'), 'utf8')).toContain('foldout-mcp')
    await machine.uninstall('cursor')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('keeps a backup that only the user can read', async () => {
    const text = '{ "mcpServers": { "a": { "command": "b", "env": { "TOKEN": "secret" } } } }'
    await machine.write('cursor', text)
    const { backup = '' } = await machine.install('cursor')
    expect(await readFile(backup, 'utf8')).toBe(text)
    expect((await stat(backup)).mode & 0o777).toBe(0o600)
    expect((await stat(getStateFolder(machine.where))).mode & 0o777).toBe(0o700)
  })

  it('changes nothing in a dry run', async () => {
    const file = await machine.write('cursor', '{}')
    const before = await listTree(machine.folder)
    expect(await machine.install('cursor', { isDryRun: true })).toMatchObject({ status: 'planned', file })
    expect(await readFile(file, 'utf8')).toBe('{}')
    expect(await readdir(machine.folder, { recursive: true })).toHaveLength(before.length)
  })

  it('happens once, however many installs run, one after the other or at once', async () => {
    const text = '{ "mcpServers": { "a": { "command": "b" } } }'
    const file = await machine.write('cursor', text)
    const results = await Promise.all(Array.from({ length: 8 }, () => machine.install('cursor', { isMove: true })))
    expect(results.filter(({ status }) => status === 'installed')).toHaveLength(1)
    expect((await machine.install('cursor', { isMove: true })).status).toBe('unchanged')
    await Promise.all(Array.from({ length: 4 }, () => machine.uninstall('cursor')))
    expect(await readFile(file, 'utf8')).toBe(text)
    expect((await machine.uninstall('cursor')).status).toBe('absent')
  })

  it('of another version replaces the previous one, and one uninstall restores the original', async () => {
    const text = '{ "mcpServers": {} } // mine'
    const file = await machine.write('cursor', text)
    await machine.install('cursor')
    await machine.install('cursor', { version: '2.0.0' })
    const after = await readFile(file, 'utf8')
    expect(after).toContain('foldout-mcp@2.0.0')
    expect(after).not.toContain('foldout-mcp@1.2.3')
    await machine.uninstall('cursor')
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})

describe('R52: the command of a client', () => {
  /** A fake client program that runs this script. */
  async function createProgram(name: string, script: string): Promise<string> {
    const bin = join(machine.folder, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, name), `#!${process.execPath}\n${script}`, { mode: 0o755 })
    machine.where = { ...machine.where, env: { ...machine.where.env, PATH: bin } }
    return join(machine.folder, 'calls.json')
  }

  const ADD = `
    const fs = require('fs'), args = process.argv.slice(2), home = process.env.HOME
    fs.writeFileSync(home + '/../calls.json', JSON.stringify(args))
    const file = home + '/.claude.json', config = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file)) : {}
    config.mcpServers = { ...config.mcpServers, [args[4]]: JSON.parse(args[5]) }
    fs.writeFileSync(file, JSON.stringify(config))`

  it('is used if it exists, and is undone exactly', async () => {
    const calls = await createProgram('claude', ADD)
    const text = '{\n    "numStartups": 3\n}\n'
    const file = await machine.write('claude-code', text)
    const { by, entry } = await machine.install('claude-code')
    expect(by).toBe('command')
    expect(JSON.parse(await readFile(calls, 'utf8'))).toEqual([
      'mcp',
      'add-json',
      '-s',
      'user',
      'foldout',
      JSON.stringify(entry),
    ])
    expect((await machine.install('claude-code', { version: '2.0.0' })).by).toBe('command')
    expect((await machine.uninstall('claude-code')).status).toBe('restored')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('leaves what it wrote into a new file beside the gateway', async () => {
    await createProgram('claude', ADD.replace('config.mcpServers =', 'config.numStartups = 1; config.mcpServers ='))
    expect((await machine.install('claude-code')).by).toBe('command')
    await machine.uninstall('claude-code')
    expect(JSON.parse(await readFile(machine.getFile('claude-code'), 'utf8'))).toEqual({ numStartups: 1 })
  })

  it('leaves no file that has only the gateway', async () => {
    await createProgram('claude', ADD)
    expect((await machine.install('claude-code')).by).toBe('command')
    await machine.uninstall('claude-code')
    await expect(stat(machine.getFile('claude-code'))).rejects.toThrow('ENOENT')
  })

  it.each([
    ['fails', 'console.error("not signed in"); process.exit(1)', /not signed in/],
    ['does nothing', '', /the server is not in its file/],
  ])('is replaced by an edit if it %s', async (_, script, note) => {
    await createProgram('claude', script)
    const { by, notes } = await machine.install('claude-code')
    expect(by).toBe('file')
    expect(notes.join()).toMatch(note)
    await machine.uninstall('claude-code')
    await expect(stat(machine.getFile('claude-code'))).rejects.toThrow('ENOENT')
  })

  it.each([
    ['claude-code', 'claude', ['mcp', 'add-json', '-s', 'user', 'foldout', '{entry}']],
    ['codex', 'codex', ['mcp', 'add', 'foldout', '--', '{command}']],
    ['gemini-cli', 'gemini', ['mcp', 'add', '-s', 'user', 'foldout', '{command}']],
    ['vscode', 'code', ['--add-mcp', '{named}']],
  ])('of %s is called as it expects', async (client, program, expected) => {
    const calls = await createProgram(
      program,
      "require('fs').writeFileSync(process.env.HOME + '/../calls.json', JSON.stringify(process.argv.slice(2)))",
    )
    const { entry } = await machine.install(client)
    const { command, args } = entry as { command: string; args: readonly string[] }
    const values = new Map([
      ['{entry}', [JSON.stringify(entry)]],
      ['{named}', [JSON.stringify({ name: 'foldout', ...entry })]],
      ['{command}', [command, ...args]],
    ])
    expect(JSON.parse(await readFile(calls, 'utf8'))).toEqual(expected.flatMap((arg) => values.get(arg) ?? [arg]))
  })

  it('is not run if the file does not parse, or on a dry run', async () => {
    const calls = await createProgram('claude', ADD)
    await machine.install('claude-code', { isDryRun: true })
    await machine.write('claude-code', '{')
    await expect(machine.install('claude-code')).rejects.toThrow('was not changed')
    await expect(stat(calls)).rejects.toThrow('ENOENT')
  })
})
