import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../main.ts'
import { createMachine, createSurroundings } from './machine.fixtures.ts'
import { REMOTE_SECRETS, SECRETS } from './secrets.fixtures.ts'

const machine = createMachine()

describe('R52: foldout import', () => {
  it('writes the servers of all clients, and says where each comes from', async () => {
    const cursor = await machine.write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    const zed = await machine.write('project/.zed/settings.json', {
      context_servers: { c: { source: 'custom', ...SECRETS } },
    })
    const { code, stdout, stderr } = await machine.run(
      'import',
      '--trust',
      '--config',
      machine.config,
      '--project',
      join(machine.folder, 'project'),
    )
    expect(stdout.split('\n')).toEqual([
      `a  new  cursor (${cursor}), zed (${zed})`,
      `b  new  cursor (${cursor})`,
      `2 servers were added to ${machine.config}.`,
      'To see what they cost: foldout tools',
      'To use them through the gateway: foldout install <client> --move',
      '',
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(await machine.readConfig()).toEqual({ mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    expect((await stat(machine.config)).mode & 0o777).toBe(0o600)
    const again = await machine.run('import', '--config', machine.config, '--no-project')
    expect(again.stdout).toContain('0 servers were added')
    expect(await machine.readConfig()).toEqual({ mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
  })

  it('never prints secrets, and writes nothing when it prints JSON', async () => {
    await machine.write('home/.cursor/mcp.json', { mcpServers: { a: SECRETS, b: REMOTE_SECRETS } })
    const broken = await machine.write('home/.kiro/settings/mcp.json', '{ "SECRET9": ')
    const { code, stdout, stderr } = await machine.run('import', '--json', '--no-project')
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

  it('says which servers are turned off', async () => {
    const off = { a: { command: 'x', disabled: true }, b: { command: 'y' } }
    const file = await machine.write('home/.cursor/mcp.json', { mcpServers: off })
    const { stdout } = await machine.run('import', '--dry-run', '--no-project')
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      `a  new, disabled  cursor (${file})`,
      `b  new            cursor (${file})`,
    ])
  })

  it('shows whole paths on a narrow terminal, and breaks sentences between words', async () => {
    const mcpServers = { a: { command: 'a' } }
    const file = await machine.write('home/.gemini/settings.json', { mcpServers, mcp: { excluded: ['a'] } })
    let stdout = ''
    const written = { stdout: '', stderr: '' }
    const surroundings = createSurroundings(machine.folder, written)
    const stream = { columns: 30, write: (text: string) => (stdout += text) }
    await runCommand(['node', 'foldout', 'import', '--dry-run', '--no-project'], { ...surroundings, stdout: stream })
    expect(stdout.split('\n')).toEqual([
      'a  new, disabled',
      '  gemini-cli',
      `  (${file})`,
      'a: disabled, because it is',
      'switched off in',
      file,
      'Nothing was written.',
      '',
    ])
  })

  it('says which clients have no servers', async () => {
    expect((await machine.run('import', '--client', 'zed', '--no-project')).stdout).toBe(
      'No servers were found in the files of Zed.\nTo add one, run: foldout add <name> -- <command>\n',
    )
    expect((await machine.run('import', '--no-project')).stdout).toMatch(/^No servers .* of 24 MCP clients\.\n/)
  })

  it('reads only the clients that were named', async () => {
    await machine.write('home/.cursor/mcp.json', { mcpServers: { a: { command: 'x' } } })
    await machine.write('home/.kiro/settings/mcp.json', { mcpServers: { b: { command: 'y' } } })
    const { stdout } = await machine.run('import', '--json', '--client', 'kiro', '--no-project')
    expect(Object.keys((JSON.parse(stdout) as { mcpServers: object }).mcpServers)).toEqual(['b'])
    expect(await machine.run('import', '--client', 'emacs')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no client 'emacs'. Choose from: antigravity, ") as string,
    })
    const near = { cursr: 'cursor', 'VS Cod': 'vscode', 'gemini-cl': 'gemini-cli', rooo: 'roo-code' }
    for (const [name, meant] of Object.entries(near))
      expect((await machine.run('install', name)).stderr).toMatch(
        new RegExp(`^There is no client '${name}'. Did you mean ${meant}\\? Choose from: antigravity, `),
      )
  })

  it('keeps comments in the configuration, and does not touch a file that does not parse', async () => {
    await machine.write('home/.cursor/mcp.json', { mcpServers: { a: { command: 'x' } } })
    await writeFile(machine.config, '{\n  // mine\n  "mcpServers": {}\n}\n')
    await machine.run('import', '--config', machine.config, '--no-project')
    expect(await readFile(machine.config, 'utf8')).toContain('// mine')
    await writeFile(machine.config, '{')
    const { code, stderr } = await machine.run('import', '--config', machine.config, '--no-project')
    expect([code, await readFile(machine.config, 'utf8')]).toEqual([2, '{'])
    expect(stderr).toContain('was not changed: it is not valid JSON')
  })

  it('keeps the folder of servers of a project, relative to a configuration above it', async () => {
    const entries = { a: { command: 'node', args: ['server.mjs'] }, b: { command: 'npx', args: ['-y', 'server'] } }
    await machine.write('project/.mcp.json', { mcpServers: entries })
    const other = join(machine.folder, 'elsewhere/foldout.config.json')
    const project = join(machine.folder, 'project')
    await machine.run('import', '--trust', '--config', machine.config, '--project', project)
    await machine.run('import', '--trust', '--config', other, '--project', project)
    expect(await machine.readConfig()).toEqual({ mcpServers: { ...entries, a: { ...entries.a, cwd: 'project' } } })
    expect(JSON.parse(await readFile(other, 'utf8'))).toMatchObject({ mcpServers: { a: { cwd: project } } })
    expect((await machine.run('import', '--trust', '--config', machine.config, '--project', project)).stdout).toContain(
      '0 servers were added',
    )
  })

  it('says once which file is wrong, and in which line', async () => {
    const binary = await machine.write('home/.kiro/settings/mcp.json', '')
    await writeFile(binary, Buffer.from([0xff, 0x00]))
    const toml = await machine.write('home/.codex/config.toml', 'a = 1\n[mcp_servers.a]\ncommand = nope\n')
    const { stderr } = await machine.run('import', '--no-project', '--dry-run')
    expect(stderr.split('\n')).toEqual([
      `${toml} is left out: it is not valid TOML: invalid value in line 3`,
      `${binary} is left out: it is not UTF-8 text`,
      '',
    ])
  })

  it('loses nothing when several imports run at once', async () => {
    const clients = ['.cursor/mcp.json', '.kiro/settings/mcp.json', '.mastracode/mcp.json', '.kimi-code/mcp.json']
    await Promise.all(
      clients.map((file, i) => machine.write(`home/${file}`, { mcpServers: { [`s${i}`]: { command: `c${i}` } } })),
    )
    const names = ['cursor', 'kiro', 'mastra-code', 'kimi-code']
    await Promise.all(
      names.map((name) => machine.run('import', '--config', machine.config, '--client', name, '--no-project')),
    )
    expect(Object.keys(((await machine.readConfig()) as { mcpServers: object }).mcpServers).sort()).toEqual([
      's0',
      's1',
      's2',
      's3',
    ])
  })
})
