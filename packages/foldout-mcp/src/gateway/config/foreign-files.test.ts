import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import type { GatewayConfig } from './config.ts'
import { readDefinition, readGatewayConfig } from './read-config.ts'

const readServer = (entry: unknown, others: object = {}): unknown =>
  readDefinition({ mcpServers: { a: entry }, ...others }, { file: 'mcp.json', folder: '/home/ada' }).servers[0]

describe('R51 variables of other clients', () => {
  it('are read in all settings of a command', () => {
    const entry = {
      command: '${userHome}/bin/server',
      args: ['${workspaceFolder}/data', '${workspaceRoot}', '--key=${env:KEY}', 8080],
      env: { TOKEN: '${env:TOKEN}', OWN: '${OWN:-x}' },
      envFile: '${workspaceFolder}/.env',
      cwd: '${workspaceFolder}',
    }
    expect(readServer(entry)).toMatchObject({
      command: '${HOME}/bin/server',
      args: ['${ROOT}/data', '${ROOT}', '--key=${KEY}', '8080'],
      env: { TOKEN: '${TOKEN}', OWN: '${OWN:-x}' },
      envFile: '${ROOT}/.env',
      cwd: '${ROOT}',
    })
  })

  it.each(['url', 'serverUrl', 'httpUrl'])('are read in %s, in headers and in the sign-in', (field) => {
    const address = { [field]: 'https://${env:HOST_NAME}/mcp' }
    expect(readServer({ ...address, headers: { Authorization: 'Bearer ${env:TOKEN}' } })).toMatchObject({
      url: 'https://${HOST_NAME}/mcp',
      headers: { Authorization: 'Bearer ${TOKEN}' },
    })
    const auth = { CLIENT_ID: '${env:ID}', CLIENT_SECRET: '${env:SECRET}' }
    expect(readServer({ ...address, auth })).toMatchObject({ auth: { clientId: '${ID}', clientSecret: '${SECRET}' } })
  })

  it('are the environment variables that the input prompts of VS Code are imported as', () => {
    const inputs = [{ id: 'github-token', type: 'promptString' }, { id: 'level', default: 'info' }, { id: 'path' }]
    const env = { T: '${input:github-token}', L: '${input:level}', P: '${input:path}', R: '${input:root}' }
    expect(readServer({ command: 'x', env }, { inputs })).toMatchObject({
      env: { T: '${GITHUB_TOKEN}', L: '${LEVEL:-info}', P: '${INPUT_PATH}', R: '${INPUT_ROOT}' },
    })
  })

  it('are not looked for elsewhere', () => {
    const entry = { command: 'x', args: ['${env:}', '{env:A}', '$env:A', '${env:A B}'], description: '${env:A}' }
    expect(readServer(entry)).toMatchObject({
      args: ['${env:}', '{env:A}', '$env:A', '${env:A B}'],
      description: '${env:A}',
    })
  })
})

describe('R51 files', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-files-'))
  })
  afterAll(() => removeFolder(folder))

  let count = 0
  const write = (text: string, extension = 'json'): string => {
    const file = join(folder, `${++count}.${extension}`)
    writeFileSync(file, text)
    return file
  }
  const readAll = (...definitions: readonly object[]): Promise<GatewayConfig> =>
    readGatewayConfig(definitions.map((one) => write(JSON.stringify(one))))
  const server = { command: 'x' }

  it.each([{ disabled: true }, { enabled: false }, { ...server, disabled: true }])(
    'turn off a server, also one of an earlier file: %j',
    async (off) => {
      const first = { mcpServers: { a: server, b: server } }
      const getNames = async (...definitions: readonly object[]): Promise<readonly string[]> =>
        (await readAll(...definitions)).servers.map(({ name }) => name)
      expect(await getNames({ mcpServers: { a: off, b: server } })).toEqual(['b'])
      expect(await getNames(first, { mcpServers: { a: off } })).toEqual(['b'])
      expect(await getNames({ mcpServers: { a: off } }, first)).toEqual(['a', 'b'])
    },
  )

  it('choose the exposure, the last one that names any', async () => {
    const choose = async (...names: readonly (string | undefined)[]): Promise<string> =>
      (await readAll(...names.map((expose) => ({ mcpServers: {}, expose })))).expose
    expect(await choose('hybrid', undefined)).toBe('hybrid')
    expect(await choose('hybrid', 'auto')).toBe('auto')
    expect(await choose('auto', 'all')).toBe('all')
    expect(await choose(undefined, undefined)).toBe('auto')
  })

  it('may have only settings, if another one has servers', async () => {
    const rules = [{ action: 'deny', tool: 'a/*' }]
    const { servers, rules: read } = await readAll({ mcpServers: { a: server } }, { $schema: 'x', rules })
    expect([servers.length, read]).toEqual([1, rules])
    for (const alone of [{}, { rules }, { a: server }])
      await expect(readAll(alone)).rejects.toThrow('has no servers. Give it an object "mcpServers"')
  })

  it.each([
    ['[mcp_servers.a]\ncommand = "x"\n', 'toml', 'is not JSON'],
    ['extensions:\n  a: {}\n', 'yaml', 'is not JSON'],
    ['{"context_servers": {"a": {"command": "x"}}}', 'json', 'has "context_servers" instead of "mcpServers"'],
    ['{"mcp": {"a": {"command": ["x"]}}}', 'json', 'has "mcp" instead of "mcpServers"'],
  ])('of other clients are to be imported: %j', async (text, extension, message) => {
    const file = write(text, extension)
    await expect(readGatewayConfig([file])).rejects.toThrow(
      `${file} ${message}. If it belongs to another MCP client, import its servers: foldout import.`,
    )
  })
})
