import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ClientDescription } from './client.ts'
import { getEntries, loadFormat } from './documents/document.ts'
import { anyName, createText } from './documents/texts.fixtures.ts'
import { installGateway, type InstallRequest, type InstallResult } from './install.ts'
import { CLIENTS, getClient } from './known/clients.ts'
import { chooseFile, getStateFolder, type Whereabouts } from './places.ts'
import { uninstallGateway, type UninstallResult } from './uninstall.ts'

let folder: string
let where: Whereabouts
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'foldout-install-')))
  const home = join(folder, 'home')
  const project = join(folder, 'project')
  await mkdir(home)
  await mkdir(project)
  where = { env: { HOME: home, PATH: '' }, platform: 'linux', project }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function install(client: string | ClientDescription, more: Partial<InstallRequest> = {}): Promise<InstallResult> {
  const description = typeof client === 'string' ? getClient(client) : client
  return installGateway({ client: description, scope: 'user', where, name: 'foldout', version: '1.2.3', ...more })
}

function uninstall(client: string | ClientDescription): Promise<UninstallResult> {
  const description = typeof client === 'string' ? getClient(client) : client
  return uninstallGateway({ client: description, scope: 'user', where })
}

function getFile(client: string): string {
  const file = chooseFile(getClient(client), 'user', where)
  if (file === undefined) throw new Error(`${client} has no file.`)
  return file
}

async function write(client: string, text: string): Promise<string> {
  const file = getFile(client)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

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
    const file = await write(client.name, '')
    await fc.assert(
      fc.asyncProperty(createText({ format: client.format, path, isList }), fc.boolean(), async (text, isMove) => {
        await writeFile(file, text)
        const { status, moved } = await install(client, { isMove })
        expect(status).toBe('installed')
        const after = await readFile(file, 'utf8')
        const entries = getEntries(format.parse(after), path, isList)
        expect(JSON.stringify(entries?.get('foldout'))).toContain('"foldout-mcp@1.2.3","serve","--config"')
        const before = getEntries(format.parse(text), path, isList)?.size ?? 0
        expect(entries?.size).toBe(before - moved.length + 1)
        expect((await uninstall(client)).status).toBe('restored')
        expect(await readFile(file, 'utf8')).toBe(text)
      }),
      { numRuns: 12 },
    )
    await expect(stat(join(where.project, 'foldout.config.json'))).rejects.toThrow('ENOENT')
  })

  it('gets a new file if it has none, and loses it and its folders on uninstall', async () => {
    const before = await listTree(folder)
    const { file } = await install(client)
    expect((await stat(file)).isFile()).toBe(true)
    await uninstall(client)
    expect(await listTree(folder)).toEqual(before)
  })
})

describe.each(CLIENTS.filter(({ project }) => project !== undefined))('R52: $name in a project', (client) => {
  it('gets a file in the project folder', async () => {
    const { file } = await install(client, { scope: 'project' })
    expect(file.startsWith(`${where.project}/`)).toBe(true)
    await uninstallGateway({ client, scope: 'project', where })
    expect(await listTree(where.project)).toEqual([])
  })
})

describe('R52: installing', () => {
  it('writes a command that starts exactly this version', async () => {
    const { entry } = await install('cursor', { config: 'mine.json' })
    const config = join(where.project, 'mine.json')
    expect(entry).toEqual({ command: 'npx', args: ['-y', 'foldout-mcp@1.2.3', 'serve', '--config', config] })
  })

  it('starts npx through cmd on Windows', async () => {
    const { entry } = await install('cursor', {
      where: {
        ...where,
        platform: 'win32',
        env: { USERPROFILE: join(folder, 'home'), LOCALAPPDATA: join(folder, 'local') },
      },
      isDryRun: true,
    })
    expect(entry).toMatchObject({
      command: 'cmd',
      args: ['/c', 'npx', '-y', 'foldout-mcp@1.2.3', 'serve', '--config', expect.any(String)],
    })
  })

  it('accepts any name except that of another server', async () => {
    const file = await write('cursor', '{"mcpServers": {"git": {"command": "git-server"}}}')
    await fc.assert(
      fc.asyncProperty(
        anyName.filter((name) => name !== 'git' && name.trim() !== ''),
        async (name) => {
          await install('cursor', { name })
          const format = await loadFormat('json')
          const entries = getEntries(format.parse(await readFile(file, 'utf8')), ['mcpServers'])
          expect([...(entries?.keys() ?? [])].sort()).toEqual(['git', name].sort())
          await uninstall('cursor')
        },
      ),
      { numRuns: 20 },
    )
    await expect(install('cursor', { name: 'git' })).rejects.toThrow("Cursor already has another server called 'git'")
  })

  it('says which clients have no project file', async () => {
    await expect(install('windsurf', { scope: 'project' })).rejects.toThrow('has no per-project configuration')
  })

  it('does not change a file that does not parse', async () => {
    const texts = { cursor: '{"mcpServers": {', goose: 'a: [', codex: 'a = ' }
    for (const [client, text] of Object.entries(texts)) {
      const file = await write(client, text)
      await expect(install(client)).rejects.toThrow(/was not changed: it is not valid/)
      await expect(uninstall(client)).rejects.toThrow(/was not changed: it is not valid/)
      expect(await readFile(file, 'utf8')).toBe(text)
    }
    expect(await readdir(where.project)).toEqual([])
  })

  it('does not change a read-only file, a binary file or a folder', async () => {
    const file = await write('cursor', '{}')
    await chmod(file, 0o444)
    await expect(install('cursor')).rejects.toThrow('is read-only')
    await chmod(file, 0o644)
    const bytes = Buffer.from([0xff, 0xfe, 0x7b, 0x00])
    await writeFile(file, bytes)
    await expect(install('cursor')).rejects.toThrow('is not UTF-8 text')
    expect((await readFile(file)).equals(bytes)).toBe(true)
    await rm(file)
    await mkdir(file)
    await expect(install('cursor')).rejects.toThrow('is not a file')
  })

  it('keeps links and permissions', async () => {
    const real = join(folder, 'dotfiles.json')
    await writeFile(real, '{}', { mode: 0o640 })
    await chmod(real, 0o640)
    const file = getFile('cursor')
    await mkdir(dirname(file), { recursive: true })
    await symlink(real, file)
    await install('cursor')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect((await stat(real)).mode & 0o777).toBe(0o640)
    expect(await readFile(real, 'utf8')).toContain('foldout-mcp')
    await uninstall('cursor')
    expect(await readFile(real, 'utf8')).toBe('{}')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect((await stat(real)).mode & 0o777).toBe(0o640)
  })

  it('follows a link to a file that does not exist yet', async () => {
    const file = getFile('cursor')
    await mkdir(dirname(file), { recursive: true })
    await symlink('../target.json', file)
    await install('cursor')
    expect(await readFile(join(folder, 'home/target.json'), 'utf8')).toContain('foldout-mcp')
    await uninstall('cursor')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('keeps a backup that only the user can read', async () => {
    const text = '{ "mcpServers": { "a": { "command": "b", "env": { "TOKEN": "secret" } } } }'
    await write('cursor', text)
    const { backup = '' } = await install('cursor')
    expect(await readFile(backup, 'utf8')).toBe(text)
    expect((await stat(backup)).mode & 0o777).toBe(0o600)
    expect((await stat(getStateFolder(where))).mode & 0o777).toBe(0o700)
  })

  it('changes nothing in a dry run', async () => {
    const file = await write('cursor', '{}')
    const before = await listTree(folder)
    expect(await install('cursor', { isDryRun: true })).toMatchObject({ status: 'planned', file })
    expect(await readFile(file, 'utf8')).toBe('{}')
    expect(await readdir(folder, { recursive: true })).toHaveLength(before.length)
  })

  it('happens once, however many installs run, one after the other or at once', async () => {
    const text = '{ "mcpServers": { "a": { "command": "b" } } }'
    const file = await write('cursor', text)
    const results = await Promise.all(Array.from({ length: 8 }, () => install('cursor', { isMove: true })))
    expect(results.filter(({ status }) => status === 'installed')).toHaveLength(1)
    expect((await install('cursor', { isMove: true })).status).toBe('unchanged')
    await Promise.all(Array.from({ length: 4 }, () => uninstall('cursor')))
    expect(await readFile(file, 'utf8')).toBe(text)
    expect((await uninstall('cursor')).status).toBe('absent')
  })

  it('of another version replaces the previous one, and one uninstall restores the original', async () => {
    const text = '{ "mcpServers": {} } // mine'
    const file = await write('cursor', text)
    await install('cursor')
    await install('cursor', { version: '2.0.0' })
    const after = await readFile(file, 'utf8')
    expect(after).toContain('foldout-mcp@2.0.0')
    expect(after).not.toContain('foldout-mcp@1.2.3')
    await uninstall('cursor')
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})

describe('R52: uninstalling from a file that has changed', () => {
  it.each([
    [
      'cursor',
      '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "b" }\n  }\n}\n',
      (text: string) => text.replace('// mine', '// still mine'),
    ],
    ['goose', 'extensions:\n  a:\n    cmd: b\n', (text: string) => `${text}GOOSE_MODEL: x # new\n`],
    ['codex', '[mcp_servers.a]\ncommand = "b"\n', (text: string) => `# new\n${text}`],
  ])('%s keeps the change, and gets its servers back', async (client, text, change) => {
    const file = await write(client, text)
    await install(client, { isMove: true })
    await writeFile(file, change(await readFile(file, 'utf8')))
    expect(await uninstall(client)).toMatchObject({ status: 'edited', returned: ['a'] })
    const { format, maps } = getClient(client)
    const { parse } = await loadFormat(format)
    const after = await readFile(file, 'utf8')
    expect(getEntries(parse(after), maps[0]?.path ?? [])).toEqual(getEntries(parse(text), maps[0]?.path ?? []))
    expect(change(text).match(/(?:#|\/\/).*/)?.[0]).toBe(after.match(/(?:#|\/\/).*/)?.[0])
  })

  it('removes a new file if nothing else was added to it', async () => {
    const { file } = await install('cursor')
    await writeFile(file, `${await readFile(file, 'utf8')}\n`)
    await uninstall('cursor')
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('changes nothing if the installation was interrupted before it changed the file', async () => {
    const text = '{ "mcpServers": { "a": { "command": "b" } } }'
    const file = await write('cursor', text)
    await install('cursor', { isMove: true })
    await writeFile(file, text)
    await uninstall('cursor')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it.each(['{', '{}', '[]', '{"before": 7}'])('does not trust the receipt %s', async (receipt) => {
    const file = await write('cursor', '{}')
    await install('cursor')
    const receipts = join(getStateFolder(where), 'installed')
    for (const name of await readdir(receipts)) await writeFile(join(receipts, name), receipt)
    expect((await uninstall('cursor')).status).toBe('edited')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: {} })
  })

  it('works without a receipt, by removing entries that start Foldout', async () => {
    const file = await write('cursor', '{}')
    await install('cursor', { name: 'everything' })
    await rm(getStateFolder(where), { recursive: true })
    expect((await uninstall('cursor')).status).toBe('edited')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: {} })
  })
})

describe('R52: moving servers', () => {
  it('merges them into the configuration before they leave the client', async () => {
    const config = join(where.project, 'foldout.config.json')
    const original = '{\n  // mine\n  "mcpServers": { "a": { "command": "other" }, "same": { "command": "s" } }\n}\n'
    await writeFile(config, original)
    await write('cursor', '{"mcpServers": {"a": {"command": "x", "env": {"T": "secret"}}, "same": {"command": "s"}}}')
    const { moved } = await install('cursor', { isMove: true })
    expect(moved).toEqual([
      { from: 'a', to: 'a-2' },
      { from: 'same', to: 'same' },
    ])
    const { parse } = await loadFormat('json')
    const text = await readFile(config, 'utf8')
    expect(text).toContain('// mine')
    expect(parse(text)).toEqual({
      mcpServers: { a: { command: 'other' }, same: { command: 's' }, 'a-2': { command: 'x', env: { T: 'secret' } } },
    })
    await uninstall('cursor')
    expect(await readFile(config, 'utf8')).toBe(original)
  })

  it('does not restore the configuration while another client uses it', async () => {
    await write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await write('windsurf', '{"mcpServers": {"a": {"command": "x"}}}')
    await install('cursor', { isMove: true })
    await install('windsurf', { isMove: true })
    const { notes } = await uninstall('cursor')
    expect(notes).toEqual([expect.stringContaining('it is still used by windsurf')])
    expect(await readFile(join(where.project, 'foldout.config.json'), 'utf8')).toContain('"x"')
  })

  it('keeps what was added to the configuration since', async () => {
    const config = join(where.project, 'foldout.config.json')
    await write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await install('cursor')
    await writeFile(config, '{"mcpServers": {"mine": {"command": "m"}}}')
    await install('cursor', { isMove: true })
    await uninstall('cursor')
    expect(JSON.parse(await readFile(config, 'utf8'))).toEqual({ mcpServers: { mine: { command: 'm' } } })
  })

  it('refuses a configuration that is code, and one that does not parse', async () => {
    const text = '{"mcpServers": {"a": {"command": "x"}}}'
    const file = await write('cursor', text)
    await writeFile(join(where.project, 'foldout.config.ts'), 'export default {}')
    await expect(install('cursor', { isMove: true })).rejects.toThrow('is code')
    await writeFile(join(where.project, 'broken.json'), '{')
    await expect(install('cursor', { isMove: true, config: 'broken.json' })).rejects.toThrow('was not changed')
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})

describe('R52: the command of a client', () => {
  /** A fake client program that runs this script. */
  async function createProgram(name: string, script: string): Promise<string> {
    const bin = join(folder, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, name), `#!${process.execPath}\n${script}`, { mode: 0o755 })
    where = { ...where, env: { ...where.env, PATH: bin } }
    return join(folder, 'calls.json')
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
    const file = await write('claude-code', text)
    const { by, entry } = await install('claude-code')
    expect(by).toBe('command')
    expect(JSON.parse(await readFile(calls, 'utf8'))).toEqual([
      'mcp',
      'add-json',
      '-s',
      'user',
      'foldout',
      JSON.stringify(entry),
    ])
    expect((await install('claude-code', { version: '2.0.0' })).by).toBe('command')
    expect((await uninstall('claude-code')).status).toBe('restored')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it.each([
    ['fails', 'console.error("not signed in"); process.exit(1)', /not signed in/],
    ['does nothing', '', /the server is not in its file/],
  ])('is replaced by an edit if it %s', async (_, script, note) => {
    await createProgram('claude', script)
    const { by, notes } = await install('claude-code')
    expect(by).toBe('file')
    expect(notes.join()).toMatch(note)
    await uninstall('claude-code')
    await expect(stat(getFile('claude-code'))).rejects.toThrow('ENOENT')
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
    const { entry } = await install(client)
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
    await install('claude-code', { isDryRun: true })
    await write('claude-code', '{')
    await expect(install('claude-code')).rejects.toThrow('was not changed')
    await expect(stat(calls)).rejects.toThrow('ENOENT')
  })
})
