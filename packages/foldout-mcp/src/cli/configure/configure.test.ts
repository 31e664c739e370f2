import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Question } from '../../registry/server-json.ts'
import { runCommand } from '../main.ts'
import { addServer } from './add.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')

let folder: string
let config: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'foldout-configure-')))
  config = join(folder, 'foldout.config.json')
  await mkdir(join(folder, 'project'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function createSurroundings(written: { stdout: string; stderr: string }): Parameters<typeof runCommand>[1] {
  return {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    env: {
      HOME: join(folder, 'home'),
      PATH: '',
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_DATA_HOME: join(folder, 'data'),
    },
    signal: new AbortController().signal,
    version: '1.2.3',
  }
}

async function run(...args: readonly string[]): Promise<Outcome> {
  const written = { stdout: '', stderr: '' }
  const code = await runCommand(['node', 'foldout', ...args], createSurroundings(written))
  return { code, ...written }
}

async function write(path: string, content: unknown): Promise<string> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

async function readConfig(): Promise<unknown> {
  return JSON.parse(await readFile(config, 'utf8')) as unknown
}

/** Every place where a secret may be. */
const SECRETS = {
  command: 'npx',
  args: [
    '-y',
    'srv',
    '--api-key',
    'SECRET1',
    '--token=SECRET2',
    'https://u:SECRET3@h/p?x=SECRET4',
    'ghp_SECRET5aaaaaaaaaaaaaaaaaaaa',
  ],
  env: { TOKEN: 'SECRET6', REF: '${REF}' },
}
const REMOTE_SECRETS = { url: 'https://h/mcp?key=SECRET7', headers: { Authorization: 'Bearer SECRET8' } }

describe('R52: foldout import', () => {
  it('writes the servers of all clients, and says where each comes from', async () => {
    const cursor = await write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    const zed = await write('project/.zed/settings.json', { context_servers: { c: { source: 'custom', ...SECRETS } } })
    const { code, stdout, stderr } = await run('import', '--config', config, '--project', join(folder, 'project'))
    expect(stdout.split('\n')).toEqual([
      `a  new  cursor (${cursor}), zed (${zed})`,
      `b  new  cursor (${cursor})`,
      `2 servers were added to ${config}.`,
      'To see what they cost: foldout tools',
      'To use them through the gateway: foldout install <client> --move',
      '',
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(await readConfig()).toEqual({ mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    expect((await stat(config)).mode & 0o777).toBe(0o600)
    const again = await run('import', '--config', config, '--no-project')
    expect(again.stdout).toContain('0 servers were added')
    expect(await readConfig()).toEqual({ mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
  })

  it('never prints secrets, and writes nothing when it prints JSON', async () => {
    await write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    const broken = await write('home/.kiro/settings/mcp.json', '{ "SECRET9": ')
    const { code, stdout, stderr } = await run('import', '--json', '--no-project')
    expect(code).toBe(0)
    expect(`${stdout}${stderr}`).not.toContain('SECRET')
    expect(JSON.parse(stdout)).toMatchObject({
      config: null,
      mcpServers: {
        a: {
          command: 'npx',
          args: ['-y', 'srv', '--api-key', '***', '--token=***', 'https://***@h/p?x=***', '***'],
          env: { REF: '${REF}' },
        },
        b: { url: 'https://h/mcp?key=***' },
      },
      servers: [{ name: 'a', sources: [{ client: 'cursor' }] }, { name: 'b' }],
      problems: [{ client: 'kiro', file: broken }],
    })
    expect(stderr).toContain(`${broken} is left out: it is not valid JSON`)
  })

  it('says which clients have no servers', async () => {
    expect((await run('import', '--client', 'zed', '--no-project')).stdout).toBe(
      'No servers were found in the files of Zed.\nTo add one, run: foldout add <name> -- <command>\n',
    )
    expect((await run('import', '--no-project')).stdout).toMatch(/^No servers .* of 24 MCP clients\.\n/)
  })

  it('reads only the clients that were named', async () => {
    await write('home/.cursor/mcp.json', { mcpServers: { a: { command: 'x' } } })
    await write('home/.kiro/settings/mcp.json', { mcpServers: { b: { command: 'y' } } })
    const { stdout } = await run('import', '--json', '--client', 'kiro', '--no-project')
    expect(Object.keys((JSON.parse(stdout) as { mcpServers: object }).mcpServers)).toEqual(['b'])
    expect(await run('import', '--client', 'emacs')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no client 'emacs'") as string,
    })
  })

  it('keeps comments in the configuration, and does not touch a file that does not parse', async () => {
    await write('home/.cursor/mcp.json', { mcpServers: { a: { command: 'x' } } })
    await writeFile(config, '{\n  // mine\n  "mcpServers": {}\n}\n')
    await run('import', '--config', config, '--no-project')
    expect(await readFile(config, 'utf8')).toContain('// mine')
    await writeFile(config, '{')
    const { code, stderr } = await run('import', '--config', config, '--no-project')
    expect([code, await readFile(config, 'utf8')]).toEqual([2, '{'])
    expect(stderr).toContain('was not changed: it is not valid JSON')
  })

  it('loses nothing when several imports run at once', async () => {
    const clients = ['.cursor/mcp.json', '.kiro/settings/mcp.json', '.mastracode/mcp.json', '.kimi-code/mcp.json']
    await Promise.all(
      clients.map((file, i) => write(`home/${file}`, { mcpServers: { [`s${i}`]: { command: `c${i}` } } })),
    )
    const names = ['cursor', 'kiro', 'mastra-code', 'kimi-code']
    await Promise.all(names.map((name) => run('import', '--config', config, '--client', name, '--no-project')))
    expect(Object.keys(((await readConfig()) as { mcpServers: object }).mcpServers).sort()).toEqual([
      's0',
      's1',
      's2',
      's3',
    ])
  })
})

describe('R52: foldout install and uninstall', () => {
  it('say what they did, for people and for programs', async () => {
    const file = await write('home/.cursor/mcp.json', '{}')
    const { code, stdout } = await run('install', 'cursor', '--config', config)
    expect([code, stdout.split('\n')[0]]).toEqual([0, `Foldout is installed in Cursor: ${file}`])
    expect(stdout).toContain('It has no servers yet. To import those of your clients: foldout import\n')
    expect(JSON.parse((await run('install', 'cursor', '--config', config, '--json')).stdout)).toMatchObject({
      status: 'unchanged',
      file,
    })
    expect(JSON.parse((await run('uninstall', 'cursor', '--json')).stdout)).toMatchObject({ status: 'restored', file })
    expect(await readFile(file, 'utf8')).toBe('{}')
  })

  it('say how to undo it, for the user and for a project', async () => {
    const place = join(folder, 'my project')
    await mkdir(place, { recursive: true })
    const user = await run('install', 'cursor', '--config', config)
    expect(user.stdout).toContain('\nTo undo it: foldout uninstall cursor\n')
    const project = await run('install', 'cursor', '--config', config, '--project', place)
    expect(project.stdout).toContain(`\nTo undo it: foldout uninstall cursor --project '${place}'\n`)
    expect((await run('uninstall', 'cursor', '--project', place)).stdout).toContain('The file is as it was')
    expect((await run('uninstall', 'cursor')).stdout).toContain('The file is as it was')
  })

  it('say which servers the client still starts itself, and how to move them', async () => {
    const file = await write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    const before = await readFile(file, 'utf8')
    const { stdout } = await run('install', 'cursor', '--config', config)
    expect(stdout).toContain(
      'Cursor also starts 2 servers itself: a, b\nTo move them into the gateway: foldout install cursor --move\n',
    )
    const moved = await run('install', 'cursor', '--config', config, '--move')
    expect(moved.stdout).toMatch(/Moved: a\nMoved: b\n/)
    expect(moved.stdout).not.toContain('by itself')
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).mcpServers)).toEqual(['foldout'])
    await run('uninstall', 'cursor')
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  it('never print the servers they move', async () => {
    const text = JSON.stringify({ mcpServers: { a: SECRETS } })
    const file = await write('home/.cursor/mcp.json', text)
    const installed = await run('install', 'cursor', '--config', config, '--move', '--json')
    expect(installed.stdout).not.toContain('SECRET')
    expect(await readFile(file, 'utf8')).not.toContain('SECRET')
    expect((await run('uninstall', 'cursor')).stdout).toContain('Restored: a')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it.each([
    ['cursor', /^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=foldout&config=[\w%]+$/],
    ['vscode', /^vscode:mcp\/install\?%7B%22name%22%3A%22foldout%22/],
    ['goose', /^goose:\/\/extension\?cmd=npx&arg=-y&arg=foldout-mcp%401\.2\.3&.*&id=foldout&name=foldout$/],
    ['lm-studio', /^lmstudio:\/\/add_mcp\?name=foldout&config=[\w%]+$/],
  ])('print a link for %s', async (client, link) => {
    const { stdout } = await run('install', client, '--config', config, '--links')
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
    expect((await run(...args)).code).toBe(code)
  })
})

describe('R52: foldout add and remove', () => {
  const TOOLS = JSON.stringify({ tools: [{ name: 'look' }, { name: 'see' }] })

  it('adds a command after trying it, and removes it', async () => {
    await writeFile(config, '{\n  // mine\n  "mcpServers": {}\n}\n')
    const added = await run(
      'add',
      'eyes',
      '--config',
      config,
      '--env',
      'A=1',
      '--env',
      'HOME',
      '--',
      process.execPath,
      SERVER,
      TOOLS,
    )
    expect(added).toMatchObject({ code: 0, stdout: `eyes was added to ${config}. It works: 2 tools.\n` })
    const text = await readFile(config, 'utf8')
    expect(text).toContain('// mine')
    expect(JSON.parse(text.replace('// mine', ''))).toEqual({
      mcpServers: { eyes: { command: process.execPath, args: [SERVER, TOOLS], env: { A: '1', HOME: '${HOME}' } } },
    })
    expect((await run('add', 'eyes', '--config', config, '--', 'x')).code).toBe(2)
    expect(await run('remove', 'eyes', '--config', config)).toMatchObject({ code: 0 })
    expect(await readFile(config, 'utf8')).toBe('{\n  // mine\n  "mcpServers": {}\n}\n')
    expect(await run('remove', 'eyes', '--config', config)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has no server 'eyes'") as string,
    })
  })

  it('does not add a server that does not work, except with --no-try', async () => {
    const failed = await run('add', 'x', '--config', config, '--json', '--', 'this-is-not-a-command')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/^x does not work, so it was not added: Its command was not found/)
    expect(JSON.parse(failed.stdout)).toMatchObject({ isAdded: false, trial: { isWorking: false } })
    await expect(stat(config)).rejects.toThrow('ENOENT')
    const added = await run(
      'add',
      'x',
      '--config',
      config,
      '--no-try',
      '--json',
      '--',
      'this-is-not-a-command',
      '--token',
      'SECRET',
    )
    expect(added.code).toBe(0)
    expect(added.stdout).not.toContain('SECRET')
    expect(await readConfig()).toEqual({
      mcpServers: { x: { command: 'this-is-not-a-command', args: ['--token', 'SECRET'] } },
    })
  })

  it('adds a URL with headers', async () => {
    await run(
      'add',
      'x',
      '--config',
      config,
      '--no-try',
      '--url',
      'https://x/mcp',
      '--header',
      'Authorization=Bearer ${T}',
    )
    expect(await readConfig()).toEqual({
      mcpServers: { x: { url: 'https://x/mcp', headers: { Authorization: 'Bearer ${T}' } } },
    })
  })

  const REGISTRY = {
    name: 'io.github.ada/x',
    packages: [
      {
        registryType: 'npm',
        identifier: 'x',
        packageArguments: [{ type: 'positional', valueHint: 'folder', isRequired: true, description: 'what to serve' }],
        environmentVariables: [{ name: 'TOKEN', isRequired: true, isSecret: true }],
      },
    ],
  }

  it('lists what a server.json needs if there is nobody to ask', async () => {
    const file = await write('server.json', REGISTRY)
    const { code, stderr } = await run('add', 'x', '--config', config, '--from', file)
    expect(code).toBe(2)
    expect(stderr).toBe('The server needs TOKEN: --env TOKEN=<value>, folder (what to serve): --set folder=<value>.\n')
    expect(await run('add', 'x', '--config', config, '--from', file, '--set', 'no=1')).toMatchObject({ code: 2 })
    const added = await run(
      'add',
      'x',
      '--config',
      config,
      '--no-try',
      '--from',
      file,
      '--env',
      'TOKEN=SECRET',
      '--set',
      'folder=/d',
    )
    expect([added.code, added.stdout.includes('SECRET')]).toEqual([0, false])
    expect(await readConfig()).toEqual({
      mcpServers: { x: { command: 'npx', args: ['-y', 'x', '/d'], env: { TOKEN: 'SECRET' } } },
    })
  })

  it('asks for what a server.json needs', async () => {
    const file = await write('server.json', REGISTRY)
    const asked: Question[] = []
    const ask = async (questions: readonly Question[]): Promise<ReadonlyMap<Question, string>> => {
      asked.push(...questions)
      return new Map(questions.map((question) => [question, `my ${question.id}`]))
    }
    await addServer('x', [], { config, from: file, try: false }, createSurroundings({ stdout: '', stderr: '' }), ask)
    expect(asked.map(({ id, isSecret }) => [id, isSecret])).toEqual([
      ['TOKEN', true],
      ['folder', false],
    ])
    expect(await readConfig()).toMatchObject({
      mcpServers: { x: { args: ['-y', 'x', 'my folder'], env: { TOKEN: 'my TOKEN' } } },
    })
  })

  it.each([
    [['add', 'x']],
    [['add', 'x', '--url', 'https://x', '--', 'y']],
    [['add', 'x', '--url', 'file:///etc/passwd']],
    [['add', '', '--', 'y']],
    [['add', 'x', '--env', '=1', '--', 'y']],
    [['add', 'x', '--from', '/this/is/not/a/file']],
  ])('refuses %j', async (args) => {
    const { code, stderr } = await run(...args.slice(0, 2), '--config', config, '--no-try', ...args.slice(2))
    expect([code, stderr === '']).toEqual([2, false])
    await expect(stat(config)).rejects.toThrow('ENOENT')
  })

  it('accepts hostile names', async () => {
    await run('add', '__proto__', '--config', config, '--no-try', '--', 'x')
    await run('add', 'say "hi"', '--config', config, '--no-try', '--', 'y')
    expect(Object.keys(((await readConfig()) as { mcpServers: object }).mcpServers)).toEqual(['__proto__', 'say "hi"'])
    expect((await run('remove', '__proto__', '--config', config)).code).toBe(0)
  })
})
