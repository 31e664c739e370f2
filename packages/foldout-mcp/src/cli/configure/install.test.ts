import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachine } from './machine.fixtures.ts'
import { REMOTE_SECRETS, SECRETS } from './secrets.fixtures.ts'

const SECRETS_OF_B = { command: 'b', env: { TOKEN: 'SECRET9' } }

const machine = createMachine()

describe('R52: foldout install and uninstall', () => {
  it('say what they did, for people and for programs', async () => {
    const file = await machine.write('home/.cursor/mcp.json', '{}')
    const { code, stdout } = await machine.run('install', 'cursor', '--config', machine.config)
    expect([code, stdout.split('\n')[0]]).toEqual([0, `Foldout is installed in Cursor: ${file}`])
    expect(stdout).toContain('It has no servers yet. To import those of your clients: foldout import\n')
    expect(
      JSON.parse((await machine.run('install', 'cursor', '--config', machine.config, '--json')).stdout),
    ).toMatchObject({
      status: 'unchanged',
      file,
    })
    expect(JSON.parse((await machine.run('uninstall', 'cursor', '--json')).stdout)).toMatchObject({
      status: 'restored',
      file,
    })
    expect(await readFile(file, 'utf8')).toBe('{}')
  })

  it('without a client, lists those of this machine', async () => {
    const none = await machine.run('install')
    expect({ code: none.code, stdout: none.stdout }).toEqual({ code: 2, stdout: '' })
    expect(none.stderr).toMatch(/^Name the client to install the gateway in\.\nNo client was found on this machine\./)
    const file = await machine.write('home/.cursor/mcp.json', '{}')
    const { code, stderr } = await machine.run('install')
    expect(code).toBe(2)
    expect(stderr).toContain(`cursor (Cursor): ${file}\n`)
    expect(stderr).toMatch(/For example: foldout install cursor\n$/)
    expect(JSON.parse((await machine.run('install', '--json')).stdout)).toEqual({
      error: { message: 'Name the client to install the gateway in.', exitCode: 2 },
      clients: [{ name: 'cursor', title: 'Cursor', file }],
    })
  })

  it('say how to undo it, for the user and for a project', async () => {
    const place = join(machine.folder, 'my project')
    await mkdir(place, { recursive: true })
    const user = await machine.run('install', 'cursor', '--config', machine.config)
    expect(user.stdout).toContain('\nTo undo it: foldout uninstall cursor\n')
    const project = await machine.run('install', 'cursor', '--config', machine.config, '--project', place)
    expect(project.stdout).toContain(`\nTo undo it: foldout uninstall cursor --project '${place}'\n`)
    expect((await machine.run('uninstall', 'cursor', '--project', place)).stdout).toContain('The file is as it was')
    expect((await machine.run('uninstall', 'cursor')).stdout).toContain('The file is as it was')
  })

  it('say which servers the client still starts itself, and how to move them', async () => {
    const file = await machine.write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    const before = await readFile(file, 'utf8')
    const { stdout } = await machine.run('install', 'cursor', '--config', machine.config)
    expect(stdout).toContain(
      'Cursor also starts 2 servers itself: a, b\nTo move them into the gateway: foldout install cursor --move\n',
    )
    const moved = await machine.run('install', 'cursor', '--config', machine.config, '--move')
    expect(moved.stdout).toMatch(/Moved: a\nMoved: b\n/)
    expect(moved.stdout).not.toContain('by itself')
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).mcpServers)).toEqual(['foldout'])
    await machine.run('uninstall', 'cursor')
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  it('never print the servers they move', async () => {
    const text = JSON.stringify({ mcpServers: { a: SECRETS } })
    const file = await machine.write('home/.cursor/mcp.json', text)
    const installed = await machine.run('install', 'cursor', '--config', machine.config, '--move', '--json')
    expect(installed.stdout).not.toContain('SECRET')
    expect(await readFile(file, 'utf8')).not.toContain('SECRET')
    expect((await machine.run('uninstall', 'cursor')).stdout).toContain('Restored: a')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('say which file is in the way of a folder', async () => {
    const file = await machine.write('home/.cursor', 'x')
    const message = `${file} is a file, but must be a folder. Rename or remove the file, then try again.\n`
    expect(await machine.run('install', 'cursor', '--config', machine.config)).toEqual({
      code: 2,
      stdout: '',
      stderr: message,
    })
    await expect(stat(machine.config)).rejects.toThrow('ENOENT')
    const state = await machine.write('home/.local/state', 'x')
    const { code, stderr } = await machine.run('install', 'kiro', '--config', machine.config)
    expect([code, stderr]).toEqual([2, message.replace(file, state)])
  })

  it('say what would happen on a dry run', async () => {
    const file = await machine.write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS } })
    const dry = await machine.run('install', 'cursor', '--config', machine.config, '--move', '--dry-run')
    expect(dry.stdout.split('\n')).toEqual([
      `Foldout would be installed in Cursor: ${file}`,
      `It would serve ${machine.config}`,
      'Would move: a',
      '',
    ])
    await machine.run('install', 'cursor', '--config', machine.config, '--move')
    expect((await machine.run('uninstall', 'cursor', '--dry-run')).stdout.split('\n')).toEqual([
      `Foldout would be removed from Cursor: ${file}`,
      'Would be restored: a',
      `${machine.config} would be removed, with a, because the installation created it.`,
      '',
    ])
    expect((await machine.run('install', 'cursor', '--config', machine.config)).stdout).toContain('\nMoved before: a\n')
  })

  it('say what happened to servers that were moved', async () => {
    const file = await machine.write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: SECRETS_OF_B } })
    await machine.write('home/.kiro/settings/mcp.json', {})
    const other = join(machine.folder, 'other.json')
    const install = (...args: readonly string[]) => machine.run('install', ...args, '--config', machine.config)
    await install('cursor', '--move')
    await install('kiro')
    const { mcpServers } = (await machine.readConfig()) as { mcpServers: object }
    await machine.write('foldout.config.json', { mcpServers: { ...mcpServers, a: { command: 'new' } } })
    expect((await machine.run('uninstall', 'cursor')).stdout.split('\n')).toEqual([
      `Foldout was removed from Cursor. The file is as it was before: ${file}`,
      'Restored: a',
      'Restored: b',
      `${machine.config} stays as it is, because it is still used by kiro.`,
      `a was changed in ${machine.config} after it was moved, so it stays there. The client that it came from has its earlier definition.`,
      expect.stringContaining('A backup of the file: '),
      '',
    ])
    const moved = await machine.run('install', 'kiro', '--config', other)
    expect(moved.stdout.split('\n').slice(3, 5)).toEqual([
      `Removed from ${machine.config}: b`,
      `a was changed in ${machine.config} after it was moved, so it stays there.`,
    ])
  })

  it('say what they found instead of the gateway', async () => {
    const uninstall = async (): Promise<readonly string[]> =>
      (await machine.run('uninstall', 'cursor')).stdout.split('\n').filter((line) => !line.startsWith('A backup'))
    const file = await machine.write('home/.cursor/mcp.json', { mcpServers: { a: { command: 'x' } } })
    const install = () => machine.run('install', 'cursor', '--config', machine.config, '--move')
    const removed = `${machine.config} was removed, with a, because the installation created it.`
    await install()
    await rm(file)
    expect(await uninstall()).toEqual([
      `The file of Cursor had been deleted. It was created again, with the servers that were moved: ${file}`,
      'Restored: a',
      removed,
      '',
    ])
    await install()
    await machine.write('home/.cursor/mcp.json', {})
    expect(await uninstall()).toEqual([
      `Foldout had already been removed from Cursor. The servers that were moved are back: ${file}`,
      'Restored: a',
      removed,
      '',
    ])
    await install()
    await machine.write('home/.cursor/mcp.json', { mcpServers: { a: { command: 'mine' } } })
    expect(await uninstall()).toEqual([
      `Foldout had already been removed from Cursor: ${file}`,
      'Not restored: a, because Cursor has another server with this name',
      `a stays in ${machine.config}, because no client has it otherwise.`,
      '',
    ])
    await machine.write('home/.cursor/mcp.json', {
      mcpServers: { foldout: { command: 'foldout', args: ['serve', '-c', machine.config] } },
    })
    expect(await uninstall()).toEqual([
      `Foldout was removed from Cursor. Your later changes were kept: ${file}`,
      `There is no usable record of the installation, so servers that it moved were not restored. ${machine.config} has a.`,
      '',
    ])
  })

  it('refuse to serve the file of the client, at once', async () => {
    const file = await machine.write('home/.cursor/mcp.json', {})
    const { code, stderr } = await machine.run('install', 'cursor', '--config', file)
    expect(code).toBe(2)
    expect(stderr).toBe(
      `${file} is the file of Cursor itself, so the gateway would have to start itself. Name another configuration: --config <file>.\n`,
    )
  })

  it.each([
    ['{ bad', 'servers.json', 'is not valid JSON'],
    ['{"context_servers": {}}', 'settings.json', 'has "context_servers" instead of "mcpServers"'],
    ['[mcp_servers.a]\n', 'config.toml', 'is not JSON'],
    ['{"mcpServers": {}, "expose": "none"}', 'foldout.config.json', '"expose" must be one of'],
  ])('refuse a configuration that the gateway cannot read: %j', async (text, name, message) => {
    const config = await machine.write(name, text)
    for (const options of [[], ['--links'], ['--dry-run'], ['--move']]) {
      const { code, stderr } = await machine.run('install', 'cursor', '--config', config, ...options)
      expect([code, stderr.includes(message)]).toEqual([2, true])
    }
    expect(existsSync(join(machine.folder, 'home/.cursor'))).toBe(false)
  })

  it('create no folder of a project', async () => {
    const project = join(machine.folder, 'projct')
    for (const words of [['install', 'cursor'], ['import']]) {
      const { code, stderr } = await machine.run(...words, '--config', machine.config, '--project', project)
      expect([code, stderr]).toEqual([2, `There is no folder ${project}.\n`])
    }
    expect(existsSync(project)).toBe(false)
    expect((await machine.run('uninstall', 'cursor', '--project', project)).code).toBe(0)
  })

  it.each([
    ['cursor', /^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=foldout&config=[\w%]+$/],
    ['vscode', /^vscode:mcp\/install\?%7B%22name%22%3A%22foldout%22/],
    ['goose', /^goose:\/\/extension\?cmd=npx&arg=-y&arg=foldout-mcp%401\.2\.3&.*&id=foldout&name=foldout$/],
    ['lm-studio', /^lmstudio:\/\/add_mcp\?name=foldout&config=[\w%]+$/],
  ])('print a link for %s', async (client, link) => {
    const { stdout } = await machine.run('install', client, '--config', machine.config, '--links')
    expect(stdout.trim()).toMatch(link)
  })

  it('warn if a link leads to a configuration that does not exist', async () => {
    const words = ['install', 'cursor', '--config', machine.config, '--links']
    expect((await machine.run(...words)).stderr).toBe(
      `${machine.config} does not exist yet, so the gateway would not start. Create it before you open the link: foldout import\n`,
    )
    await machine.write('foldout.config.json', { mcpServers: {} })
    expect((await machine.run(...words)).stderr).toBe('')
  })

  it('say which other clients read the same file', async () => {
    const place = ['--project', join(machine.folder, 'project')]
    for (const client of ['claude-code', 'copilot-cli'])
      await machine.run('install', client, '--config', machine.config, '--edit', ...place)
    const file = join(machine.folder, 'project', '.mcp.json')
    const { stdout } = await machine.run('uninstall', 'claude-code', ...place)
    expect(stdout).toMatch(`${file} also belongs to Copilot CLI, which loses the gateway, too.`)
  })

  it.each([
    [['install'], 2],
    [['install', 'emacs'], 2],
    [['install', 'zed', '--links'], 2],
    [['install', 'windsurf', '--project'], 2],
    [['install', 'cursor', '--nope'], 2],
    [['uninstall', 'cursor'], 0],
    [['install', '--help'], 0],
  ])('%j ends with %s', async (args, code) => {
    expect((await machine.run(...args)).code).toBe(code)
  })

  it('keeps a server disabled that is switched off elsewhere in the client, and restores it as it was', async () => {
    const settings = { mcp: { excluded: ['off'] }, mcpServers: { off: { command: 'a' }, on: { command: 'b' } } }
    const file = await machine.write('home/.gemini/settings.json', settings)
    const before = await readFile(file, 'utf8')
    await machine.run('install', 'gemini-cli', '--move', '--config', machine.config)
    expect(await machine.readConfig()).toMatchObject({
      mcpServers: { off: { command: 'a', disabled: true }, on: { command: 'b' } },
    })
    await machine.run('uninstall', 'gemini-cli')
    expect(await readFile(file, 'utf8')).toBe(before)
  })
})
