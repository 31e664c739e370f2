import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collectServers, mergeServers, type Found } from './collect.ts'
import { applyChange, loadFormat } from './documents/document.ts'
import type { Scope } from './client.ts'
import { CLIENTS, getClient } from './known/clients.ts'
import { chooseFile, type Whereabouts } from './places.ts'

let folder: string
let where: Whereabouts
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'foldout-collect-')))
  where = { env: { HOME: join(folder, 'home') }, platform: 'linux', project: join(folder, 'project') }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(path: string, text: string): Promise<string> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

function collect(client?: string): Promise<Found> {
  return collectServers(client === undefined ? CLIENTS : [getClient(client)], ['user', 'project'], where)
}

describe.each(CLIENTS)('R52: $name', (client) => {
  it('has its servers collected', async () => {
    const [map] = client.maps
    const { path, isList = false, shape } = map ?? { path: [], shape: {} }
    const field = shape.command ?? 'command'
    const launch = shape.isCommandList ? { [field]: ['srv', '--port', '1'] } : { [field]: 'srv', args: ['--port', '1'] }
    const named = shape.hasName ? { name: 'mine' } : {}
    const value = { ...shape.fixed, ...named, ...launch }
    const text = applyChange(await loadFormat(client.format), '', { path, isList, name: 'mine', value })
    const file = chooseFile(client, 'user', where) ?? ''
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    const { servers, skipped, problems } = await collect()
    expect([skipped, problems]).toEqual([[], []])
    expect(servers).toEqual([
      {
        source: { client: client.name, file, name: 'mine' },
        scope: 'user',
        definition: { command: 'srv', args: ['--port', '1'] },
        notes: [],
      },
    ])
  })
})

describe('R52: many servers', () => {
  const list = (count: number, create: (i: number) => object) =>
    Array.from({ length: count }, (_, i) => ({
      source: { client: 'cursor', file: '', name: `s${i}` },
      scope: 'user' as const,
      definition: { command: 'x', ...create(i) },
      notes: [],
    }))

  it('are merged in about as many steps as there are servers', () => {
    const measure = (count: number): number => {
      const found = list(count, (i) => ({ args: [String(i)] }))
      const times = Array.from({ length: 3 }, () => {
        const start = performance.now()
        expect(mergeServers(found)).toHaveLength(count)
        return performance.now() - start
      })
      return Math.min(...times)
    }
    measure(8_000)
    // Comparing each with all others would take 1,600 times as long.
    expect(measure(8_000) / measure(200)).toBeLessThan(400)
  })

  it('with one command line are recognized again', () => {
    const found = list(1_500, (i) => ({ env: { TOKEN: String(i) } }))
    const known = new Map(found.map(({ source, definition }) => [source.name, definition]))
    expect(mergeServers(found, known).filter(({ isKnown }) => !isKnown)).toEqual([])
  })
})

describe('R52: servers that are switched off elsewhere in the files of their client', () => {
  const getDisabled = async (): Promise<readonly string[]> =>
    mergeServers((await collect()).servers).flatMap(({ name, definition, notes }) =>
      definition.disabled ? [`${name}: ${notes.join()}`] : [],
    )
  const servers = (...names: readonly string[]): object =>
    Object.fromEntries(names.map((name) => [name, { command: name }]))

  it('Claude Code: for one project, or in a list for .mcp.json', async () => {
    const { project } = where
    const own = { mcpServers: servers('e'), disabledMcpServers: ['a', 'e'], disabledMcpjsonServers: ['c', 'b'] }
    const others = { [join(folder, 'other')]: { disabledMcpServers: ['b', 'd'] } }
    const state = { mcpServers: servers('a', 'b'), projects: { [project]: own, ...others } }
    const file = await write('home/.claude.json', JSON.stringify(state))
    await write('project/.mcp.json', JSON.stringify({ mcpServers: servers('c', 'd', 'f') }))
    const settings = await write('project/.claude/settings.local.json', '{"disabledMcpjsonServers": ["d", "a", "b"]}')
    await write('project/.claude/settings.json', '{ broken')
    const why = 'disabled, because it is switched off in'
    expect(await getDisabled()).toEqual([
      `a: ${why} ${file}`,
      `e: ${why} ${file}`,
      `c: ${why} ${file}`,
      `d: ${why} ${settings}`,
    ])
  })

  it('Gemini CLI: with its lists, and with /mcp disable', async () => {
    const mcpServers = servers('a', 'b', 'C', 'd')
    await write('home/.gemini/settings.json', JSON.stringify({ mcpServers, mcp: { excluded: ['a'], allowed: [] } }))
    await write('home/.gemini/mcp-server-enablement.json', '{"c": {"enabled": false}, "d": {"enabled": true}}')
    expect((await getDisabled()).map((line) => line.slice(0, 2))).toEqual(['a:', 'C:'])
    await write('project/.gemini/settings.json', '{"mcp": {"allowed": ["a", "d"]}}')
    expect((await getDisabled()).map((line) => line.slice(0, 2))).toEqual(['a:', 'b:', 'C:'])
  })

  it('are enabled if another client has them switched on', async () => {
    const mcpServers = servers('a')
    await write('home/.gemini/settings.json', JSON.stringify({ mcpServers, mcp: { excluded: ['a'] } }))
    await write('home/.cursor/mcp.json', JSON.stringify({ mcpServers }))
    const [server] = mergeServers((await collect()).servers)
    expect(server).toMatchObject({ definition: { command: 'a' }, notes: [] })
    expect(server?.definition).not.toHaveProperty('disabled')
  })
})

describe('R52: entries of clients', () => {
  it.each([
    [
      'cursor',
      '.cursor/mcp.json',
      '{"mcpServers": {"a": {"url": "https://a/mcp", "headers": {"K": "${env:KEY}"}}}}',
      { url: 'https://a/mcp', headers: { K: '${KEY}' } },
    ],
    [
      'windsurf',
      '.codeium/windsurf/mcp_config.json',
      '{"mcpServers": {"a": {"serverUrl": "https://a"}}}',
      { url: 'https://a' },
    ],
    ['gemini-cli', '.gemini/settings.json', '{"mcpServers": {"a": {"httpUrl": "https://a"}}}', { url: 'https://a' }],
    [
      'gemini-cli',
      '.gemini/settings.json',
      '{"mcpServers": {"a": {"httpUrl": "https://a", "oauth": {"enabled": true, "clientId": "me", "scopes": ["read"]}}}}',
      { url: 'https://a', auth: { clientId: 'me', scopes: ['read'] } },
    ],
    [
      'cursor',
      '.cursor/mcp.json',
      '{"mcpServers": {"a": {"url": "https://a", "auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "${env:SECRET}"}}}}',
      { url: 'https://a', auth: { clientId: 'me', clientSecret: '${SECRET}' } },
    ],
    [
      'cline',
      '.cline/data/settings/cline_mcp_settings.json',
      '{"mcpServers": {"a": {"url": "https://a", "type": "sse", "disabled": true}}}',
      { type: 'sse', url: 'https://a', disabled: true },
    ],
    [
      'goose',
      '.config/goose/config.yaml',
      'extensions:\n  a:\n    type: streamable_http\n    uri: https://a\n    enabled: false\n',
      { url: 'https://a', disabled: true },
    ],
    [
      'codex',
      '.codex/config.toml',
      '[mcp_servers.a]\nurl = "https://a"\nbearer_token_env_var = "TOKEN"\nhttp_headers = { X = "y" }\ntool_timeout_sec = 7\n',
      { url: 'https://a', headers: { X: 'y', Authorization: 'Bearer ${TOKEN}' }, timeoutSeconds: 7 },
    ],
    [
      'opencode',
      '.config/opencode/opencode.jsonc',
      '{"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"K": "{env:KEY}"}, "enabled": false}}}',
      { command: 'x', args: ['y'], env: { K: '${KEY}' }, disabled: true },
    ],
    [
      'opencode',
      '.config/opencode/opencode.json',
      '{"mcp": {"servers": {"a": {"type": "remote", "url": "https://a"}}}}',
      { url: 'https://a' },
    ],
    [
      'kimi-code',
      '.kimi-code/mcp.json',
      '{"mcpServers": {"a": {"transport": "sse", "url": "https://a", "toolTimeoutMs": 5000}}}',
      { type: 'sse', url: 'https://a', timeoutSeconds: 5 },
    ],
    [
      'vscode',
      '.config/Code/User/profiles/x1/mcp.json',
      '{"servers": {"a": {"type": "stdio", "command": "x", "args": ["${workspaceFolder}/y"], "envFile": ".env"}}}',
      { command: 'x', args: ['${ROOT}/y'], envFile: '.env' },
    ],
    [
      'zed',
      '.config/zed/settings.json',
      '{"context_servers": {"a": {"command": {"path": "x", "args": ["y"], "env": {"K": "v"}}, "settings": {}}}}',
      { command: 'x', args: ['y'], env: { K: 'v' } },
    ],
    [
      'mcporter',
      '.mcporter/mcporter.json',
      '{"mcpServers": {"a": {"baseUrl": "https://a/mcp", "bearerTokenEnv": "TOKEN", "headers": {"X": "$env:KEY"}}}}',
      { url: 'https://a/mcp', headers: { X: '${KEY}', Authorization: 'Bearer ${TOKEN}' } },
    ],
    [
      'pi',
      '.pi/agent/mcp.json',
      '{"mcpServers": {"a": {"url": "https://a/mcp", "auth": "bearer", "bearerToken": "$env:TOKEN"}}}',
      { url: 'https://a/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
    ],
    ['continue', '.continue/config.yaml', 'mcpServers:\n  - name: a\n    command: x\n', { command: 'x' }],
    [
      'continue',
      '.continue/config.yaml',
      'mcpServers:\n  - {name: a, url: "https://a", requestOptions: {headers: {X: "${{ secrets.ada/tools/x-key }}"}}, apiKey: "${{ secrets.KEY }}"}\n',
      { url: 'https://a', headers: { X: '${X_KEY}', Authorization: 'Bearer ${KEY}' } },
    ],
    [
      'codex',
      '.codex/config.toml',
      '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["TOKEN", { name = "KEY", source = "remote" }]\n',
      { command: 'x', env: { TOKEN: '${TOKEN:-}', KEY: '${KEY:-}' } },
    ],
    [
      'gemini-cli',
      '.gemini/settings.json',
      '{"mcpServers": {"a": {"command": "x", "args": ["$HOME/y"], "env": {"K": "$KEY", "P": "pa$word$1"}}}}',
      { command: 'x', args: ['${HOME}/y'], env: { K: '${KEY}', P: 'pa$word$1' } },
    ],
    [
      'cursor',
      '.cursor/mcp.json',
      '{"mcpServers": {"a": {"command": "x", "env": {"K": "$KEY"}}}}',
      { command: 'x', env: { K: '$KEY' } },
    ],
    [
      'lm-studio',
      '.cache/lm-studio/mcp.json',
      '{"mcpServers": {"a": {"command": "x", "args": [8080, true]}}}',
      { command: 'x', args: ['8080', 'true'] },
    ],
  ])('%s: %s %s', async (client, file, text, definition) => {
    await write(`home/${file}`, text)
    const { servers, problems } = await collect(client)
    expect(problems).toEqual([])
    expect(servers.map((server) => server.definition)).toEqual([definition])
  })

  it('leaves out entries of a list that have no name', async () => {
    const text = 'mcpServers:\n  - command: nameless\n  - name: a\n    command: x\n  - name: 5\n    command: y\n'
    const file = await write('home/.continue/config.yaml', text)
    const { servers, skipped } = await collect('continue')
    expect(servers.map(({ source }) => source.name)).toEqual(['a'])
    expect(skipped).toEqual(
      ['Entry 1', 'Entry 3'].map((name) => ({
        source: { client: 'continue', file, name },
        reason: 'it has no name',
      })),
    )
  })

  it('of a project are relative to its folder', async () => {
    await write(
      'project/.mcp.json',
      '{"mcpServers": {"a": {"command": "./server.js"}, "b": {"command": "x", "cwd": "data"}}}',
    )
    await write('project/.continue/mcpServers/one.json', '{"mcpServers": {"c": {"command": "y"}}}')
    await write(
      'home/.claude.json',
      JSON.stringify({
        projects: {
          [where.project]: { mcpServers: { d: { command: 'z' } } },
          '/other': { mcpServers: { e: { command: 'no' } } },
        },
      }),
    )
    const { servers } = await collect()
    expect(Object.fromEntries(servers.map(({ source, definition }) => [source.name, definition]))).toEqual({
      a: { command: './server.js', cwd: where.project },
      b: { command: 'x', cwd: join(where.project, 'data') },
      c: { command: 'y', cwd: where.project },
      d: { command: 'z', cwd: where.project },
    })
  })

  it('of a project that the user keeps in a file of their own are collected only with the project', async () => {
    const entry = { mcpServers: { d: { command: 'z' } } }
    const own = { mcpServers: { mine: { command: 'y' } }, projects: { [where.project]: entry } }
    await write('home/.claude.json', JSON.stringify(own))
    const names = async (scopes: readonly Scope[]): Promise<readonly string[]> => {
      const { servers } = await collectServers([getClient('claude-code')], scopes, where)
      return servers.map(({ source }) => source.name)
    }
    expect(await names(['user', 'project'])).toEqual(['mine', 'd'])
    expect(await names(['user'])).toEqual(['mine'])
  })

  it.each([
    [['node', 'server.mjs'], true],
    [['node', 'dist/server.mjs'], true],
    [['python', '${FILE:-server.py}'], true],
    [['node', '${FILE:-./server.mjs}', '--x'], true],
    [['node', '${FILE:-/opt/server.mjs}', '--x'], false],
    [['node', '/opt/server.mjs', '${TOKEN:-}'], false],
    [['npx', '-y', 'server', '${LEVEL:-debug}'], false],
    [['node', '/opt/server.mjs', '--stdio'], false],
    [['node', '--import', '/opt/hook.mjs', 'server.mjs'], true],
    [['/opt/server'], false],
    [['/opt/server', '--root', '.'], true],
    [['./server'], true],
    [['bin/server', '/data'], true],
    [['server'], true],
    [['server', '--stdio'], true],
    [['python', '-m', 'server'], true],
    [['npm', 'run', 'mcp'], true],
    [['npx', '-y', '@modelcontextprotocol/server-memory'], false],
    [['npx', '-y', 'server@1.2.3', '--api-key', 'abc', '--level=debug'], false],
    [['cmd', '/c', 'npx', '-y', 'server@latest'], false],
    [['npx', '-y', '@modelcontextprotocol/server-filesystem', '.'], true],
    [['npx', '-y', '@modelcontextprotocol/server-filesystem', '/data', '~/notes'], true],
    [['npx', '-y', '@modelcontextprotocol/server-filesystem', 'data'], true],
    [['npx', '-y', 'server', '--root=data'], true],
    [['npx', '-y', 'server', '--root=other'], false],
    [['npx', '-y', 'server', 'notes.db'], true],
    [['npx', '-y', 'mcp-remote', 'https://a/mcp'], false],
    [['uvx', 'mcp-server-git', '--repository', '${ROOT}'], false],
    [['docker', 'run', '-i', '--rm', '-e', 'TOKEN', 'ghcr.io/a/b'], true],
  ])('of a project: %j depends on its folder: %s', async (words, isDependent) => {
    const [command, ...args] = words
    await mkdir(join(where.project, 'data'), { recursive: true })
    await write('project/.mcp.json', JSON.stringify({ mcpServers: { a: { command, args } } }))
    const { servers } = await collect('claude-code')
    expect(servers[0]?.definition.cwd).toBe(isDependent ? where.project : undefined)
  })

  it('turn the input prompts of VS Code into variables', async () => {
    const inputs = [
      { id: 'github-token', type: 'promptString', description: 'Your token', password: true },
      { id: '9host', default: 'localhost' },
    ]
    const entry = { command: 'x', env: { T: '${input:github-token}', H: '${input:9host}' } }
    await write('project/.vscode/mcp.json', JSON.stringify({ inputs, servers: { a: entry } }))
    const { servers } = await collect('vscode')
    expect(servers[0]).toMatchObject({
      definition: { env: { T: '${GITHUB_TOKEN}', H: '${_9HOST:-localhost}' } },
      notes: [
        'set the environment variable GITHUB_TOKEN (Your token), which VS Code asks for',
        'set the environment variable _9HOST, which VS Code asks for',
      ],
    })
  })

  it('are left out if they are Foldout itself, part of the client, or not servers', async () => {
    const entries = {
      foldout: { command: 'npx', args: ['-y', 'foldout-mcp@0.1.0', 'serve'] },
      here: { command: 'node', args: ['/x/bin/foldout.js', 'serve'] },
      windows: { command: 'cmd', args: ['/c', 'npx', '-y', 'foldout-mcp', 'serve'] },
      empty: {},
      text: 'npx a',
      mine: { command: 'foldout-notes' },
    }
    await write('home/.cursor/mcp.json', JSON.stringify({ mcpServers: entries }))
    await write('home/.config/goose/config.yaml', 'extensions:\n  developer:\n    type: builtin\n')
    const { servers, skipped } = await collect()
    expect(servers.map(({ source }) => source.name)).toEqual(['mine'])
    expect(skipped.map(({ source, reason }) => [source.name, reason])).toEqual([
      ['foldout', 'it is Foldout itself'],
      ['here', 'it is Foldout itself'],
      ['windows', 'it is Foldout itself'],
      ['empty', 'it has neither a command nor a URL'],
      ['text', 'it is not an object'],
      ['developer', 'it is part of the client, not a server'],
    ])
  })

  it('from a file that cannot be read are reported, and the others are collected', async () => {
    const broken = await write('home/.cursor/mcp.json', '{"mcpServers": {')
    const binary = await write('home/.kiro/settings/mcp.json', '')
    await writeFile(binary, Buffer.from([0xff, 0x00]))
    await write('home/.codeium/windsurf/mcp_config.json', '{"mcpServers": {"__proto__": {"command": "x"}}}')
    const { servers, problems } = await collect()
    expect(problems.map(({ file, message }) => [file, message])).toEqual([
      [broken, expect.stringMatching(/^it is not valid JSON: [a-z ]+ in line 1$/)],
      [binary, 'it is not UTF-8 text'],
    ])
    expect(servers.map(({ source }) => source.name)).toEqual(['__proto__'])
  })

  it('from a file that two clients share are collected once', async () => {
    const file = await write('project/.mcp.json', '{"mcpServers": {"a": {"command": "x"}}}')
    await mkdir(join(where.project, '.cursor'), { recursive: true })
    await symlink(file, join(where.project, '.cursor/mcp.json'))
    const { servers } = await collect()
    expect(servers).toHaveLength(1)
  })
})

describe('R52: servers of several clients', () => {
  const found = (client: string, name: string, definition: object): Found['servers'][number] => ({
    source: { client, file: `/${client}`, name },
    scope: 'user',
    definition,
    notes: [],
  })

  it('are merged if they are started the same way', () => {
    const merged = mergeServers([
      found('cursor', 'git', { command: 'npx', args: ['git'], env: { A: '1' }, disabled: true }),
      found('zed', 'github', { command: 'cmd', args: ['/c', 'npx', 'git'], env: { A: '1', B: '2' } }),
    ])
    expect(merged).toHaveLength(1)
    expect(merged[0]).toMatchObject({ name: 'git', sources: [{ client: 'cursor' }, { client: 'zed' }] })
    expect(merged[0]?.definition).toEqual({ command: 'npx', args: ['git'], env: { A: '1', B: '2' } })
  })

  it('get numbers if they differ but have the same name', () => {
    const merged = mergeServers(
      [
        found('cursor', 'git', { command: 'a' }),
        found('zed', 'git', { command: 'b' }),
        found('kiro', 'git', { command: 'b', env: { ACCOUNT: 'work' } }),
        found('pi', 'git', { command: 'b', env: { ACCOUNT: 'home' } }),
      ],
      new Map([['git', { command: 'mine' }]]),
    )
    expect(merged.map(({ name, definition, isKnown }) => [name, definition.command, isKnown])).toEqual([
      ['git', 'mine', true],
      ['git-2', 'a', false],
      ['git-3', 'b', false],
      ['git-4', 'b', false],
    ])
  })
})
