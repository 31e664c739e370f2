import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  KEPT_PER_CLIENT,
  MAX_KEPT_BYTES,
  MAX_SHARED,
  MAX_SHARED_BYTES,
  ROOM_AFTER,
} from '../../packages/foldout-mcp/src/gateway/results/limits.ts'
import type { SharedOwner } from '../../packages/foldout-mcp/src/gateway/results/shared.ts'
import type { GatewayStore } from '../../packages/foldout-mcp/src/gateway/store/contract/gateway-store.ts'
import { openPostgresStore } from '../../packages/foldout-mcp/src/gateway/store/postgres/store.ts'
import { query, startPostgres, type PostgresServer } from '../postgres/server.ts'
import { removeFolder } from '../remove-folder.ts'
import { getText, startBalancer, startGateway, type TestGateway } from './gateway.ts'

const LONG = 120_000
const LARGE = join(import.meta.dirname, '../../packages/foldout-mcp/src/gateway/results/large-server.fixtures.mjs')
const TASKS = join(import.meta.dirname, '../pass-through/tasks-server.mjs')
const ANYTHING = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const
const folder = mkdtempSync(join(tmpdir(), 'foldout-shared-results-'))
const closes: (() => unknown)[] = []
let server: PostgresServer
let url: string
let databases = 0

beforeAll(async () => {
  server = await startPostgres()
}, 300_000)
beforeEach(async () => {
  url = await server.createDatabase(`results_${++databases}`)
}, LONG)
afterEach(async () => {
  for (const close of closes.splice(0).toReversed()) await close()
}, LONG)
afterAll(async () => {
  await server.stop()
  await removeFolder(folder)
}, LONG)

const read = async (sql: string): Promise<readonly unknown[]> => (await query(url, sql)).rows

describe('R65 folded results in PostgreSQL', () => {
  const ada: SharedOwner = { key: 'ada', isShared: false, user: 'ada' }
  const HANDLE = '0123456789abcdef01234567'

  async function openStore(): Promise<NonNullable<GatewayStore['results']>> {
    const store = await openPostgresStore({
      url,
      schema: undefined,
      key: undefined,
      keyFile: undefined,
      onProblem: () => undefined,
    })
    closes.push(() => store.close())
    if (!store.results) throw new Error('The store has no results.')
    return store.results
  }

  it('are found by their owner at every gateway, and cannot be read in the table', async () => {
    const [one, other] = [await openStore(), await openStore()]
    const text = JSON.stringify({ password: 'the secret \uFFFD é 🙂'.repeat(100) })
    await one.save(HANDLE, ada, { text, isJson: true })
    expect(await other.find(HANDLE, ada)).toEqual({ text, isJson: true })
    expect(await other.find(HANDLE, { ...ada, key: 'eve' })).toBeUndefined()
    expect(await other.find('0123456789abcdef01234568', ada)).toBeUndefined()
    const rows = JSON.stringify(await read(`SELECT *, encode(data, 'escape') AS shown FROM foldout.gateway_results`))
    for (const secret of [HANDLE, 'secret', '"ada"']) expect(rows).not.toContain(secret)
  })

  it('are not read if a row was changed, or given to another owner', async () => {
    const results = await openStore()
    await results.save(HANDLE, ada, { text: 'a result', isJson: false })
    await query(url, `UPDATE foldout.gateway_results SET owner = encode(sha256('eve'), 'hex')`)
    await expect(results.find(HANDLE, { ...ada, key: 'eve' })).rejects.toThrow('It was changed in the store.')
  })

  it('are dropped when they were not used for a while, or are too many of one client', async () => {
    const results = await openStore()
    const handles = Array.from({ length: KEPT_PER_CLIENT + 3 }, (_, i) => `${i}`.padStart(24, '0'))
    for (const handle of handles) await results.save(handle, ada, { text: handle, isJson: false })
    const found = await Promise.all(handles.map((handle) => results.find(handle, ada)))
    expect(found.map((result) => result !== undefined)).toEqual(handles.map((_, i) => i >= 3))
    await query(url, `UPDATE foldout.gateway_results SET used_at = now() - interval '31 minutes'`)
    expect(await results.find(handles.at(-1) ?? '', ada)).toBeUndefined()
  })

  it.each([
    { what: 'many', bytes: 1 },
    { what: 'large', bytes: 1_000_000 },
  ])('of a user are not lost to another one who keeps $what', async ({ bytes }) => {
    const results = await openStore()
    await results.save(HANDLE, ada, { text: 'the oldest of all', isJson: false })
    // In as many sessions as he likes.
    await query(
      url,
      `INSERT INTO foldout.gateway_results (id, owner, is_json, bytes, kept_by, kept_for)
       SELECT 'eve' || i, 'session ' || i % 200, false, ${bytes}, 'x', 'eve' FROM generate_series(1, ${MAX_SHARED}) AS i`,
    )
    for (let i = 0; i < ROOM_AFTER - 1; i++)
      await results.save(
        `${i}`.padStart(24, '0'),
        { ...ada, key: `${i}`, user: `user ${i}` },
        { text: 'x', isJson: false },
      )
    expect(await results.find(HANDLE, ada)).toEqual({ text: 'the oldest of all', isJson: false })
    const [row] = await read('SELECT count(*)::int AS count, sum(bytes) AS bytes FROM foldout.gateway_results')
    const { count, bytes: total } = row as { readonly count: number; readonly bytes: string }
    expect(count).toBeLessThanOrEqual(MAX_SHARED)
    expect(Number(total)).toBeLessThanOrEqual(MAX_KEPT_BYTES)
    expect(count).toBeGreaterThan(bytes === 1 ? MAX_SHARED - 1 : 1_000)
  })

  it('say where they are if they are too large', async () => {
    const results = await openStore()
    await results.save(HANDLE, ada, { text: 'x'.repeat(MAX_SHARED_BYTES + 1), isJson: false })
    expect(await results.find(HANDLE, ada)).toEqual({
      keptBy: expect.stringContaining(`process ${process.pid}`) as string,
    })
    expect(await read('SELECT data FROM foldout.gateway_results')).toEqual([{ data: null }])
  })
})

interface Balanced {
  readonly gateways: readonly [TestGateway, TestGateway]
  readonly url: string
  /** Where the next requests go, in turn. */
  readonly targets: string[]
}

/** Two gateways in processes of their own. Each request goes to the next one. */
async function startTwo(name: string, mcpServers: object): Promise<Balanced> {
  const config = join(folder, `${name}.json`)
  writeFileSync(config, JSON.stringify({ mcpServers, expose: 'all', store: url }))
  const start = async (part: string): Promise<TestGateway> => {
    const home = join(folder, `${name}-${part}`)
    mkdirSync(home)
    const gateway = await startGateway({ config, home })
    closes.push(async () => {
      gateway.kill('SIGKILL')
      await gateway.ended
    })
    return gateway
  }
  const gateways = [await start('one'), await start('two')] as const
  const targets = gateways.map((gateway) => gateway.url)
  const balancer = await startBalancer(targets)
  closes.push(() => balancer.close())
  return { gateways, targets, url: balancer.url }
}

async function connect(at: string, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(at)))
  closes.push(() => client.close())
  return client
}

const getHandle = (text: string): string => /result: '(\w+)'/.exec(text)?.[1] ?? 'none'

describe.each(['legacy', 'auto'] as const)(
  'R65 two gateways behind a round robin, for a client (%s)',
  { timeout: LONG },
  (mode) => {
    it('R65 let it read what either of them has folded, also when that one is gone', async () => {
      const large = { command: process.execPath, args: [LARGE] }
      const { gateways, targets, url: at } = await startTwo(`folded-${mode}`, { large })
      const [ada, eve] = [await connect(at, mode), await connect(at, mode)]
      const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<string> =>
        getText(await client.callTool({ name, arguments: args }))
      const result = getHandle(await call(ada, 'rows', {}))
      for (const row of [1, 2, 1999, 2000])
        expect(await call(ada, 'read_result', { result, path: `$[${row - 1}].name` })).toContain(`"Row ${row}"`)
      expect(await read('SELECT is_json FROM foldout.gateway_results')).toEqual([{ is_json: true }])
      // Clients without a connection cannot be told apart. Who has the handle has the result.
      const seen = mode === 'legacy' ? `There is no result '${result}' here.` : 'Row 1'
      for (let i = 0; i < 2; i++) expect(await call(eve, 'read_result', { result })).toContain(seen)

      targets.splice(0, 2, gateways[0].url)
      const last = getHandle(await call(ada, 'rows', { count: 3_000 }))
      gateways[0].kill('SIGKILL')
      await gateways[0].ended
      targets.splice(0, 1, gateways[1].url)
      expect(await call(ada, 'read_result', { result: last, path: '$[2999].name' })).toContain('"Row 3000"')
    })
  },
)

describe('R65 a task', { timeout: LONG }, () => {
  it('R65 is answered for by the gateway that began it; the other one says which that is', async () => {
    const tasks = { command: process.execPath, args: [TASKS, 'legacy'] }
    const { gateways, url: at } = await startTwo('tasks', { tasks })
    const client = await connect(at, 'legacy')
    const ask = async (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> =>
      (await client.request({ method, params }, ANYTHING)) as Record<string, unknown>
    const begun = await ask('tools/call', { name: 'endless', arguments: {}, task: { ttl: 60_000 } })
    const { taskId } = begun['task'] as { taskId: string }
    const answers = await Promise.allSettled([ask('tasks/get', { taskId }), ask('tasks/get', { taskId })])
    const texts = answers.map((answer) =>
      answer.status === 'fulfilled' ? String(answer.value['status']) : String(answer.reason),
    )
    expect(texts.toSorted()).toEqual([
      expect.stringMatching(/runs at another gateway, .*: process \d+ on .+, http:/),
      'working',
    ])
    for (const gateway of gateways) {
      const missing = connect(gateway.url, 'legacy').then((one) =>
        one.request({ method: 'tasks/get', params: { taskId: 'nonsense' } }, ANYTHING),
      )
      await expect(missing).rejects.toThrow(`There is no task 'nonsense'.`)
    }
  })
})
