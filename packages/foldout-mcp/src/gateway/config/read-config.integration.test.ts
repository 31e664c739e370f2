import { execFileSync } from 'node:child_process'
import { linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UsageError, type InvalidServer, type ServerConfig } from './config.ts'
import { fillServer, type FilledServer } from './fill-server.ts'
import { readGatewayConfig, readDefinition } from './read-config.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const ORIGIN = { file: '.mcp.json', folder: '/home/ada/project' }

function read(servers: unknown): readonly (ServerConfig | InvalidServer)[] {
  const { servers: valid, invalid } = readDefinition({ mcpServers: servers }, ORIGIN)
  return [...valid, ...invalid]
}

async function fill(entry: object, env: NodeJS.ProcessEnv = {}, root?: string): Promise<FilledServer> {
  const [server] = readDefinition({ mcpServers: { a: entry } }, ORIGIN).servers
  if (!server) throw new Error('The entry is not valid.')
  return fillServer(server, { env, root })
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-config-'))
})
afterAll(() => removeFolder(folder))

function write(name: string, text: string | Uint8Array): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('a list of servers', () => {
  it('has stdio servers, with arguments, variables and a folder', async () => {
    const entry = { command: 'npx', args: ['-y', 'files', 8080], env: { DEBUG: true }, cwd: 'data' }
    expect(await fill(entry)).toEqual({
      kind: 'stdio',
      name: 'a',
      command: 'npx',
      args: ['-y', 'files', '8080'],
      env: { DEBUG: 'true' },
      cwd: '/home/ada/project/data',
    })
  })

  it('has HTTP servers, in the formats of different clients', async () => {
    const servers = read({
      a: { url: 'https://a.example/mcp' },
      b: { type: 'sse', url: 'https://b.example/sse' },
      c: { serverUrl: 'http://c.example' },
      d: { httpUrl: 'http://d.example' },
    })
    expect(servers.map((server) => 'kind' in server && server.kind)).toEqual(['http', 'sse', 'http', 'http'])
    const entry = { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } }
    expect(await fill(entry, { TOKEN: 'secret' })).toMatchObject({ headers: { Authorization: 'Bearer secret' } })
  })

  it('ignores fields of other clients', () => {
    const entry = { command: 'a', type: 'stdio', tools: ['*'], autoApprove: ['x'], alwaysAllow: [], timeout: 60 }
    expect(read({ a: entry })).toMatchObject([{ kind: 'stdio', overrides: new Map() }])
  })

  it('leaves out disabled servers', () => {
    expect(read({ a: { command: 'a', disabled: true } })).toEqual([])
  })

  it.each([
    [{ args: [] }, 'It has neither a command nor a url.'],
    [{ command: 7 }, 'Its command must be a string.'],
    [{ command: 'a', args: 'b' }, 'Its args must be a list.'],
    [{ command: 'a', args: [{}] }, 'Its args.0 must be a string, a number, true or false.'],
    [{ command: 'a', env: ['A=1'] }, 'Its env must be an object.'],
    [{ command: 'a', env: { A: null } }, 'Its env.A must be a string, a number, true or false.'],
    [{ command: 'a', start: 'soon' }, 'Its start must be one of lazy, eager.'],
    [{ command: 'a', tools: { x: { hidden: true } } }, 'Its tools.x has no setting called hidden.'],
    ['npx a', 'The entry is not an object.'],
    [null, 'The entry is not an object.'],
  ])('says what is wrong with %j, and keeps the others', (entry, reason) => {
    expect(read({ good: { command: 'a' }, bad: entry })).toMatchObject([{ name: 'good' }, { name: 'bad', reason }])
  })

  it('accepts any server name, also in a file', async () => {
    const text = '{"__proto__": {"command": "a"}, "constructor": {"command": "b"}, "": {"command": "c"}}'
    const names = ['__proto__', 'constructor', '']
    expect(read(JSON.parse(text)).map(({ name }) => name)).toEqual(names)
    const { servers } = await readGatewayConfig([write('names.json', `{ "mcpServers": ${text} } // all of them`)])
    expect(servers.map(({ name }) => name)).toEqual(names)
  })

  it.each(['env', 'headers', 'tools'])('refuses %s with a name that would be lost', async (setting) => {
    const server = `{"command": "a", "url": null, "${setting}": {"__proto__": {}}}`
    const file = write('lost.json', `{ "mcpServers": { "good": { "command": "a" }, "bad": ${server} } }`)
    const { servers, invalid } = await readGatewayConfig([file])
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    const reason = `Its ${setting}.__proto__ cannot have this name. Choose another one.`
    expect(invalid).toEqual([{ name: 'bad', reason }])
  })

  it('refuses a preset, and a parameter of a tool, with a name that would be lost', async () => {
    const preset = write('preset.json', '{ "mcpServers": {}, "presets": { "__proto__": { "servers": [] } } }')
    await expect(readGatewayConfig([preset])).rejects.toThrow(
      `${preset}: "presets.__proto__" cannot have this name. Choose another one.`,
    )
    const tools = JSON.parse('{"pay": {"parameters": {"__proto__": {"fixed": 1}}}}') as object
    expect(read({ a: { command: 'a', tools } })).toMatchObject([
      { reason: 'Its tools.pay.parameters.__proto__ cannot have this name. Choose another one.' },
    ])
  })

  it('fills in variables of the environment only', async () => {
    await expect(fill({ command: '${constructor}' })).rejects.toThrow(
      'The environment variable constructor is not set.',
    )
    expect(await fill({ command: '${__proto__:-npx}' })).toMatchObject({ command: 'npx' })
  })
})

describe('the sign-in of a server (R55)', () => {
  it('is read with its variables, including the form that Cursor writes', async () => {
    const url = 'https://a.example/mcp'
    const auth = { clientId: 'me', clientSecret: '${SECRET}', scopes: ['read', 'write'] }
    expect(await fill({ url, auth }, { SECRET: 'hidden' })).toMatchObject({
      auth: { type: 'oauth', clientId: 'me', clientSecret: 'hidden', scope: 'read write' },
    })
    const cursor = { CLIENT_ID: 'me', CLIENT_SECRET: '${SECRET}' }
    expect(await fill({ url, auth: cursor }, { SECRET: 'hidden' })).toMatchObject({
      auth: { clientId: 'me', clientSecret: 'hidden' },
    })
    expect(await fill({ url })).toMatchObject({ auth: undefined })
  })

  it.each([
    [{ type: 'basic' }, 'Its auth.type must be one of oauth, client-credentials, private-key-jwt.'],
    [{ secret: 'x' }, 'Its auth has no setting called secret.'],
    [{ type: 'client-credentials', clientId: 'a' }, 'Its auth of type client-credentials needs a clientSecret.'],
    [
      { type: 'private-key-jwt', clientId: 'a' },
      'Its auth of type private-key-jwt needs a privateKey or a privateKeyFile.',
    ],
    [{ type: 'private-key-jwt', privateKey: 'a' }, 'Its auth of type private-key-jwt needs a clientId.'],
    [{ clientSecret: 'a' }, 'Its auth has a clientSecret but no clientId.'],
    [{ redirectPort: 70_000 }, 'Its auth.redirectPort'],
  ])('is refused if it cannot work: %j', (auth, reason) => {
    const [server] = read({ a: { url: 'https://a.example', auth } })
    expect(server).toMatchObject({ reason: expect.stringContaining(reason) as string })
  })

  it('is refused together with an Authorization header', () => {
    const entry = { url: 'https://a.example', headers: { authorization: 'Bearer x' }, auth: { clientId: 'a' } }
    expect(read({ a: entry })).toMatchObject([{ reason: expect.stringContaining('Remove one of them.') as string }])
  })

  it.each([
    [{ issuer: 'login' }, 'Its auth.issuer must be a URL.'],
    [{ clientMetadataUrl: 'http://a.example/client.json' }, 'must begin with https:// and have a path'],
    [
      { type: 'private-key-jwt', clientId: 'a', privateKeyFile: 'none.pem' },
      'Its auth.privateKeyFile cannot be used. There is no file /home/ada/project/none.pem.',
    ],
    [{ clientId: '${NOT_SET}' }, 'The environment variable NOT_SET is not set.'],
  ])('is refused when it is used: %j', async (auth, message) => {
    await expect(fill({ url: 'https://a.example', auth })).rejects.toThrow(message)
  })
})

describe('variables', () => {
  it('are filled in when a server is started', async () => {
    const entry = { command: '${HOME}/bin/a', args: ['${PORT:-80}', '${EMPTY:-}', '$HOME', '${ROOT}/src'] }
    expect(await fill(entry, { HOME: '/h' }, '/work')).toMatchObject({
      command: '/h/bin/a',
      args: ['80', '', '$HOME', '/work/src'],
    })
  })

  it('also come from a file, which the entry overrides', async () => {
    const envFile = write('.env', 'A=1\nB="two words"\n# a comment\nC=3\n')
    expect(await fill({ command: 'a', envFile, env: { C: 'own' } })).toMatchObject({
      env: { A: '1', B: 'two words', C: 'own' },
    })
  })

  it('come from a file with a byte order mark, and not from one that is not text', async () => {
    expect(await fill({ command: '${A}', envFile: write('.env', '\uFEFFA=1\r\nB=2') })).toMatchObject({ command: '1' })
    const envFile = write('.env', Buffer.from('\uFEFFA=1', 'utf16le'))
    await expect(fill({ command: 'a', envFile })).rejects.toThrow(
      `Its envFile cannot be used. ${envFile} is not UTF-8 text. Save it with the encoding UTF-8.`,
    )
  })

  it('may come from the envFile of the server, unless the environment has them', async () => {
    const envFile = write('.env', 'KEY=from-file\nREGION=here\n')
    const entry = { command: 'a', args: ['${KEY}', '${REGION}', '${OTHER:-none}'], env: { TOKEN: '${KEY}' }, envFile }
    expect(await fill(entry, { REGION: 'elsewhere' })).toMatchObject({
      args: ['from-file', 'elsewhere', 'none'],
      env: { TOKEN: 'from-file' },
    })
  })

  it.each([
    [{ command: '${NOT_SET}' }, 'The environment variable NOT_SET is not set.'],
    [{ command: 'a', cwd: '${ROOT}' }, /It needs \$\{ROOT\}/],
    [
      { command: 'a', envFile: 'missing.env' },
      'Its envFile cannot be used. There is no file /home/ada/project/missing.env.',
    ],
    [{ url: 'file:///etc/passwd' }, 'Its url must begin with http:// or https://.'],
    [{ url: '/mcp' }, 'Its url must begin with http:// or https://.'],
    [{ url: 'http://127.0.0.1:99999/mcp' }, 'Its url is not a valid address. Check its host and port.'],
  ])('are reported in a sentence if missing: %j', async (entry, message) => {
    await expect(fill(entry)).rejects.toThrow(message)
  })

  it.each(['${A:-', '${A', '$', '{', '${A:-}'])('are found in a long text of %s in linear time', async (part) => {
    const command = part.repeat(100_000)
    expect(await fill({ command, args: [] })).toHaveProperty('command')
  })
})

describe('the URL of a server', () => {
  it.each([
    ['https://ann:p%40ss@b.example/mcp', {}, { Authorization: `Basic ${btoa('ann:p@ss')}` }],
    ['https://${USER_NAME}:${PASSWORD}@b.example/mcp', {}, { Authorization: `Basic ${btoa('ann:secret')}` }],
    ['https://token@b.example/mcp', { 'X-A': 'b' }, { 'X-A': 'b', Authorization: `Basic ${btoa('token:')}` }],
    ['https://ann:%zz@b.example/mcp', {}, { Authorization: `Basic ${btoa('ann:%zz')}` }],
    ['https://ann:pass@b.example/mcp', { authorization: 'Bearer x' }, { authorization: 'Bearer x' }],
    ['https://b.example/mcp', {}, {}],
  ])('may have a user and a password: %s', async (url, headers, expected) => {
    const filled = await fill({ url, headers }, { USER_NAME: 'ann', PASSWORD: 'secret' })
    expect(filled).toMatchObject({ url: new URL('https://b.example/mcp'), headers: expected })
  })
})

describe('files', () => {
  it('may be typed, in a folder where the package is not installed', async () => {
    const file = write(
      'foldout.config.ts',
      `import { defineGateway } from 'foldout-mcp'
export default defineGateway({ mcpServers: { typed: { command: 'a' } } })`,
    )
    expect((await readGatewayConfig([file])).servers.map(({ name }) => name)).toEqual(['typed'])
  })

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'a b', 'ünï/cöde'])('may call a server %s', async (name) => {
    const file = write('names.json', `{"mcpServers": {"${name}": {"command": "a"}}}`)
    expect((await readGatewayConfig([file])).servers.map((server) => server.name)).toEqual([name])
  })

  it('are questioned if a server has both a command and a url', async () => {
    const entry = { command: 'a', url: 'http://127.0.0.1/mcp' }
    const file = write('both.json', JSON.stringify({ mcpServers: { a: entry, b: { command: 'a' } } }))
    const { doubts } = await readGatewayConfig([file])
    expect(doubts).toEqual([
      `The server 'a' in ${file} has a url and a command, which is not used. Remove one of them.`,
    ])
  })

  it('may have comments, trailing commas and a byte order mark', async () => {
    const file = write(
      'comments.json',
      '\uFEFF{\n  // VS Code writes these\n  "servers": {"a": {"command": "a",},},\n}',
    )
    expect((await readGatewayConfig([file])).servers).toMatchObject([{ name: 'a' }])
  })

  it('are questioned if they have a name twice', async () => {
    const text = '{"mcpServers":{"a":{"command":"x"},"b":{"command":"y","env":{"K":"1","K":"2"}},"a":{"command":"z"}}}'
    const file = write('repeated.json', text)
    const { servers, doubts } = await readGatewayConfig([file])
    expect(servers).toMatchObject([{ command: 'z' }, { command: 'y' }])
    expect(doubts).toEqual([
      `${file} has "mcpServers.a" more than once. Only the last one is used.`,
      `${file} has "mcpServers.b.env.K" more than once. Only the last one is used.`,
    ])
  })

  it.each([
    { command: 'npx', args: ['-y', 'foldout-mcp@0.1.0', 'serve', '--config', '<file>'] },
    { command: 'foldout', args: ['serve', '-c', 'own.json'], cwd: '<folder>' },
    { command: '/usr/bin/node', args: ['/opt/bin/foldout.js', 'serve', '--config=<file>'] },
    { command: 'foldout', args: ['serve', '-c', 'same.json'], cwd: '<folder>' },
  ])('leave out the gateway itself: %j', async ({ command, args, cwd }) => {
    const fillIn = (text: string): string =>
      text.replace('<file>', join(folder, 'own.json')).replace('<folder>', folder)
    const self = { command, args: args.map(fillIn), ...(cwd === undefined ? {} : { cwd: fillIn(cwd) }) }
    const other = { command: 'foldout', args: ['serve', '--config', '/team/foldout.config.json'] }
    const file = write('own.json', JSON.stringify({ mcpServers: { self, other, a: { command: 'x' } } }))
    // Another name of the same file, as one in upper case is on Windows.
    rmSync(join(folder, 'same.json'), { force: true })
    linkSync(file, join(folder, 'same.json'))
    const { servers, doubts } = await readGatewayConfig([file])
    expect(servers.map(({ name }) => name)).toEqual(['other', 'a'])
    expect(doubts).toEqual([])
  })

  it('are merged by server, and later ones win', async () => {
    const first = write('a.json', '{"mcpServers": {"one": {"command": "a"}, "two": {"args": []}}, "expose": "all"}')
    const second = write(
      'b.json',
      '{"mcpServers": {"two": {"command": "b"}}, "presets": {"work": {"servers": ["two"]}}}',
    )
    const { servers, invalid, expose, presets } = await readGatewayConfig([first, second])
    expect(servers).toMatchObject([{ name: 'one' }, { name: 'two', command: 'b' }])
    expect({ invalid, expose, presets: [...presets.keys()] }).toEqual({ invalid: [], expose: 'all', presets: ['work'] })
  })

  it('may be TypeScript', async () => {
    const file = write(
      'foldout.config.ts',
      `interface Entry { command: string }
const files: Entry = { command: 'server-files' }
export default { mcpServers: { files }, expose: 'hybrid' as const }`,
    )
    expect(await readGatewayConfig([file])).toMatchObject({ servers: [{ name: 'files' }], expose: 'hybrid' })
  })

  it.each([
    [
      'foldout.config.json',
      { mcpServers: {}, $schema: 'x', rulez: [], whatever: 1 },
      ['"rulez".* mean "rules"', '"whatever", which has no effect.$'],
    ],
    [
      'settings.json',
      { mcpServers: {}, theme: 'dark', Presets: {}, mcpservers: {} },
      ['"Presets".* mean "presets"', 'mean "mcpServers"'],
    ],
    [
      '.mcp.json',
      { mcpServers: { a: { command: 'a', requried: true, enabled: true, timeout: 5 } } },
      ["^The server 'a' in .*requried.*required"],
    ],
    ['.mcp.json', { mcpServers: { a: { command: 'a', ['x'.repeat(1_000_000)]: 1 }, b: 7 } }, []],
  ] as const)('%s gets warnings for doubtful settings: %j', async (name, definition, expected) => {
    const { doubts } = await readGatewayConfig([write(name, JSON.stringify(definition))])
    expect(doubts).toEqual(expected.map((pattern) => expect.stringMatching(new RegExp(pattern)) as string))
  })

  it.each([
    ['{', /is not valid JSON: close brace expected in line 1\.$/],
    ['{\n"a": }', /in line 2\.$/],
    ['[]', /has no servers\. Give it an object "mcpServers"/],
    ['{"mcpServers": []}', /has no servers/],
    [
      '{"mcpServers": {}, "expose": "some"}',
      /"expose" must be one of auto, all, hybrid, meta-tool, two-phase, code\.$/,
    ],
    ['{"mcpServers": {}, "presets": {"a": {"tools": []}}}', /"presets\.a" has no setting called tools\.$/],
  ])('are refused as a whole only for mistakes outside of servers: %s', async (text, message) => {
    await expect(readGatewayConfig([write('bad.json', text)])).rejects.toThrow(message)
  })

  it('must not be nested too deeply for the parser', async () => {
    const deep = `{"mcpServers": {}, "x": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const reading = readGatewayConfig([write('deep.json', deep)])
    await expect(reading).rejects.toThrow(/is nested too deeply to be a configuration\.$/)
    await expect(reading).rejects.toBeInstanceOf(UsageError)
  })

  it.each(['latin.json', 'latin.ts'])('must be UTF-8: %s', async (name) => {
    const file = write(name, Buffer.from('{ "mcpServers": { "café": { "command": "a" } } }', 'latin1'))
    const message = `${file} is not UTF-8 text. Save it with the encoding UTF-8.`
    await expect(readGatewayConfig([file])).rejects.toThrow(new UsageError(message))
  })

  it.skipIf(process.platform === 'win32')('must be regular files: nobody may ever write to a pipe', async () => {
    const pipe = join(folder, 'pipe.json')
    execFileSync('mkfifo', [pipe])
    await expect(readGatewayConfig([pipe])).rejects.toThrow(new UsageError(`${pipe} is not a regular file.`))
    await expect(fill({ command: 'a', envFile: pipe })).rejects.toThrow(`${pipe} is not a regular file.`)
  })

  it('must exist', async () => {
    await expect(readGatewayConfig([join(folder, 'c.json')])).rejects.toThrow(/^There is no file .*c\.json\.$/)
    await expect(readGatewayConfig([join(folder, 'c.ts')])).rejects.toThrow(/^There is no file .*c\.ts\.$/)
    await expect(readGatewayConfig([folder])).rejects.toThrow(new UsageError(`${folder} is a folder, not a file.`))
  })

  it.each([
    ['export default {\n  mcpServers: {{\n', 'Line 2: Unexpected token.'],
    ['const a = "b\n', 'Line 1: Unterminated string constant.'],
    [
      'import { a } from "./part.ts"\nexport default { a }',
      () => `Line 3 of ${join(folder, 'part.ts')}: Unexpected token.`,
    ],
    ['export const a: string = "b"\n\nthrow new Error("no")', 'Line 3: no.'],
    ['import a from "no-such-package"\nexport default { a }', "Line 1: Cannot find module 'no-such-package'."],
    ['throw "text"', 'It throws text.'],
    ['throw null', 'It throws null.'],
  ])('say in which line a module is wrong: %j', async (text, reason) => {
    write('part.ts', '\n\nexport const a = {{')
    const file = write('broken.ts', text)
    const message = `${file} cannot be loaded. ${typeof reason === 'string' ? reason : reason()}`
    await expect(readGatewayConfig([file])).rejects.toThrow(new UsageError(message))
  })
})
