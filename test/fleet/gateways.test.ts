import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  startAuthorizationServer,
  startGuardedServer,
} from '../../packages/foldout-mcp/src/gateway/auth/oauth.fixtures.ts'
import { readGatewayConfig } from '../../packages/foldout-mcp/src/gateway/config/read-config.ts'
import { openPostgresStore } from '../../packages/foldout-mcp/src/gateway/store/postgres/store.ts'
import { query, startPostgres, type PostgresServer } from '../postgres/server.ts'
import { connect, getText, runFoldout, startBalancer, startGateway, type TestGateway } from './gateway.ts'
import { removeFolder } from '../remove-folder.ts'

const LONG = 120_000
const SERVER = join(import.meta.dirname, '../../packages/foldout-mcp/src/gateway/server.fixtures.mjs')
const PASSWORD = 'the-password-of-the-database'
const folder = mkdtempSync(join(tmpdir(), 'foldout-gateways-'))
const effects = join(folder, 'effects')
const starts = join(folder, 'starts')
const config = join(folder, 'foldout.json')
const key = randomBytes(32).toString('base64')
const gateways: TestGateway[] = []
const clients: Client[] = []
let server: PostgresServer
let url: string
let homes = 0
/** The output of a gateway whose database does not exist. It takes a while to be certain. */
let failing: Promise<string>

const readLines = (file: string): readonly string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean)
const settings = (more: Readonly<Record<string, string>> = {}) => {
  const home = join(folder, `home-${++homes}`)
  mkdirSync(home, { recursive: true })
  return {
    config,
    home,
    env: { DATABASE_URL: url, FOLDOUT_STORE_KEY: key, ADA: 'token-of-ada', BOB: 'token-of-bob', ...more },
  }
}
async function start(): Promise<TestGateway> {
  const gateway = await startGateway(settings())
  gateways.push(gateway)
  return gateway
}
async function open(at: string, capabilities: object = {}, token?: string): Promise<Client> {
  const client = await connect(at, capabilities, token)
  clients.push(client)
  return client
}
const call = (client: Client, name: string, args: object = {}) => client.callTool({ name, arguments: { ...args } })
const listNames = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

beforeAll(async () => {
  server = await startPostgres()
  url = (await server.createDatabase('gateways')).replace('foldout@', `foldout:${PASSWORD}@`)
  writeFileSync(effects, '')
  writeFileSync(starts, '')
  const tools = [
    { name: 'look', does: 'echo', annotations: { readOnlyHint: true } },
    { name: 'pay', does: 'effect' },
    { name: 'refund', does: 'effect' },
    { name: 'count', does: 'effect' },
    { name: 'grow', does: 'grow' },
  ]
  const shop = { command: process.execPath, args: [SERVER, JSON.stringify({ tools, effects, starts })], pin: 'off' }
  const definition = {
    mcpServers: { shop },
    expose: 'all',
    store: '${DATABASE_URL}',
    audit: true,
    http: {
      tokens: [
        { user: 'ada', token: '${ADA}' },
        { user: 'bob', token: '${BOB}' },
      ],
    },
    rules: [{ action: 'ask', tool: ['shop/pay', 'shop/refund'] }],
    quotas: [{ calls: 200, per: 'day', each: 'user', tool: 'shop/count' }],
  }
  writeFileSync(config, JSON.stringify(definition))
  const wrong = settings({ DATABASE_URL: `postgres://ada:${PASSWORD}@127.0.0.1:1/x` })
  failing = startGateway(wrong).then(
    () => '',
    (error: Error) => error.message,
  )
  await start()
  await Promise.all([start(), start(), start()])
}, 300_000)
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close().catch(() => undefined)
})
afterAll(async () => {
  for (const gateway of gateways) gateway.kill('SIGKILL')
  await Promise.all(gateways.map(({ ended }) => ended))
  await server.stop()
  await removeFolder(folder)
}, LONG)

const getUrls = (): readonly string[] => gateways.map((gateway) => gateway.url)

describe('R65 gateways behind one address', { timeout: LONG }, () => {
  it('start a server once to learn its tools, and answer from the database', async () => {
    expect(readLines(starts)).toHaveLength(1)
    for (const at of getUrls()) expect(await listNames(await open(at))).toContain('look')
    expect(readLines(starts)).toHaveLength(1)
  })

  it('run one call when ten race for one approval', async () => {
    const racing = await Promise.all(Array.from({ length: 10 }, (_, i) => open(getUrls()[i % 4] ?? '')))
    const [first] = racing
    const refusal = getText(await call(first as Client, 'pay', { amount: 7 }))
    const [, id = ''] = /foldout approve --call ([0-9a-f]{16})/.exec(refusal) ?? []
    expect(JSON.parse(await runFoldout(settings(), ['approvals', '--json', '--config', config]))).toMatchObject({
      approvals: [{ id, tool: 'shop/pay', user: 'ada' }],
    })
    await runFoldout(settings(), ['approve', '--call', id, '--store', url])
    // The approval is for nobody else, and for nothing else.
    const stranger = await open(getUrls()[1] ?? '', {}, 'token-of-bob')
    for (const [client, amount] of [
      [stranger, 7],
      [first as Client, 70],
    ] as const)
      expect(getText(await call(client, 'pay', { amount }))).not.toContain(id)
    const results = await Promise.all(racing.map((client) => call(client, 'pay', { amount: 7 })))
    expect(results.filter(({ isError }) => !isError)).toHaveLength(1)
    expect(readLines(effects).filter((line) => line.includes('"amount":7'))).toHaveLength(1)
  })

  it('ask a client through one gateway and get its answer through another', async () => {
    const balancer = await startBalancer(getUrls().slice(0, 2))
    onTestFinished(() => balancer.close())
    const client = await open(balancer.url, { elicitation: { form: {} } })
    let asked = 0
    client.setRequestHandler('elicitation/create', async () => {
      asked++
      return { action: 'accept', content: {} }
    })
    for (let order = 1; order <= 3; order++) {
      const result = await call(client, 'refund', { order })
      expect([getText(result), asked]).toEqual(['done', order])
    }
    expect(readLines(effects).filter((line) => line.includes('"order"'))).toHaveLength(3)
  })

  it('keep one quota within one percent', async () => {
    const each = await Promise.all(getUrls().map((at) => open(at)))
    const results = await Promise.all(
      Array.from({ length: 400 }, (_, i) => call(each[i % 4] as Client, 'count', { i })),
    )
    const allowed = results.filter(({ isError }) => !isError)
    expect(Math.abs(allowed.length - 200)).toBeLessThanOrEqual(2)
    expect(readLines(effects).filter((line) => line.includes('"i"'))).toHaveLength(allowed.length)
    const refused = results.find(({ isError }) => isError)
    expect(getText(refused ?? {})).toContain('the quota of 200 calls per day for each user is used up')
  })

  it('write one audit log, which a command searches', async () => {
    const at = settings()
    const search = async (...args: readonly string[]) =>
      JSON.parse(await runFoldout(at, ['audit', '--json', '--config', config, ...args])) as {
        entries: { tool: string; outcome: string }[]
        next: string | null
      }
    await expect
      .poll(async () => (await search('--outcome', 'not approved', '--tool', '*/pay')).entries.length, {
        timeout: LONG,
      })
      .toBe(12)
    expect((await search('--outcome', 'ok', '--tool', 'shop/pay', '--user', 'ada')).entries).toHaveLength(1)
    const page = await search('--tool', 'shop/count', '--limit', '5', '--since', '1h')
    expect([page.entries.length, typeof page.next]).toEqual([5, 'string'])
  })

  it('show tools that another gateway has discovered, even after a restart of all', async () => {
    const [one = '', other = ''] = getUrls()
    const before = readLines(starts).length
    await call(await open(one), 'grow')
    // Clients cache a list for a while, so a new client asks each time.
    await expect.poll(async () => listNames(await open(other)), { timeout: LONG }).toContain('grown_5')
    const another = await start()
    expect(await listNames(await open(another.url))).toContain('grown_5')
    expect(readLines(starts).length).toBeLessThanOrEqual(before + 1)
  })

  it('refresh a token once for two of them', async () => {
    const issuer = await startAuthorizationServer()
    const guarded = await startGuardedServer(issuer)
    onTestFinished(async () => {
      await guarded.close()
      await issuer.close()
    })
    const file = join(folder, 'tickets.json')
    writeFileSync(
      file,
      JSON.stringify({ mcpServers: { tickets: { url: guarded.url } }, expose: 'all', store: '${DATABASE_URL}' }),
    )
    await logIn(file)
    const store = await openPostgresStore({
      url,
      schema: undefined,
      key,
      keyFile: undefined,
      onProblem: () => undefined,
    })
    onTestFinished(() => store.close())
    const { rows } = await query(url, 'SELECT key FROM foldout.gateway_sign_ins')
    const [{ key: signIn }] = rows as [{ key: string }]
    const machines = await Promise.all([1, 2].map(() => startGateway({ ...settings(), config: file })))
    gateways.push(...machines)
    const users = await Promise.all(machines.map((machine) => open(machine.url)))
    for (const user of users) expect((await call(user, 'whoami')).isError).toBeUndefined()
    const before = issuer.grants.length
    await store.signIns.update(
      signIn,
      async (record) => record && { ...record, expiresAt: Date.now() - 1, issuedAt: 1 },
    )
    // A gateway trusts its copy for a moment.
    const callTenTimes = async () => {
      const results = await Promise.all(Array.from({ length: 10 }, (_, i) => call(users[i % 2] as Client, 'whoami')))
      expect(results.filter(({ isError }) => isError)).toEqual([])
      return issuer.grants.length
    }
    await expect.poll(callTenTimes).toBeGreaterThan(before)
    await callTenTimes()
    expect(issuer.grants.slice(before)).toEqual(['refresh_token'])
  })

  it('work from what is known while the database is unreachable, allow nothing else, and recover when it is back', async () => {
    const [gateway] = gateways
    if (!gateway) throw new Error('There is no gateway.')
    const client = await open(gateway.url)
    const refusal = getText(await call(client, 'pay', { amount: 8 }))
    const [, id = ''] = /foldout approve --call ([0-9a-f]{16})/.exec(refusal) ?? []
    await runFoldout(settings(), ['approve', '--call', id, '--store', url])
    const { stopped, start: startAgain } = server.stopForAWhile()
    await stopped
    const [looked, paid, counted] = await Promise.all([
      call(client, 'look'),
      call(client, 'pay', { amount: 8 }),
      call(await connect(gateways[1]?.url ?? ''), 'count'),
    ])
    expect(getText(looked)).toContain('args')
    expect(getText(paid)).toContain('cannot be stored now')
    expect(getText(counted)).toMatch(/was not run: (its quota cannot be checked|the quota of)/)
    expect(gateway.getLog()).toContain('The store is unreachable.')
    await startAgain()
    await expect.poll(async () => getText(await call(client, 'pay', { amount: 8 })), { timeout: LONG }).toBe('done')
    expect(readLines(effects).filter((line) => line.includes('"amount":8'))).toHaveLength(1)
    await expect.poll(() => gateway.getLog(), { timeout: LONG }).toContain('The store is back')
  })

  it('never print the database password', async () => {
    const complaint = await failing
    expect(complaint).toContain('The store cannot be used.')
    expect(complaint).not.toContain(PASSWORD)
    for (const gateway of gateways) expect(gateway.getLog()).not.toContain(PASSWORD)
  })
})

describe('R65 gateways that start together', { timeout: LONG }, () => {
  it('start a server once, though none of them knows its tools', async () => {
    const cold = join(folder, 'cold.json')
    const started = join(folder, 'cold-starts')
    writeFileSync(started, '')
    const tools = [{ name: 'look', does: 'echo' }]
    const shop = { command: process.execPath, args: [SERVER, JSON.stringify({ tools, starts: started })] }
    writeFileSync(cold, JSON.stringify({ mcpServers: { shop }, expose: 'all', store: '${DATABASE_URL}' }))
    const together = await Promise.all([1, 2, 3].map(() => startGateway({ ...settings(), config: cold })))
    gateways.push(...together)
    for (const gateway of together)
      await expect.poll(async () => listNames(await open(gateway.url)), { timeout: LONG }).toContain('look')
    expect(readLines(started)).toHaveLength(1)
  })
})

describe('R65 the example of a deployment', () => {
  it('has two gateways with one store, and clients need a token', async () => {
    const example = join(import.meta.dirname, '../../examples/fleet')
    const text = readFileSync(join(example, 'compose.yaml'), 'utf8')
    expect(text.match(/^ {2}gateway-\d: \*gateway$/gm)).toHaveLength(2)
    expect(new Set(text.match(/DATABASE_URL: \S+/g)).size).toBe(1)
    expect(text).toContain('serve --config gateway.json --http 8414')
    const read = await readGatewayConfig([join(example, 'gateway.json')])
    expect(read).toMatchObject({ invalid: [], store: '${DATABASE_URL}', audit: { keepDays: 90 } })
    expect(read.http.tokens).toHaveLength(1)
  })
})

/** Signs in on the command line, with a browser that agrees to everything. */
async function logIn(file: string): Promise<void> {
  const { runCommand } = await import('../../packages/foldout-mcp/src/cli/main.ts')
  const { browse } = await import('../../packages/foldout-mcp/src/gateway/auth/oauth.fixtures.ts')
  let visited: Promise<unknown> | undefined
  let complaint = ''
  const code = await runCommand(['node', 'foldout', 'login', 'tickets', '--config', file, '--no-browser'], {
    stdout: { write: () => true },
    stderr: {
      write(text: string) {
        complaint += text
        const [page] = /^http\S+$/m.exec(text) ?? []
        if (page !== undefined) visited ??= browse(page)
      },
    },
    env: { DATABASE_URL: url, FOLDOUT_STORE_KEY: key, HOME: folder, PATH: '' },
    signal: new AbortController().signal,
    version: '1',
  })
  await visited
  if (code !== 0) throw new Error(`The login failed: ${complaint}`)
}
