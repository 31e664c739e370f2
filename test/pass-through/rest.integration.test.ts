import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createGateway, type Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { GatewayServer } from '../../packages/foldout-mcp/src/gateway/servers/server.ts'
import { connect, connectHttp, type Era } from './peers.ts'
import { removeFolder } from '../remove-folder.ts'
import { takeTurns } from '../../test/turns.ts'

const SERVER = join(import.meta.dirname, 'asking-server.mjs')
const folder = mkdtempSync(join(tmpdir(), 'foldout-rest-'))
const ERAS: readonly Era[] = ['legacy', 'modern']
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(() => removeFolder(folder))

const define = (options: object = {}, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [SERVER, ...args],
  required: true,
  ...options,
})

async function open(options: object = {}, ...args: readonly string[]): Promise<{ gateway: Gateway; url: string }> {
  const gateway = await createGateway(
    {
      mcpServers: { asking: define(options, ...args) },
      expose: 'all',
      presets: { one: {}, two: {}, hidden: { expose: 'hybrid' } },
    },
    { cache: folder },
  )
  closing.push(() => gateway.close())
  return { gateway, url: (await gateway.http()).url }
}

async function openClient(url: string, era: Era): Promise<Client> {
  const client = await connectHttp(url, era)
  closing.push(() => client.close())
  return client
}

async function connectDirectly(...args: readonly string[]): Promise<Client> {
  const { command, args: all } = define({}, ...args)
  const client = await connect(new StdioClientTransport({ command, args: [...all] }), 'legacy')
  closing.push(() => client.close())
  return client
}

const call = (client: Client, name: string, options = {}): Promise<CallToolResult> =>
  client.callTool({ name, arguments: {} }, options)
const getText = ({ content: [piece] }: CallToolResult): string => (piece?.type === 'text' ? piece.text : '')

describe.each(ERAS)('R53 for a %s client', (era) => {
  it('progress keeps a call from timing out', async () => {
    const { url } = await open({ timeoutSeconds: 0.5 })
    const client = await openClient(url, era)
    expect(getText(await call(client, 'steps'))).toBe('All steps.')
    const inner = { name: 'steps', arguments: {} }
    const { content } = await (await openClient(`${url}/hidden`, era)).callTool({ name: 'use_tool', arguments: inner })
    expect(content).toEqual([{ type: 'text', text: 'All steps.' }])
    expect(getText(await call(client, 'silent'))).toContain('gave no answer and no progress for 0.5 seconds')
  })

  it('a server may withdraw its question', async () => {
    const { url } = await open()
    const client = await connectHttp(url, era, { elicitation: { form: {} } })
    closing.push(() => client.close())
    const taken = vi.fn()
    client.setRequestHandler('elicitation/create', (_request, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', taken)
      return new Promise((resolve) => setTimeout(resolve, 400, { action: 'accept', content: { color: 'red' } }))
    })
    // A modern client is not notified, because the question was a result. Its answer comes too late, and the call already has one.
    expect(getText(await call(client, 'take_back'))).toBe('Taken back.')
    await vi.waitFor(() => expect(taken.mock.calls.length > 0).toBe(era === 'legacy'))
  })

  it('prompts and resources of a legacy server may ask', async () => {
    const { url } = await open()
    const client = await openClient(url, era)
    const direct = await connectDirectly()
    expect((await client.getPrompt({ name: 'ask_color' })).messages).toEqual(
      (await direct.getPrompt({ name: 'ask_color' })).messages,
    )
    expect((await client.readResource({ uri: 'ask://color' })).contents).toEqual(
      (await direct.readResource({ uri: 'ask://color' })).contents,
    )
  })

  it('lists of 10,000 entries come in pages, and whole', async () => {
    const { url } = await open({}, '10000')
    const client = await openClient(url, era)
    const direct = await connectDirectly('10000')
    const page = (await client.request({ method: 'resources/list', params: {} })) as { readonly resources: unknown[] }
    expect(page.resources.length).toBeLessThanOrEqual(1_000)
    for (const list of ['listResources', 'listResourceTemplates', 'listPrompts'] as const) {
      const {
        nextCursor: _,
        ttlMs: _ttl,
        cacheScope: _scope,
        _meta: _m,
        ...all
      } = (await client[list]()) as object & {
        readonly nextCursor?: string
        readonly ttlMs?: number
        readonly cacheScope?: string
        readonly _meta?: object
      }
      // The gateway takes 10,000 of each kind from one server.
      const whole = Object.entries(await direct[list]()).map(([key, items]) => [
        key,
        Array.isArray(items) ? items.slice(0, 10_000) : items,
      ])
      expect(all).toEqual(Object.fromEntries(whole))
    }
    await expect(client.request({ method: 'prompts/list', params: { cursor: 'other' } })).rejects.toThrow('cursor')
  })
})

describe('R53 pages that users are sent to', () => {
  it('are completed for the client whose user was sent there', async () => {
    const { url } = await open()
    const [ada, eve] = [await openClient(url, 'legacy'), await openClient(url, 'legacy')]
    const heard: unknown[] = []
    for (const [name, client] of Object.entries({ ada, eve }))
      client.fallbackNotificationHandler = async ({ method, params }) => void heard.push([name, method, params])
    const isHeard = (elicitationId: string): Promise<void> =>
      vi.waitFor(() =>
        expect(heard.splice(0)).toEqual([['ada', 'notifications/elicitation/complete', { elicitationId }]]),
      )
    await call(ada, 'ask_page')
    await isHeard('page-1')
    // By an error, which may come from other requests too.
    await expect(call(ada, 'need_page')).rejects.toMatchObject({ code: -32_042 })
    await isHeard('page-2')
    await expect(ada.getPrompt({ name: 'need_page' })).rejects.toMatchObject({ code: -32_042 })
    await isHeard('page-3')
  })
})

describe('R54 processes of single clients', () => {
  const getPid = async (client: Client): Promise<string> => getText(await call(client, 'pid'))

  it('are not shared with other presets, and end with their client', async () => {
    const { url } = await open({ isolate: true })
    const [one, two] = [await openClient(`${url}/one`, 'legacy'), await openClient(`${url}/two`, 'legacy')]
    const pids = await Promise.all([getPid(one), getPid(two)])
    expect(new Set(pids).size).toBe(2)
    await (one.transport as unknown as { terminateSession(): Promise<void> }).terminateSession()
    const isRunning = (pid: string | undefined): boolean => {
      try {
        return process.kill(Number(pid), 0)
      } catch {
        return false
      }
    }
    await vi.waitFor(() => expect(isRunning(pids[0])).toBe(false))
    expect(isRunning(pids[1])).toBe(true)
  })

  it('belong to the principal if modern clients have one, and are bounded', async () => {
    const { gateway } = await open({ isolate: true, maxProcesses: 2 })
    const catalog = await gateway.getCatalog()
    const callAs = async (principal: string, tool = 'pid', signal?: AbortSignal): Promise<string> => {
      const client = { id: 'stateless', isShared: true, name: undefined, version: undefined, principal }
      return getText((await catalog.call(tool, {}, { client, ...(signal ? { signal } : {}) })) as CallToolResult)
    }
    const [ada, eve, again] = [await callAs('ada'), await callAs('eve'), await callAs('ada')]
    expect(ada).not.toBe(eve)
    expect(again).toBe(ada)
    // The least recently used process makes room, unless it is busy.
    const abort = new AbortController()
    const busy = callAs('ada', 'silent', abort.signal).catch(() => 'aborted')
    expect(await callAs('bob')).not.toBe(eve)
    expect(await callAs('eve')).not.toBe(eve)
    const both = callAs('eve', 'silent', abort.signal).catch(() => 'aborted')
    await takeTurns()
    expect(await callAs('bob')).toContain('raise maxProcesses')
    abort.abort()
    expect(await Promise.all([busy, both])).toEqual(['aborted', 'aborted'])
  })
})

describe('R51 a gateway that closes while its configuration changes', () => {
  it('leaves nothing running, and does not wait for servers to start', async () => {
    const { gateway } = await open()
    const started = vi.spyOn(GatewayServer.prototype, 'start')
    // It never answers.
    const mute = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], required: true }
    const update = gateway.update({ mcpServers: { mute, asking: define({ idleSeconds: 1 }) } })
    const outcome = update.then(
      () => 'applied',
      () => 'refused',
    )
    await vi.waitFor(() => expect(started).toHaveBeenCalledTimes(2))
    await gateway.close()
    expect(await outcome).toBe('refused')
    expect(gateway.servers.every(({ state }) => state.type !== 'running')).toBe(true)
    await expect(gateway.update({ mcpServers: {} })).rejects.toThrow('closed')
    started.mockRestore()
  })
})
