import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { getEntries, loadFormat } from '../documents/document.ts'
import { getClient } from '../known/clients.ts'
import { createMachine } from './machine.fixtures.ts'
import { getStateFolder } from '../places.ts'

const machine = createMachine()

describe('R52: uninstalling from a file that has changed', () => {
  it.each([
    [
      'cursor',
      '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "b" }\n  }\n}\n',
      (text: string) => text.replace('// mine', '// still mine'),
    ],
    ['goose', 'extensions:\n  a:\n    cmd: b\n', (text: string) => `${text}GOOSE_MODEL: x # new\n`],
    ['codex', '[mcp_servers.a]\ncommand = "b"\n', (text: string) => `# new\n${text}`],
  ])('%s keeps the change, and gets its servers back', async (client, text, change) => {
    const file = await machine.write(client, text)
    await machine.install(client, { isMove: true })
    await writeFile(file, change(await readFile(file, 'utf8')))
    expect(await machine.uninstall(client)).toMatchObject({ status: 'edited', returned: ['a'] })
    const { format, maps } = getClient(client)
    const { parse } = await loadFormat(format)
    const after = await readFile(file, 'utf8')
    expect(getEntries(parse(after), maps[0]?.path ?? [])).toEqual(getEntries(parse(text), maps[0]?.path ?? []))
    expect(change(text).match(/(?:#|\/\/).*/)?.[0]).toBe(after.match(/(?:#|\/\/).*/)?.[0])
  })

  it('removes a new file if nothing else was added to it', async () => {
    const { file } = await machine.install('cursor')
    await writeFile(file, `${await readFile(file, 'utf8')}\n`)
    await machine.uninstall('cursor')
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('changes nothing if the installation was interrupted before it changed the file', async () => {
    const text = '{ "mcpServers": { "a": { "command": "b" } } }'
    const file = await machine.write('cursor', text)
    await machine.install('cursor', { isMove: true })
    await writeFile(file, text)
    await machine.uninstall('cursor')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it.each(['{', '{}', '[]', '{"before": 7}'])('does not trust the receipt %s', async (receipt) => {
    const file = await machine.write('cursor', '{}')
    await machine.install('cursor')
    const receipts = join(getStateFolder(machine.where), 'installed')
    for (const name of await readdir(receipts)) await writeFile(join(receipts, name), receipt)
    expect((await machine.uninstall('cursor')).status).toBe('edited')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: {} })
  })

  it('works without a receipt, by removing entries that start Foldout', async () => {
    const file = await machine.write('cursor', '{}')
    await machine.install('cursor', { name: 'everything' })
    await rm(getStateFolder(machine.where), { recursive: true })
    expect((await machine.uninstall('cursor')).status).toBe('edited')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: {} })
  })

  it('says which servers are still in the configuration if the receipt is damaged or lost', async () => {
    const file = await machine.write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await machine.install('cursor', { isMove: true })
    const receipts = join(getStateFolder(machine.where), 'installed')
    for (const name of await readdir(receipts)) await writeFile(join(receipts, name), '{')
    const lost = [{ config: machine.config, servers: ['a'] }]
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'edited', returned: [], lost })
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'absent', lost })
    await rm(file)
    await machine.install('cursor')
    await rm(getStateFolder(machine.where), { recursive: true })
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'edited', returned: [], lost })
  })

  it('removes the gateway under the name that it has now, but no other server under its old name', async () => {
    const file = await machine.write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await machine.install('cursor', { isMove: true })
    const text = (await readFile(file, 'utf8')).replace('"foldout":', '"foldout": {"command": "mine"}, "gateway":')
    await writeFile(file, text)
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'edited', returned: ['a'] })
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      mcpServers: { a: { command: 'x' }, foldout: { command: 'mine' } },
    })
  })

  it('says that the gateway was removed before, and restores what is missing', async () => {
    const file = await machine.write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await machine.install('cursor', { isMove: true })
    await writeFile(file, '{"mcpServers": {}}')
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'returned', returned: ['a'] })
    await machine.install('cursor')
    await writeFile(file, '{"mcpServers": {}}')
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'gone', returned: [] })
  })

  it('says which entries still start the gateway, as they did before', async () => {
    const own = { command: 'npx', args: ['-y', 'foldout-mcp', 'serve'] }
    const file = await machine.write('cursor', JSON.stringify({ mcpServers: { own } }))
    await machine.install('cursor')
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'restored', remaining: ['own'] })
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'edited', remaining: [] })
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: {} })
  })
})

describe('R52: uninstalling from a file that was deleted', () => {
  it.each([
    ['codex', '[mcp_servers.o] # mine\ncommand = "o"\n\n[mcp_servers.o.env]\nK = "precious" # key\n'],
    ['cursor', '{\n  "mcpServers": {\n    "o": {\n      // mine\n      "command": "o"\n    }\n  }\n}\n'],
    ['goose', 'extensions:\n  o:\n    # mine\n    cmd: o\n'],
    ['continue', 'name: Foldout\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: o\n    # mine\n    command: o\n'],
  ])('%s gets a new file with the servers that were moved', async (client, text) => {
    const file = await machine.write(client, text)
    await machine.install(client, { isMove: true })
    await rm(dirname(file), { recursive: true })
    expect(await machine.uninstall(client)).toMatchObject({
      status: 'recreated',
      returned: ['o'],
      released: { status: 'removed', removed: ['o'] },
    })
    // Empty lines between tables are not kept.
    expect((await readFile(file, 'utf8')).replaceAll('\n\n', '\n')).toBe(text.replaceAll('\n\n', '\n'))
    await expect(stat(machine.config)).rejects.toThrow('ENOENT')
  })

  it('creates no file if nothing was moved', async () => {
    const file = await machine.write('cursor', '{}')
    await machine.install('cursor')
    await rm(file)
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'gone', returned: [] })
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('creates the file that the gateway was in, not the one that is preferred', async () => {
    const preferred = await machine.write('opencode', '{}')
    await rm(preferred)
    const file = `${preferred}c`
    await writeFile(file, '{"mcp": {"a": {"type": "local", "command": ["x"]}}}')
    await machine.install('opencode', { isMove: true })
    await rm(file)
    expect(await machine.uninstall('opencode')).toMatchObject({ status: 'recreated', file })
  })
})

describe('R52: servers that come back to a file that has changed', () => {
  const TOML =
    'model = "x"\n\n# about a\n[mcp_servers.a]\n# inside\ncommand = "a" # why\n\n[mcp_servers.a.env]\nK = "v"\n\n[other]\nx = 1\n'
  const YAML =
    'extensions:\n  # about a\n  a:\n    # inside\n    cmd: a # why\n  developer:\n    type: builtin\nGOOSE_MODEL: x\n'
  const JSONC =
    '{\n  "mcpServers": {\n    // about a\n    "a": {\n      // inside\n      "command": "a" // why\n    },\n    "b": 1\n  },\n  "x": 1\n}\n'

  it.each([
    ['codex', TOML, 'model = "x"', 'model = "y" # new'],
    ['goose', YAML, 'GOOSE_MODEL: x', 'GOOSE_MODEL: y # new'],
    ['cursor', JSONC, '"x": 1', '"x": 2 // new'],
  ])('%s: have their comments and their places', async (client, text, from, to) => {
    const file = await machine.write(client, text)
    await machine.install(client, { isMove: true })
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to))
    expect(await machine.uninstall(client)).toMatchObject({ status: 'edited', returned: ['a'] })
    expect(await readFile(file, 'utf8')).toBe(text.replace(from, to))
  })

  it('have their inner comments even if the lines around them have changed', async () => {
    const file = await machine.write('cursor', JSONC)
    await machine.install('cursor', { isMove: true })
    const lines = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, lines.map((line) => (line.trim() === '' ? line : `  ${line}`)).join('\n'))
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'edited', returned: ['a'] })
    expect(await readFile(file, 'utf8')).toContain(
      '      "a": {\n        // inside\n        "command": "a" // why\n      }\n',
    )
  })
})
