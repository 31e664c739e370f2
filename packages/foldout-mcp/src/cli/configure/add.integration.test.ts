import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Question } from '../../registry/server-json.ts'
import { addServer } from './add.ts'
import { createMachine, createSurroundings } from './machine.fixtures.ts'

const SERVER = join(import.meta.dirname, '../../gateway/server.fixtures.mjs')

const machine = createMachine()

/** Adds a server without trying it. */
function add(name: string, ...args: readonly string[]) {
  return machine.run('add', name, '--config', machine.config, '--no-try', ...args)
}

describe('R52: foldout add and remove', () => {
  const TOOLS = JSON.stringify({ tools: [{ name: 'look' }, { name: 'see' }] })

  it('adds a command after trying it, and removes it', async () => {
    await writeFile(machine.config, '{\n  // mine\n  "mcpServers": {}\n}\n')
    const added = await machine.run(
      'add',
      'eyes',
      '--config',
      machine.config,
      '--env',
      'A=1',
      '--env',
      'HOME',
      '--',
      process.execPath,
      SERVER,
      TOOLS,
    )
    expect(added).toEqual({ code: 0, stderr: '', stdout: `eyes was added to ${machine.config}. It works: 2 tools.\n` })
    const text = await readFile(machine.config, 'utf8')
    expect(text).toContain('// mine')
    expect(JSON.parse(text.replace('// mine', ''))).toEqual({
      mcpServers: {
        eyes: {
          command: process.execPath,
          args: [SERVER, TOOLS],
          env: { A: '1', HOME: '${HOME}' },
          cwd: process.cwd(),
        },
      },
    })
    expect((await machine.run('add', 'eyes', '--config', machine.config, '--', 'x')).code).toBe(2)
    expect(await machine.run('remove', 'eyes', '--config', machine.config, '--json')).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ name: 'eyes', config: machine.config }, null, 2)}\n`,
    })
    expect(await readFile(machine.config, 'utf8')).toBe('{\n  // mine\n  "mcpServers": {}\n}\n')
    expect(await machine.run('remove', 'eyes', '--config', machine.config)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has no server 'eyes'") as string,
    })
  })

  it('does not add a server that does not work, except with --no-try', async () => {
    const failed = await machine.run('add', 'x', '--config', machine.config, '--json', '--', 'this-is-not-a-command')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/^x does not work, so it was not added: Its command was not found/)
    expect(JSON.parse(failed.stdout)).toEqual({ error: { message: failed.stderr.trimEnd(), exitCode: 1 } })
    await expect(stat(machine.config)).rejects.toThrow('ENOENT')
    const added = await machine.run(
      'add',
      'x',
      '--config',
      machine.config,
      '--no-try',
      '--json',
      '--',
      'this-is-not-a-command',
      '--token',
      'SECRET',
    )
    expect(added.code).toBe(0)
    expect(added.stdout).not.toContain('SECRET')
    expect(await machine.readConfig()).toEqual({
      mcpServers: { x: { command: 'this-is-not-a-command', args: ['--token', 'SECRET'], cwd: process.cwd() } },
    })
  })

  it.each([
    ['in the folder of the configuration', '.', '.'],
    ['in a folder below it', 'project', 'project'],
  ])('starts a server %s, wherever the gateway is started', async (_, place, cwd) => {
    await writeFile(join(machine.folder, place, 'server.mjs'), `await import(${JSON.stringify(SERVER)})`)
    const words = ['--', process.execPath, 'server.mjs', TOOLS]
    const home = process.cwd()
    try {
      process.chdir(join(machine.folder, place))
      expect((await machine.run('add', 'eyes', '--config', machine.config, ...words)).stdout).toContain(
        'It works: 2 tools.',
      )
    } finally {
      process.chdir(home)
    }
    expect(await machine.readConfig()).toMatchObject({ mcpServers: { eyes: { cwd } } })
    expect((await machine.run('doctor', '--config', machine.config)).code).toBe(0)
  })

  it('does not tie packages with dots and images to the current folder', async () => {
    await add('n', '--', 'dnx', '--yes', 'N.P@0.1')
    await add('d', '--', 'docker', 'run', '-i', '--rm', 'ghcr.io/a/b:1.0')
    await add('v', '--', 'docker', 'run', '-i', '-v', './data:/data', 'ghcr.io/a/b:1.0')
    expect(await machine.readConfig()).toEqual({
      mcpServers: {
        n: { command: 'dnx', args: ['--yes', 'N.P@0.1'] },
        d: { command: 'docker', args: ['run', '-i', '--rm', 'ghcr.io/a/b:1.0'] },
        v: { command: 'docker', args: ['run', '-i', '-v', './data:/data', 'ghcr.io/a/b:1.0'], cwd: process.cwd() },
      },
    })
  })

  it('says that there is no file to remove a server from', async () => {
    expect(await machine.run('remove', 'x', '--config', machine.config)).toMatchObject({
      code: 2,
      stderr: `There is no file ${machine.config}.\n`,
    })
  })

  it('does not tie a package to the current folder', async () => {
    await add('x', '--', 'npx', '-y', 'server@1.2.3', '--level', 'debug')
    await add('y', '--', 'npx', '-y', 'server', '.')
    expect(await machine.readConfig()).toEqual({
      mcpServers: {
        x: { command: 'npx', args: ['-y', 'server@1.2.3', '--level', 'debug'] },
        y: { command: 'npx', args: ['-y', 'server', '.'], cwd: process.cwd() },
      },
    })
  })

  it('adds a URL with headers', async () => {
    await add('x', '--url', 'https://x/mcp', '--header', 'Authorization=Bearer ${T}')
    expect(await machine.readConfig()).toEqual({
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
    const file = await machine.write('server.json', REGISTRY)
    const { code, stderr } = await machine.run('add', 'x', '--config', machine.config, '--from', file)
    expect(code).toBe(2)
    expect(stderr).toBe('The server needs TOKEN: --env TOKEN=<value>, folder (what to serve): --set folder=<value>.\n')
    expect(await machine.run('add', 'x', '--config', machine.config, '--from', file, '--set', 'no=1')).toMatchObject({
      code: 2,
    })
    const added = await machine.run(
      'add',
      'x',
      '--config',
      machine.config,
      '--no-try',
      '--from',
      file,
      '--env',
      'TOKEN=SECRET',
      '--set',
      'folder=/d',
    )
    expect([added.code, added.stdout.includes('SECRET')]).toEqual([0, false])
    expect(await machine.readConfig()).toEqual({
      mcpServers: { x: { command: 'npx', args: ['-y', 'x', '/d'], env: { TOKEN: 'SECRET' } } },
    })
  })

  it('asks for what a server.json needs', async () => {
    const file = await machine.write('server.json', REGISTRY)
    const asked: Question[] = []
    const ask = async (questions: readonly Question[]): Promise<ReadonlyMap<Question, string>> => {
      asked.push(...questions)
      return new Map(questions.map((question) => [question, `my ${question.id}`]))
    }
    await addServer(
      'x',
      [],
      { config: machine.config, from: file, try: false },
      createSurroundings(machine.folder, { stdout: '', stderr: '' }),
      ask,
    )
    expect(asked.map(({ id, isSecret }) => [id, isSecret])).toEqual([
      ['TOKEN', true],
      ['folder', false],
    ])
    expect(await machine.readConfig()).toMatchObject({
      mcpServers: { x: { args: ['-y', 'x', 'my folder'], env: { TOKEN: 'my TOKEN' } } },
    })
  })

  it('takes several values of an argument, and only those that the server.json allows', async () => {
    const packageArguments = [
      { type: 'named', name: '--mode', choices: ['fast', 'safe'], default: 'safe' },
      { type: 'positional', valueHint: 'folder', isRepeated: true },
    ]
    const packages = [{ registryType: 'npm', identifier: 'x', packageArguments }]
    const file = await machine.write('server.json', JSON.stringify({ name: 'x', packages }))
    const add = (...set: readonly string[]) =>
      machine.run('add', 'x', '--config', machine.config, '--no-try', '--from', file, ...set)
    expect(await add('--set', 'mode=quick')).toMatchObject({ code: 2, stderr: 'mode must be one of fast, safe.\n' })
    expect(await add('--set', '--mode=fast', '--set', 'folder=/a', '--set', 'folder=/b')).toMatchObject({ code: 0 })
    expect(await machine.readConfig()).toMatchObject({
      mcpServers: { x: { args: ['-y', 'x', '--mode', 'fast', '/a', '/b'] } },
    })
  })

  it('repeats an argument for each value of its variable, and refuses several values otherwise', async () => {
    const runtimeArguments = [
      {
        type: 'named',
        name: '-e',
        value: 'TOKEN={tok}',
        isRepeated: true,
        variables: { tok: { isRequired: true } },
      },
    ]
    const packageArguments = [{ type: 'positional', valueHint: 'src' }]
    const packages = [{ registryType: 'oci', identifier: 'o', runtimeArguments, packageArguments }]
    const file = await machine.write('server.json', { name: 'o', packages })
    const words = ['--from', file, '--set', 'tok=abc', '--set', 'tok=def', '--set', 'src=a']
    expect(await add('o', ...words, '--set', 'src=b')).toMatchObject({
      code: 2,
      stderr: 'src takes one value. Name it once.\n',
    })
    expect((await add('o', ...words)).code).toBe(0)
    expect(await machine.readConfig()).toMatchObject({
      mcpServers: { o: { args: ['run', '-i', '--rm', '-e', 'TOKEN=abc', '-e', 'TOKEN=def', 'o', 'a'] } },
    })
  })

  it.each([
    [['add', 'x']],
    [['add', 'x', '--header', 'A=b', '--', 'y']],
    [['add', 'x', '--set', 'a=b', '--', 'y']],
    [['add', 'x', '--remote', '--', 'y']],
    [['add', 'x', '--env', 'A=b', '--url', 'https://x']],
    [['add', 'x', '--url', 'https://x', '--', 'y']],
    [['add', 'x', '--url', 'file:///etc/passwd']],
    [['add', '', '--', 'y']],
    [['add', 'x', '--env', '=1', '--', 'y']],
    [['add', 'x', '--from', '/this/is/not/a/file']],
  ])('refuses %j', async (args) => {
    const { code, stderr } = await machine.run(
      ...args.slice(0, 2),
      '--config',
      machine.config,
      '--no-try',
      ...args.slice(2),
    )
    expect([code, stderr === '']).toEqual([2, false])
    await expect(stat(machine.config)).rejects.toThrow('ENOENT')
  })

  it('uses the key that the file has its servers under', async () => {
    await machine.write('foldout.config.json', { servers: { z: { command: 'z' } } })
    await add('q', '--', 'npx', 'q')
    expect(await machine.readConfig()).toEqual({
      servers: { z: { command: 'z' }, q: { command: 'npx', args: ['q'] } },
    })
    expect((await add('z', '--', 'npx', 'z')).stderr).toContain("already has a server 'z'")
    expect((await machine.run('remove', 'z', '--config', machine.config)).code).toBe(0)
    expect(Object.keys(((await machine.readConfig()) as { servers: object }).servers)).toEqual(['q'])
  })

  it('accepts hostile names', async () => {
    await machine.run('add', '__proto__', '--config', machine.config, '--no-try', '--', 'x')
    await machine.run('add', 'say "hi"', '--config', machine.config, '--no-try', '--', 'y')
    expect(Object.keys(((await machine.readConfig()) as { mcpServers: object }).mcpServers)).toEqual([
      '__proto__',
      'say "hi"',
    ])
    expect((await machine.run('remove', '__proto__', '--config', machine.config)).code).toBe(0)
  })
})
