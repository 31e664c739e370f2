import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadFormat } from '../documents/document.ts'
import { createMachine } from './machine.fixtures.ts'

const machine = createMachine()

describe('R52: moving servers', () => {
  it('merges them into the configuration before they leave the client', async () => {
    const config = join(machine.where.project, 'foldout.config.json')
    const original = '{\n  // mine\n  "mcpServers": { "a": { "command": "other" }, "same": { "command": "s" } }\n}\n'
    await writeFile(config, original)
    await machine.write(
      'cursor',
      '{"mcpServers": {"a": {"command": "x", "env": {"T": "secret"}}, "same": {"command": "s"}}}',
    )
    const { moved } = await machine.install('cursor', { isMove: true })
    expect(moved).toEqual([
      { from: 'a', to: 'a-2', isNew: true },
      { from: 'same', to: 'same', isNew: true },
    ])
    const { parse } = await loadFormat('json')
    const text = await readFile(config, 'utf8')
    expect(text).toContain('// mine')
    expect(parse(text)).toEqual({
      mcpServers: { a: { command: 'other' }, same: { command: 's' }, 'a-2': { command: 'x', env: { T: 'secret' } } },
    })
    await machine.uninstall('cursor')
    expect(await readFile(config, 'utf8')).toBe(original)
  })

  it('adds them to the servers that a configuration of VS Code has', async () => {
    const config = join(machine.where.project, '.vscode-mcp.json')
    const original = '{"servers": {"z": {"command": "z"}}}'
    await writeFile(config, original)
    await machine.write('cursor', '{"mcpServers": {"c": {"command": "c"}}}')
    await machine.install('cursor', { isMove: true, config })
    expect(JSON.parse(await readFile(config, 'utf8'))).toEqual({
      servers: { z: { command: 'z' }, c: { command: 'c' } },
    })
    await machine.uninstall('cursor')
    expect(await readFile(config, 'utf8')).toBe(original)
  })

  it.each([
    ['a configuration', '{"mcpServers":{"mine":{"command":"m"}}}'],
    ['no configuration', undefined],
  ])('leaves no trace if the file of the client cannot be written, with %s', async (_, before) => {
    if (before !== undefined) await writeFile(machine.config, before)
    // The name of a temporary file beside it would be too long.
    const target = join(machine.folder, 'x'.repeat(240))
    const text = '{"mcpServers": {"a": {"command": "x", "env": {"K": "secret"}}}}'
    await writeFile(target, text)
    const file = machine.getFile('cursor')
    await mkdir(dirname(file), { recursive: true })
    await symlink(target, file)
    await expect(machine.install('cursor', { isMove: true })).rejects.toThrow('cannot be written')
    expect(await readFile(file, 'utf8')).toBe(text)
    expect(await readFile(machine.config, 'utf8').catch(() => undefined)).toBe(before)
    expect((await machine.uninstall('cursor')).lost).toEqual([])
  })

  it.skipIf(process.getuid?.() === 0)('changes nothing if the folder of the client is read-only', async () => {
    const file = await machine.write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await chmod(dirname(file), 0o555)
    try {
      await expect(machine.install('cursor', { isMove: true })).rejects.toThrow('its folder')
    } finally {
      await chmod(dirname(file), 0o755)
    }
    expect(existsSync(machine.config)).toBe(false)
  })

  it('does not restore the configuration while another client uses it', async () => {
    await machine.write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await machine.write('windsurf', '{"mcpServers": {"a": {"command": "x"}}}')
    await machine.install('cursor', { isMove: true })
    await machine.install('windsurf', { isMove: true })
    const { released } = await machine.uninstall('cursor')
    expect(released).toMatchObject({ status: 'unchanged', usedBy: ['windsurf'], removed: [] })
    const config = join(machine.where.project, 'foldout.config.json')
    expect(await readFile(config, 'utf8')).toContain('"x"')
    expect((await machine.uninstall('windsurf')).released).toMatchObject({ status: 'removed', removed: ['a'] })
    await expect(stat(config)).rejects.toThrow('ENOENT')
  })

  it('keeps what was added to the configuration since', async () => {
    const config = join(machine.where.project, 'foldout.config.json')
    await machine.write('cursor', '{"mcpServers": {"a": {"command": "x"}}}')
    await machine.install('cursor')
    await writeFile(config, '{"mcpServers": {"mine": {"command": "m"}}}')
    await machine.install('cursor', { isMove: true })
    await machine.uninstall('cursor')
    expect(JSON.parse(await readFile(config, 'utf8'))).toEqual({ mcpServers: { mine: { command: 'm' } } })
  })

  it('refuses a configuration that is code, and one that does not parse', async () => {
    const text = '{"mcpServers": {"a": {"command": "x"}}}'
    const file = await machine.write('cursor', text)
    await writeFile(join(machine.where.project, 'foldout.config.ts'), 'export default {}')
    await expect(machine.install('cursor', { isMove: true })).rejects.toThrow('is code')
    await writeFile(join(machine.where.project, 'broken.json'), '{')
    await expect(machine.install('cursor', { isMove: true, config: 'broken.json' })).rejects.toThrow(
      'is not valid JSON',
    )
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})

describe('R52: servers that were moved', () => {
  const A = { command: 'x', env: { KEY: 'old' } }
  const TEXT = JSON.stringify({ mcpServers: { a: A } })

  async function readServers(file: string): Promise<unknown> {
    return (JSON.parse(await readFile(file, 'utf8')) as { mcpServers: unknown }).mcpServers
  }

  it('stay in the configuration if someone has changed them, and the client gets what it had', async () => {
    const file = await machine.write('cursor', TEXT)
    await machine.install('cursor', { isMove: true })
    const edited = { ...A, env: { KEY: 'new' }, tools: { pay: { hide: true } } }
    await writeFile(machine.config, JSON.stringify({ mcpServers: { a: edited } }))
    expect(await machine.uninstall('cursor')).toMatchObject({
      status: 'restored',
      returned: ['a'],
      released: { file: machine.config, status: 'unchanged', removed: [], changed: ['a'] },
    })
    expect(await readFile(file, 'utf8')).toBe(TEXT)
    expect(await readServers(machine.config)).toEqual({ a: edited })
  })

  it('stay in the configuration if the client has another server with the name', async () => {
    const file = await machine.write('cursor', TEXT)
    await machine.install('cursor', { isMove: true })
    const text = (await readFile(file, 'utf8')).replace('"foldout":', '"a": {"command": "mine"}, "foldout":')
    await writeFile(file, text)
    // Moved too, under another name.
    expect((await machine.install('cursor', { isMove: true })).moved).toEqual([{ from: 'a', to: 'a-2', isNew: true }])
    expect(await machine.uninstall('cursor')).toMatchObject({
      returned: ['a'],
      taken: ['a'],
      released: { removed: ['a-2'], unreturned: ['a'] },
    })
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: { a: { command: 'mine' } } })
    expect(await readServers(machine.config)).toEqual({ a: A })
  })

  it('stay moved if the gateway is installed again, also without --move', async () => {
    const file = await machine.write('cursor', TEXT)
    await machine.install('cursor', { isMove: true })
    const edited = { a: { ...A, env: { KEY: 'new' } } }
    await writeFile(machine.config, JSON.stringify({ mcpServers: edited }))
    for (const isMove of [false, true]) {
      const { moved, left } = await machine.install('cursor', { version: `2.0.${Number(isMove)}`, isMove })
      expect({ moved, left }).toEqual({ moved: [{ from: 'a', to: 'a', isNew: false }], left: [] })
      expect(Object.keys((await readServers(file)) as object)).toEqual(['foldout'])
      expect(await readServers(machine.config)).toEqual(edited)
    }
    expect(await machine.uninstall('cursor')).toMatchObject({ status: 'restored', released: { changed: ['a'] } })
    expect(await readFile(file, 'utf8')).toBe(TEXT)
  })

  it('are not added again if the user has removed them, unless the configuration is gone', async () => {
    await machine.write('cursor', TEXT)
    await machine.install('cursor', { isMove: true })
    await writeFile(machine.config, '{"mcpServers": {}}')
    await machine.install('cursor', { version: '2.0.0' })
    expect(await readServers(machine.config)).toEqual({})
    await rm(machine.config)
    await machine.install('cursor', { version: '2.0.0' })
    expect(await readServers(machine.config)).toEqual({ a: A })
  })

  it('move on to another configuration, as they are now', async () => {
    const file = await machine.write('cursor', TEXT)
    await machine.install('cursor', { isMove: true })
    const edited = { a: { ...A, env: { KEY: 'new' }, cwd: 'data' } }
    await writeFile(machine.config, JSON.stringify({ mcpServers: edited }))
    const other = join(machine.folder, 'other.json')
    expect(await machine.install('cursor', { config: other })).toMatchObject({
      moved: [{ from: 'a', to: 'a', isNew: false }],
      released: { file: machine.config, status: 'removed', removed: ['a'] },
    })
    await expect(stat(machine.config)).rejects.toThrow('ENOENT')
    expect(await readServers(other)).toEqual({ a: { ...edited.a, cwd: 'project/data' } })
    expect((await machine.uninstall('cursor')).released).toMatchObject({ file: other, changed: ['a'] })
    expect(await readFile(file, 'utf8')).toBe(TEXT)
  })

  it('leave the old configuration as it is while another client uses it', async () => {
    await machine.write('cursor', TEXT)
    await machine.write('windsurf', '{}')
    await machine.install('cursor', { isMove: true })
    await machine.install('windsurf')
    const other = join(machine.folder, 'other.json')
    const { released } = await machine.install('cursor', { config: other })
    expect(released).toMatchObject({ status: 'unchanged', usedBy: ['windsurf'] })
    expect(await readServers(machine.config)).toEqual({ a: A })
    expect((await machine.uninstall('windsurf')).released).toMatchObject({ status: 'removed', removed: ['a'] })
    expect((await machine.uninstall('cursor')).released).toMatchObject({ status: 'removed', removed: ['a'] })
  })

  it('of several clients leave no trace in the configuration, in whatever order the clients leave', async () => {
    const original = '{ "mcpServers": {} } // mine\n'
    const texts = { cursor: TEXT, windsurf: '{"mcpServers": {"a": {"command": "y"}}}', kiro: TEXT }
    for (const names of [Object.keys(texts), Object.keys(texts).toReversed()]) {
      for (const before of [original, undefined]) {
        if (before !== undefined) await writeFile(machine.config, before, { mode: 0o600 })
        for (const [name, text] of Object.entries(texts)) await machine.write(name, text)
        for (const name of Object.keys(texts)) await machine.install(name, { isMove: true })
        expect(Object.keys((await readConfig()) as object)).toEqual(['a', 'a-2'])
        for (const name of names) await machine.uninstall(name)
        expect(await readFile(machine.config, 'utf8').catch(() => undefined)).toBe(before)
        await rm(machine.config, { force: true })
      }
    }
  })

  it('change nothing anywhere if the configuration does not parse', async () => {
    const file = await machine.write('cursor', TEXT)
    await machine.install('cursor', { isMove: true })
    const text = await readFile(file, 'utf8')
    await writeFile(machine.config, '{')
    await expect(machine.uninstall('cursor')).rejects.toThrow(
      'foldout.config.json was not changed: it is not valid JSON',
    )
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  async function readConfig(): Promise<unknown> {
    const { parse } = await loadFormat('json')
    return (parse(await readFile(machine.config, 'utf8')) as { mcpServers: unknown }).mcpServers
  }
})
