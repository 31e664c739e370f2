import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway, type Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { installServers } from './harness.ts'
import { installPackages } from '../../tools/install-packages.ts'
import { removeFolder } from '../remove-folder.ts'

const MORE = join(import.meta.dirname, 'more')
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }

interface Manifest {
  readonly bin: string | Readonly<Record<string, string>>
}

/** How to start a server that is installed in a folder. */
function toEntry(folder: string, name: string, ...args: readonly string[]): { command: string; args: string[] } {
  const home = join(folder, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
  const file = typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? '')
  return { command: process.execPath, args: [join(home, file), ...args] }
}

describe.runIf(env.MODE === 'all-clients')('R54 eleven real servers behind the gateway', () => {
  let folder: string
  let gateway: Gateway
  beforeAll(async () => {
    installServers()
    installPackages(MORE)
    folder = mkdtempSync(join(tmpdir(), 'foldout-servers-'))
    const own = (name: string, ...args: readonly string[]) =>
      toEntry(import.meta.dirname, `@modelcontextprotocol/server-${name}`, ...args)
    const mcpServers = {
      everything: own('everything'),
      files: own('filesystem', folder),
      memory: { ...own('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
      thinking: own('sequential-thinking'),
      charts: toEntry(MORE, '@antv/mcp-server-chart'),
      github: toEntry(MORE, '@modelcontextprotocol/server-github'),
      notion: toEntry(MORE, '@notionhq/notion-mcp-server'),
      playwright: toEntry(MORE, '@playwright/mcp'),
      context7: toEntry(MORE, '@upstash/context7-mcp'),
      devtools: toEntry(MORE, 'chrome-devtools-mcp'),
      tavily: { ...toEntry(MORE, 'tavily-mcp'), env: { TAVILY_API_KEY: 'none' } },
    }
    gateway = await createGateway({ mcpServers }, { cache: join(folder, 'cache'), timeoutMs: 120_000 })
    await gateway.ready()
  }, 600_000)
  afterAll(async () => {
    await gateway.close()
    await removeFolder(folder)
  })

  it('all start and list their tools', () => {
    const failed = gateway.servers.filter(({ tools = 0 }) => tools === 0)
    expect(failed).toEqual([])
    expect(gateway.servers).toHaveLength(11)
  })

  it('are searched and called', async () => {
    const catalog = await gateway.getCatalog()
    const { hits } = await catalog.search('take a screenshot of a web page')
    expect(hits.map(({ tool }) => tool.source)).toEqual(expect.arrayContaining(['playwright']))
    expect((await catalog.call('echo', { message: 'Hello' })).content).toEqual([{ type: 'text', text: 'Echo: Hello' }])
    const written = await catalog.call('write_file', { path: join(folder, 'note.txt'), content: 'Buy milk.' })
    expect(written.isError).toBeUndefined()
    expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('Buy milk.')
  })
})
