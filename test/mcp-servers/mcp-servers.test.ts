import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../packages/foldout/src/catalog/live/catalog.ts'
import type { Catalog } from '../../packages/foldout/src/catalog/contract.ts'
import type { ToolProgress, RawTool } from '../../packages/foldout/src/catalog/tool.ts'
import { toolsFromMcp } from '../../packages/foldout/src/mcp/tools-from/tools-from-mcp.ts'
import { installServers, startServer, type ServerName } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

describe.each(['v1', 'v2'] as const)('real servers over stdio, with a client of %s', (line) => {
  let folder: string
  let catalog: Catalog
  let tools: readonly RawTool[]
  const clients: Awaited<ReturnType<typeof startServer>>[] = []

  beforeAll(async () => {
    installServers()
    folder = mkdtempSync(join(tmpdir(), 'foldout-mcp-servers-'))
    writeFileSync(join(folder, 'note.txt'), 'Buy milk.')
    const started: readonly (readonly [ServerName, ...string[]])[] = [
      ['everything'],
      ['filesystem', folder],
      ['memory'],
      ['sequential-thinking'],
    ]
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }
    clients.push(...(await Promise.all(started.map(async ([server, ...args]) => startServer(line, server, args, env)))))
    tools = (await Promise.all(clients.map(async (client) => toolsFromMcp(client)))).flat()
    catalog = createCatalog(tools)
  }, 300_000)
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await removeFolder(folder)
  })

  const call = async (name: string, args: object = {}, context = {}): ReturnType<Catalog['call']> =>
    catalog.call(name, args, context)

  it('R43 form one catalog', () => {
    expect(catalog.broken).toEqual([])
    expect(catalog.tools.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(catalog.sources.map(({ name }) => name)).toEqual([
      'everything',
      'memory',
      'secure-filesystem',
      'sequential-thinking',
    ])
    const read = catalog.resolve('read_text_file')
    expect(read).toMatchObject({
      qualified: 'secure-filesystem/read_text_file',
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object' },
    })
  })

  it('R49 list the same tools in whatever order the servers connect', () => {
    expect(createCatalog(tools.toReversed()).tools).toEqual(catalog.tools)
  })

  it('R46 answer with text, images, links, resources, structure and annotations', async () => {
    expect(await call('echo', { message: 'Hello' })).toEqual({ content: [{ type: 'text', text: 'Echo: Hello' }] })
    const image = await call('get-annotated-message', { messageType: 'error', includeImage: true })
    expect(image.content).toMatchObject([
      { type: 'text', annotations: { priority: 1, audience: ['user', 'assistant'] } },
      { type: 'image', mimeType: 'image/png', annotations: { audience: ['user'] } },
    ])
    const links = await call('get-resource-links', { count: 2 })
    expect(links.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'resource_link'])
    const resource = await call('get-resource-reference', { resourceType: 'Text', resourceId: 1 })
    expect(resource.content[1]).toMatchObject({ type: 'resource', resource: { uri: 'demo://resource/dynamic/text/1' } })
    const weather = await call('get-structured-content', { location: 'Chicago' })
    expect(weather.structuredContent).toEqual(JSON.parse(String(weather.content[0]!['text'])))
  })

  it('R46 report progress and can be cancelled', async () => {
    const seen: ToolProgress[] = []
    const onProgress = (progress: ToolProgress): unknown => seen.push(progress)
    await call('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { onProgress })
    expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
    const abort = new AbortController()
    const running = call('trigger-long-running-operation', { duration: 60, steps: 60 }, { signal: abort.signal })
    setTimeout(() => abort.abort(new Error('Enough.')), 50)
    await expect(running).rejects.toThrow('Enough.')
    expect(await call('echo', { message: 'Still here' })).toMatchObject({ content: [{ text: 'Echo: Still here' }] })
  })

  it('R46 carry out calls, and report what went wrong', async () => {
    const path = join(folder, 'note.txt')
    expect(await call('read_text_file', { path })).toEqual({
      content: [{ type: 'text', text: 'Buy milk.' }],
      structuredContent: { content: 'Buy milk.' },
    })
    await call('edit_file', { path, edits: [{ oldText: 'milk', newText: 'bread' }] })
    expect(readFileSync(path, 'utf8')).toBe('Buy bread.')
    expect(await call('read_text_file', { path: '/etc/hostname' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Access denied') as unknown }],
    })
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['Likes tea'] }]
    await call('create_entities', { entities })
    expect((await call('search_nodes', { query: 'tea' })).structuredContent).toEqual({ entities, relations: [] })
    expect(await call('get-sum', { a: 1 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Wrong arguments for tool 'get-sum': ") as unknown }],
    })
  })

  it('R43 announce tools that are added later', async () => {
    // This server adds tools once it knows the client's capabilities, which may be after the first list.
    const client = await startServer(line, 'everything')
    let names = new Set<string>()
    const note = (now: readonly RawTool[]): void => void (names = new Set(now.map(({ name }) => name)))
    note(await toolsFromMcp(client, { onChange: note }))
    await vi.waitFor(() => expect([...names]).toEqual(expect.arrayContaining(['echo', 'trigger-elicitation-request'])))
    await client.close()
  })
})
