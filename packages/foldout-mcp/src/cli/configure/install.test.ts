import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachine } from './machine.fixtures.ts'
import { REMOTE_SECRETS, SECRETS } from './secrets.fixtures.ts'

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
    await rm(join(machine.folder, 'home/.local'), { recursive: true })
    const state = await machine.write('home/.local/state', 'x')
    const { code, stderr } = await machine.run('install', 'kiro', '--config', machine.config)
    expect([code, stderr]).toEqual([2, message.replace(file, state)])
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
})
