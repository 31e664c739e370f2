import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createGateway, type Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'
import { removeFolder } from '../remove-folder.ts'

const ASKING = join(
  import.meta.dirname,
  '../../packages/foldout-mcp/src/gateway/upstreams/asking/asking-server.fixtures.mjs',
)
const QUESTION = {
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema: { type: 'object', properties: {} } },
}
const folder = mkdtempSync(join(tmpdir(), 'foldout-asks-'))
const key = randomBytes(32).toString('base64')
const closing: (() => Promise<unknown>)[] = []
let server: PostgresServer
let url: string
let databases = 0

beforeAll(async () => {
  server = await startPostgres()
}, 300_000)
beforeEach(async () => {
  url = await server.createDatabase(`asks_${++databases}`)
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await server.stop()
  await removeFolder(folder)
})

/** A gateway as on another machine: only the database is the same. */
async function create(name: string): Promise<Gateway> {
  const tokens = ['ann', 'bob'].map((user) => ({ user, token: `token-of-${user}` }))
  const gateway = await createGateway(
    { mcpServers: { a: { command: process.execPath, args: [ASKING] } }, expose: 'all', http: { tokens } },
    {
      store: url,
      cache: join(folder, name, 'cache'),
      data: join(folder, name, 'data'),
      env: { ...process.env, FOLDOUT_STORE_KEY: key },
    },
  )
  closing.push(() => gateway.close())
  await gateway.ready()
  return gateway
}

type Call = (name: string, args?: Readonly<Record<string, unknown>>) => Promise<unknown>

async function connect(gateway: Gateway, user: string): Promise<Call> {
  const client = new Client({ name: user, version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept' as const, content: { by: user } }))
  const requestInit = { headers: { authorization: `Bearer token-of-${user}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL((await gateway.http()).url), { requestInit }))
  closing.push(() => client.close())
  return async (name, args = {}) => {
    const { content } = await client.callTool({ name, arguments: { ...args } })
    return JSON.parse((content[0] as { readonly text: string }).text)
  }
}

describe('R65 a server that asks its clients, behind gateways with one store', { timeout: 60_000 }, () => {
  it('gets a process for each client on every gateway, after it has asked through one of them', async () => {
    const [one, other] = [await create('one'), await create('other')]
    const [ann, bob] = [await connect(other, 'ann'), await connect(other, 'bob')]
    const shared = await ann('pid')
    expect(await bob('pid')).toBe(shared)

    const asked = await connect(one, 'ann')
    expect(await asked('ask', QUESTION)).toEqual({ action: 'accept', content: { by: 'ann' } })

    await expect.poll(async () => (await ann('pid')) === (await bob('pid')), { timeout: 20_000 }).toBe(false)
    expect(await ann('ask', QUESTION)).toEqual({ action: 'accept', content: { by: 'ann' } })
    expect(await bob('ask', QUESTION)).toEqual({ action: 'accept', content: { by: 'bob' } })
  })

  it('gets them on a gateway that starts later, for its first calls', async () => {
    const one = await create('earlier')
    const asked = await connect(one, 'ann')
    await asked('ask', QUESTION)
    for (const close of closing.splice(0).toReversed()) await close()
    const later = await create('later')
    const [ann, bob] = [await connect(later, 'ann'), await connect(later, 'bob')]
    expect(await ann('pid')).not.toBe(await bob('pid'))
    expect(await bob('ask', QUESTION)).toEqual({ action: 'accept', content: { by: 'bob' } })
  })
})
