import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway, type Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { connectHttp, connectStdio, type Era } from './peers.ts'
import { removeFolder } from '../remove-folder.ts'

const SERVER = join(import.meta.dirname, 'apps-server.mjs')
const folder = mkdtempSync(join(tmpdir(), 'foldout-apps-'))
const ERAS: readonly Era[] = ['legacy', 'modern']
const PAGE = { mimeTypes: ['text/html;profile=mcp-app'] }
const DECLARED = { extensions: { 'io.modelcontextprotocol/ui': PAGE } }
const APPS = ['one_chart', 'one_map', 'one_refresh', 'two_chart', 'two_map', 'two_refresh']

let gateway: Gateway
let url: string
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  const server = (name: string) => ({ command: process.execPath, args: [SERVER, name], required: true })
  gateway = await createGateway(
    {
      mcpServers: { one: server('one'), two: server('two') },
      expose: 'hybrid',
      presets: { two: { servers: ['two'] } },
    },
    { cache: folder },
  )
  url = (await gateway.http()).url
})
afterAll(async () => {
  for (const close of closing) await close()
  await gateway.close()
  await removeFolder(folder)
})

async function connect(era: Era, capabilities: object, address = url): Promise<Client> {
  const client = await connectHttp(address, era, capabilities)
  closing.push(() => client.close())
  return client
}

const listNames = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).filter((name) => /^(?:one|two)_/.test(name))

/** The UI pages of a client's tools, with their content. */
async function readPages(client: Client): Promise<Readonly<Record<string, string>>> {
  const { tools } = await client.listTools()
  const pages: Record<string, string> = {}
  for (const { name, _meta: meta = {} } of tools) {
    const { resourceUri } = (meta['ui'] ?? {}) as { readonly resourceUri?: string }
    const uri = resourceUri ?? (meta['ui/resourceUri'] as string | undefined)
    if (uri === undefined) continue
    expect(uri).toMatch(/^ui:\/\//)
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([
      { uri, mimeType: 'text/html;profile=mcp-app', _meta: { ui: { prefersBorder: true } } },
    ])
    pages[name] = (contents[0] as { readonly text: string }).text
  }
  return pages
}

describe.each(ERAS)('R53 tools with pages, for a %s client', (era) => {
  it.each([DECLARED, { experimental: DECLARED.extensions }])('are listed if it declares %j', async (capabilities) => {
    expect(await listNames(await connect(era, capabilities))).toEqual(APPS)
  })

  it.each([{}, { extensions: {} }])('are found by a search if it declares %j', async (capabilities) => {
    const client = await connect(era, capabilities)
    expect(await listNames(client)).toEqual([])
    const { content } = await client.callTool({ name: 'search_tools', arguments: { query: 'one_chart' } })
    expect(JSON.stringify(content)).toContain('one_chart')
  })

  it('are listed over stdio', async () => {
    const client = await connectStdio(gateway, 'two', era, DECLARED)
    expect(await listNames(client)).toEqual(['two_chart', 'two_map', 'two_refresh'])
    await client.close()
  })

  it('are called by name, with everything the server returns', async () => {
    const client = await connect(era, DECLARED)
    const result = await client.callTool({ name: 'two_chart', arguments: {} })
    // The server knows that pages can be shown.
    expect(result.content).toEqual([{ type: 'text', text: 'two_chart true' }])
    expect(result.structuredContent).toEqual({ points: [1, 2, 3] })
    expect(result).toMatchObject({ _meta: { from: 'two' } })
  })

  it('have their own pages, even if two servers use the same URI', async () => {
    expect(await readPages(await connect(era, DECLARED))).toEqual({
      one_chart: '<p>one</p>',
      one_map: '<p>one</p>',
      two_chart: '<p>two</p>',
      two_map: '<p>two</p>',
    })
    expect(await readPages(await connect(era, DECLARED, `${url}/two`))).toEqual({
      two_chart: '<p>two</p>',
      two_map: '<p>two</p>',
    })
  })
})
