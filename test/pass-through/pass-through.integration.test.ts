import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway, type Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { defineFullServer, openFullServer, type Target } from '../mcp-conformance/targets.ts'
import { connectHttp, connectStdio, type Era } from './peers.ts'
import { createCaller, ROWS, type Caller, type Row, type Way } from './rows.ts'
import { removeFolder } from '../remove-folder.ts'

const ERAS: readonly Era[] = ['legacy', 'modern']
const UPSTREAMS = ERAS.flatMap((era) => (['stdio', 'http'] as const).map((transport) => ({ era, transport })))
const PRESETS = { 'by name': 'all', use_tool: 'hidden' } as const

/** Fields that always differ: the server's name, how long lists may be cached, and the subscription. */
const PASSING: ReadonlySet<string> = new Set([
  'ttlMs',
  'cacheScope',
  'io.modelcontextprotocol/serverInfo',
  'io.modelcontextprotocol/subscriptionId',
])

function dropPassing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropPassing)
  // In texts that are JSON, the order of fields does not matter.
  if (typeof value === 'string' && /^[[{]/.test(value)) return dropPassing(JSON.parse(value))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => !PASSING.has(key))
  const inner = kept.map(([key, item]) => [key, dropPassing(item)] as const)
  return Object.fromEntries(inner.filter(([key, item]) => key !== '_meta' || Object.keys(item as object).length > 0))
}

const folder = mkdtempSync(join(tmpdir(), 'foldout-pass-through-'))
const closing: (() => Promise<unknown>)[] = []
const direct = new Map<Era, Caller>()
const expected = new Map<string, Promise<unknown>>()

/** What a client sees without the gateway. */
function seeDirectly(era: Era, { feature, see }: Row): Promise<unknown> {
  const key = `${era} ${feature}`
  const known = expected.get(key) ?? see(getDirect(era)).then(dropPassing)
  expected.set(key, known)
  return known
}

beforeAll(async () => {
  const { url, close } = await openFullServer('both')
  closing.push(close)
  for (const era of ERAS) {
    const client = await connectHttp(url, era)
    closing.unshift(() => client.close())
    direct.set(era, createCaller(client, era, 'by name'))
  }
})
afterAll(async () => {
  for (const close of closing) await close()
  await removeFolder(folder)
})

function getDirect(era: Era): Caller {
  const caller = direct.get(era)
  if (!caller) throw new Error(`There is no ${era} client.`)
  return caller
}

async function open(
  upstream: (typeof UPSTREAMS)[number],
): Promise<{ readonly gateway: Gateway; readonly url: string }> {
  const server: Target | undefined = upstream.transport === 'http' ? await openFullServer(upstream.era) : undefined
  if (server) closing.push(() => server.close())
  const gateway = await createGateway(
    {
      mcpServers: { full: { ...(server ? { url: server.url } : defineFullServer(upstream.era)), required: true } },
      presets: { all: { expose: 'all' }, hidden: { expose: 'hybrid' } },
    },
    { cache: join(folder, `${upstream.era}-${upstream.transport}`) },
  )
  closing.unshift(() => gateway.close())
  const { url } = await gateway.http()
  return { gateway, url }
}

describe.each(UPSTREAMS)('R53 through the gateway from a $era server over $transport', (upstream) => {
  let opened: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    opened = await open(upstream)
  }, 60_000)

  describe.each(ERAS)('to a %s client', (era) => {
    describe.each<{ readonly transport: 'stdio' | 'http'; readonly way: Way }>([
      { transport: upstream.transport, way: 'by name' },
      { transport: 'http', way: 'use_tool' },
    ])('over $transport, $way', ({ transport, way }) => {
      let client: Client
      beforeAll(async () => {
        const { gateway, url } = opened
        client = await (transport === 'http'
          ? connectHttp(`${url}/${PRESETS[way]}`, era)
          : connectStdio(gateway, PRESETS[way], era))
      })
      afterAll(() => client.close())

      const isLeftOut = ({ notFor = {}, within }: Row): boolean =>
        notFor[way] !== undefined ||
        (era === 'modern' && notFor[upstream.era] !== undefined) ||
        (within !== undefined && (era !== within || upstream.era !== within))
      it.each(ROWS.filter((row) => !isLeftOut(row)))('$feature', async (row) => {
        const seen = await row.see(createCaller(client, era, way))
        expect(dropPassing(seen)).toEqual(await seeDirectly(era, row))
      })
    })
  })
})
