import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { getCacheFolder, getDataFolder } from '../shared/surroundings.ts'
import { CLIENTS, getClient } from './known/clients.ts'
import { chooseFile, type Whereabouts } from './places.ts'

const LINUX: Whereabouts = { env: { HOME: '/home/ada' }, platform: 'linux', project: '/work' }
const MAC: Whereabouts = { env: { HOME: '/Users/ada' }, platform: 'darwin', project: '/work' }
const WINDOWS: Whereabouts = {
  env: { USERPROFILE: 'C:\\Users\\ada', APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
  platform: 'win32',
  project: 'C:\\work',
}

describe('R52: the file of a client', () => {
  it('is known for 24 clients on every system', () => {
    expect(CLIENTS).toHaveLength(24)
    const files = [LINUX, MAC, WINDOWS].map((where) => CLIENTS.map((client) => chooseFile(client, 'user', where)))
    expect(files[0]?.every((file) => file?.startsWith('/home/ada/'))).toBe(true)
    expect(files[1]?.every((file) => file?.startsWith('/Users/ada/'))).toBe(true)
    expect(files[2]?.every((file) => file?.startsWith('C:\\Users\\ada\\') && !file.includes('/'))).toBe(true)
  })

  it('is in the folder of the user where HOME is empty, and so is what Foldout keeps', () => {
    const env = { HOME: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '', XDG_DATA_HOME: '' }
    const files = CLIENTS.map((client) => chooseFile(client, 'user', { ...LINUX, env }) ?? '')
    const home = userInfo().homedir
    for (const file of [...files, getCacheFolder(env), getDataFolder(env)])
      expect({ file, isInside: file.startsWith(home) }).toEqual({ file, isInside: true })
  })

  it('is in the table of the guide', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guide/gateway.md'), 'utf8')
    const rows = guide.split('\n').filter((line) => / \| `[a-z-]+` \| /.test(line))
    expect(rows.map((row) => row.split('|')[2]?.trim())).toEqual(CLIENTS.map(({ name }) => `\`${name}\``))
    for (const [i, client] of CLIENTS.entries()) {
      const [project = '–'] = client.project ?? []
      const file = chooseFile(client, 'user', LINUX)?.replace('/home/ada', '~').replace('~/.config', '<settings>')
      expect(rows[i]?.replaceAll('`~/.config', '`<settings>')).toContain(`\`${file}\``)
      expect(rows[i]).toContain(project)
    }
  })

  it.each([
    [
      'claude-desktop',
      '/home/ada/.config/Claude/claude_desktop_config.json',
      '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    ],
    [
      'goose',
      '/home/ada/.config/goose/config.yaml',
      '/Users/ada/.config/goose/config.yaml',
      'C:\\Users\\ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml',
    ],
    [
      'zed',
      '/home/ada/.config/zed/settings.json',
      '/Users/ada/.config/zed/settings.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json',
    ],
    [
      'vscode',
      '/home/ada/.config/Code/User/mcp.json',
      '/Users/ada/Library/Application Support/Code/User/mcp.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json',
    ],
    ['claude-code', '/home/ada/.claude.json', '/Users/ada/.claude.json', 'C:\\Users\\ada\\.claude.json'],
  ])('%s depends on the system', (name, linux, mac, windows) => {
    const files = [LINUX, MAC, WINDOWS].map((where) => chooseFile(getClient(name), 'user', where))
    expect(files).toEqual([linux, mac, windows])
  })

  it.each([
    ['codex', 'CODEX_HOME', '/x/config.toml'],
    ['claude-code', 'CLAUDE_CONFIG_DIR', '/x/.claude.json'],
    ['grok-build', 'GROK_HOME', '/x/config.toml'],
    ['kimi-code', 'KIMI_CODE_HOME', '/x/mcp.json'],
    ['pi', 'PI_CODING_AGENT_DIR', '/x/mcp.json'],
    ['goose', 'XDG_CONFIG_HOME', '/x/goose/config.yaml'],
    ['opencode', 'XDG_CONFIG_HOME', '/x/opencode/opencode.json'],
    ['kilo-code', 'XDG_CONFIG_HOME', '/x/kilo/kilo.json'],
    ['zed', 'XDG_CONFIG_HOME', '/x/zed/settings.json'],
  ])('%s depends on %s', (name, variable, file) => {
    expect(chooseFile(getClient(name), 'user', { ...LINUX, env: { ...LINUX.env, [variable]: '/x' } })).toBe(file)
  })

  it('is found by the names people use', () => {
    const names = ['Claude', 'VS Code', 'copilot', 'claudeCode', 'Gemini CLI', 'roo'].map(
      (name) => getClient(name).name,
    )
    expect(names).toEqual(['claude-code', 'vscode', 'copilot-cli', 'claude-code', 'gemini-cli', 'roo-code'])
    expect(() => getClient('emacs')).toThrow(/^There is no client 'emacs'\. Choose from: antigravity, /)
  })
})
