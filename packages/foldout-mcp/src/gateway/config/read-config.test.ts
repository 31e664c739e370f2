import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig, readConfigs } from './read-config.ts'

const parse = (servers: unknown, env: NodeJS.ProcessEnv = {}): ReturnType<typeof parseConfig> =>
  parseConfig(JSON.stringify({ mcpServers: servers }), '/home/ada/project/.mcp.json', { env })

describe('a list of servers', () => {
  it('has servers over stdio, with arguments, variables and folder', () => {
    expect(
      parse({ files: { command: 'npx', args: ['-y', 'files', 8080], env: { DEBUG: true }, cwd: 'data' } }),
    ).toEqual([
      {
        kind: 'stdio',
        name: 'files',
        command: 'npx',
        args: ['-y', 'files', '8080'],
        env: { DEBUG: 'true' },
        cwd: '/home/ada/project/data',
      },
    ])
  })

  it('has servers over HTTP, in the formats of different clients', () => {
    const servers = parse(
      {
        a: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
        b: { type: 'sse', url: 'https://b.example/sse' },
        c: { serverUrl: 'http://c.example' },
        d: { httpUrl: 'http://d.example' },
      },
      { TOKEN: 'secret' },
    )
    expect(servers.map((server) => 'kind' in server && server.kind)).toEqual(['http', 'sse', 'http', 'http'])
    expect(servers[0]).toMatchObject({ headers: { Authorization: 'Bearer secret' } })
  })

  it('fills in environment variables', () => {
    const [server] = parse(
      { a: { command: '${HOME}/bin/a', args: ['${PORT:-80}', '${EMPTY:-}', '$HOME'] } },
      { HOME: '/h' },
    )
    expect(server).toMatchObject({ command: '/h/bin/a', args: ['80', '', '$HOME'] })
  })

  it.each(['${A:-', '${A', '$', '{', '${A:-}'])('reads a long text of %s in no time', (part) => {
    const start = performance.now()
    parse({ a: { command: part.repeat(100_000) } })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  it('leaves out disabled servers', () => {
    expect(parse({ a: { command: 'a', disabled: true } })).toEqual([])
  })

  it.each([
    [{ args: [] }, 'It has neither a command nor a url.'],
    [{ command: 7 }, 'Its command must be a string.'],
    [{ command: 'a', args: 'b' }, 'Its args must be a list of strings.'],
    [{ command: 'a', args: [{}] }, 'Its args must hold strings only.'],
    [{ command: 'a', env: ['A=1'] }, 'Its env must be an object of strings.'],
    [{ command: 'a', env: { A: null } }, 'Its env must hold strings only.'],
    [{ url: 'file:///etc/passwd' }, 'Its url must be an address that begins with http:// or https://.'],
    [{ command: '${NOT_SET}' }, 'The environment variable NOT_SET is not set.'],
    ['npx a', 'The entry is not an object.'],
    [null, 'The entry is not an object.'],
  ])('says what is wrong with %j, and keeps the others', (entry, reason) => {
    expect(parse({ good: { command: 'a' }, bad: entry })).toMatchObject([{ name: 'good' }, { name: 'bad', reason }])
  })

  it('accepts any server name', () => {
    const text =
      '{"mcpServers": {"__proto__": {"command": "a"}, "constructor": {"command": "b"}, "": {"command": "c"}}}'
    expect(parseConfig(text, 'x.json').map(({ name }) => name)).toEqual(['__proto__', 'constructor', ''])
  })

  it('reads a VS Code file, and a file with a byte order mark', () => {
    expect(parseConfig('\uFEFF{"servers": {"a": {"command": "a"}}}', 'x.json')).toHaveLength(1)
  })

  it.each([
    ['{', /^x\.json is not valid JSON: /],
    ['[]', /^x\.json has no servers\. Give it an object "mcpServers"/],
    ['{"mcpServers": []}', /has no servers/],
  ])('refuses the file %s', (text, message) => {
    expect(() => parseConfig(text, 'x.json')).toThrow(message)
  })
})

describe('several files', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-config-'))
    writeFileSync(join(folder, 'a.json'), '{"mcpServers": {"one": {"command": "a"}, "two": {"args": []}}}')
    writeFileSync(join(folder, 'b.json'), '{"mcpServers": {"two": {"command": "b"}}}')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('are merged into one list, in which later files win', async () => {
    const { servers, invalid } = await readConfigs([join(folder, 'a.json'), join(folder, 'b.json')])
    expect(servers).toMatchObject([{ name: 'one' }, { name: 'two', command: 'b' }])
    expect(invalid).toEqual([])
  })

  it('must be there', async () => {
    await expect(readConfigs([join(folder, 'c.json')])).rejects.toThrow(/^There is no file .*c\.json\.$/)
    await expect(readConfigs([folder])).rejects.toThrow(/cannot be read/)
  })
})
