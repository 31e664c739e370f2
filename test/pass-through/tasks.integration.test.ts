import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createGateway, type Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { connect, connectHttp, type Era } from './peers.ts'
import { removeFolder } from '../remove-folder.ts'

type Json = Record<string, unknown>

const SERVER = join(import.meta.dirname, 'tasks-server.mjs')
const folder = mkdtempSync(join(tmpdir(), 'foldout-tasks-'))
const ERAS: readonly Era[] = ['legacy', 'modern']
const ANYTHING = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const
const TASKS = 'io.modelcontextprotocol/tasks'

const gateways = new Map<Era, { readonly gateway: Gateway; readonly url: string }>()
const closing: (() => Promise<unknown>)[] = []
const define = (era: Era) => ({ command: process.execPath, args: [SERVER, era] })
beforeAll(async () => {
  for (const era of ERAS) {
    const gateway = await createGateway(
      {
        mcpServers: { tasks: { ...define(era), required: true } },
        presets: { all: { expose: 'all' }, hidden: { expose: 'hybrid' } },
      },
      { cache: join(folder, era) },
    )
    gateways.set(era, { gateway, url: (await gateway.http()).url })
  }
})
afterAll(async () => {
  for (const close of closing) await close()
  for (const { gateway } of gateways.values()) await gateway.close()
  await removeFolder(folder)
})

const getUrl = (era: Era): string => gateways.get(era)?.url ?? ''

async function open(era: Era, upstream: Era, preset: string): Promise<Client> {
  const client = await connectHttp(`${getUrl(upstream)}/${preset}`, era)
  closing.push(() => client.close())
  return client
}

/** What a legacy client with tasks sees. */
interface Peer {
  ask(method: string, params?: Json): Promise<Json>
  call(name: string, meta?: Json): Promise<Json>
  readonly client: Client
}

function toPeer(client: Client, isHidden: boolean): Peer {
  const ask = async (method: string, params: Json = {}): Promise<Json> =>
    (await client.request({ method, params }, ANYTHING)) as Json
  const call = (name: string, meta?: Json): Promise<Json> => {
    const inner = { name, arguments: {} }
    const fields = { task: { ttl: 60_000 }, ...(meta ? { _meta: meta } : {}) }
    return ask('tools/call', { ...(isHidden ? { name: 'use_tool', arguments: inner } : inner), ...fields })
  }
  return { ask, call, client }
}

/** Collects the progress that a client is told, in the order in which it arrives. */
function hearProgress({ transport }: Client): Json[] {
  const heard: Json[] = []
  const receive = transport?.onmessage
  Object.assign(transport ?? {}, {
    onmessage(message: Json, ...rest: readonly unknown[]) {
      if (message['method'] === 'notifications/progress') heard.push(message['params'] as Json)
      receive?.(message as never, ...(rest as []))
    },
  })
  return heard
}

async function begin({ call }: Peer, name: string, meta?: Json): Promise<string> {
  const { task } = (await call(name, meta)) as { readonly task: { readonly taskId: string } }
  return task.taskId
}

/** Replaces ids and times, which differ. */
function normalize(value: unknown, ids: readonly string[]): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => (key.endsWith('At') ? 'time' : inner))
  return JSON.parse(ids.reduce((all, id, i) => all.replaceAll(`"${id}"`, `"ID ${i}"`), text))
}

/** One row for each client action on tasks. */
const ROWS: Readonly<Record<string, (peer: Peer) => Promise<unknown>>> = {
  async 'a task instead of a result'(peer) {
    const created = (await peer.call('slow')) as { readonly task: { readonly taskId: string } }
    return normalize(created, [created.task.taskId])
  },
  async 'tasks/get and tasks/result'(peer) {
    const taskId = await begin(peer, 'slow')
    const result = await peer.ask('tasks/result', { taskId })
    return normalize([result, await peer.ask('tasks/get', { taskId })], [taskId])
  },
  async 'a task that fails'(peer) {
    const taskId = await begin(peer, 'fail')
    const error = await peer.ask('tasks/result', { taskId }).catch((fault: { code: number; message: string }) => fault)
    return [error['code'], String(error['message']).replace(/^MCP error -?\d+: /, '')]
  },
  async 'a task that asks'(peer) {
    const asked: unknown[] = []
    peer.client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params)
      return { action: 'accept', content: { color: 'green' } }
    })
    const taskId = await begin(peer, 'ask')
    return normalize([await peer.ask('tasks/result', { taskId }), asked], [taskId])
  },
  async 'tasks/cancel'(peer) {
    const taskId = await begin(peer, 'endless')
    return normalize([await peer.ask('tasks/cancel', { taskId }), await peer.ask('tasks/get', { taskId })], [taskId])
  },
  async 'tasks/list'(peer) {
    const taskId = await begin(peer, 'endless')
    const { tasks } = (await peer.ask('tasks/list')) as { readonly tasks: readonly Json[] }
    await peer.ask('tasks/cancel', { taskId })
    return normalize(
      tasks.filter((task) => task['taskId'] === taskId),
      [taskId],
    )
  },
  async 'the status of a task'(peer) {
    const heard: Json[] = []
    peer.client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/tasks/status') heard.push(params ?? {})
    }
    let taskId = ''
    // A client opens its stream a while after connecting, and misses earlier notifications.
    const isHeard = (): boolean => heard.some((status) => status['taskId'] === taskId)
    for (let attempt = 0; attempt < 10 && !isHeard(); attempt++) {
      taskId = await begin(peer, 'slow')
      await vi.waitFor(() => expect(isHeard()).toBe(true)).catch(() => undefined)
    }
    return normalize(
      heard.filter((status) => status['taskId'] === taskId),
      [taskId],
    )
  },
  async 'the progress of a task'(peer) {
    const heard = hearProgress(peer.client)
    let taskId = ''
    // As above.
    for (let attempt = 0; attempt < 10 && heard.length < 3; attempt++) {
      heard.length = 0
      taskId = await begin(peer, 'slow', { progressToken: `token-${attempt}` })
      await peer.ask('tasks/result', { taskId })
      expect(heard.every(({ progressToken }) => progressToken === `token-${attempt}`)).toBe(true)
    }
    return normalize(
      heard.map((params) => ({ ...params, progressToken: 'token' })),
      [taskId],
    )
  },
  async 'a tool that has no tasks'(peer) {
    return peer.call('plain')
  },
  async 'a task that does not exist'(peer) {
    const { code } = (await peer.ask('tasks/get', { taskId: 'none' }).catch((fault: unknown) => fault)) as Json
    return code
  },
}

describe('R53 tasks of a legacy server, for a legacy client', () => {
  let direct: Peer
  beforeAll(async () => {
    const client = await connect(new StdioClientTransport(define('legacy')), 'legacy')
    closing.push(() => client.close())
    direct = toPeer(client, false)
  })

  it.each(Object.entries(ROWS))('pass through: %s', async (_, see) => {
    const expected = await see(direct)
    expect(await see(toPeer(await open('legacy', 'legacy', 'all'), false))).toEqual(expected)
    expect(await see(toPeer(await open('legacy', 'legacy', 'hidden'), true))).toEqual(expected)
  })

  it('say how each tool can be run', async () => {
    const { tools } = await (await open('legacy', 'legacy', 'all')).listTools()
    const executions = tools.map(({ name, execution }) => [name, execution?.taskSupport])
    expect(Object.fromEntries(executions)).toMatchObject({ slow: 'optional', must: 'required', plain: undefined })
  })

  it('have large results folded', async () => {
    const peer = toPeer(await open('legacy', 'legacy', 'all'), false)
    const taskId = await begin(peer, 'large')
    const { content } = (await peer.ask('tasks/result', { taskId })) as { readonly content: readonly Json[] }
    expect(String(content[0]?.['text'])).toMatch(/^This result is folded: text on one line, 100,000 characters/)
  })

  it('belong to the client that started them', async () => {
    const [ada, eve] = [await open('legacy', 'legacy', 'all'), await open('legacy', 'legacy', 'all')].map((client) =>
      toPeer(client, false),
    ) as [Peer, Peer]
    const taskId = await begin(ada, 'endless')
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      await expect(eve.ask(method, { taskId })).rejects.toThrow('There is no task')
    // Nor by the server's own id.
    await expect(eve.ask('tasks/get', { taskId: 'task-1' })).rejects.toThrow('There is no task')
    expect(await eve.ask('tasks/list')).toEqual({ tasks: [] })
    expect(await ada.ask('tasks/get', { taskId })).toMatchObject({ status: 'working' })
  })
})

const callTool = async (client: Client, preset: string, name: string, signal?: AbortSignal) => {
  const inner = { name, arguments: {} }
  return client.callTool(preset === 'hidden' ? { name: 'use_tool', arguments: inner } : inner, signal ? { signal } : {})
}

describe.each(ERAS.flatMap((upstream) => ERAS.map((era) => ({ upstream, era }))))(
  'R53 tools that a $upstream server only runs as tasks, for a $era client that does not',
  ({ upstream, era }) => {
    it.each(['all', 'hidden'])('return their result when they are done (%s)', async (preset) => {
      const client = await open(era, upstream, preset)
      const { content, _meta: meta } = await callTool(client, preset, 'must')
      expect(content).toEqual([{ type: 'text', text: 'must is done.' }])
      // Nothing tells of the task.
      expect(meta).toMatchObject({ kept: 1 })
      expect(meta).not.toHaveProperty(['io.modelcontextprotocol/related-task'])
      expect((await callTool(client, preset, 'slow')).content).toEqual([{ type: 'text', text: 'slow without a task.' }])
    })

    it.skipIf(upstream === 'modern')('report their progress', async () => {
      const client = await open(era, upstream, 'all')
      const heard: unknown[] = []
      await client.callTool({ name: 'must', arguments: {} }, { onprogress: (progress) => heard.push(progress) })
      expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
    })

    it.skipIf(upstream === 'modern' && era === 'modern')('ask the client', async () => {
      const { content } = await callTool(await open(era, upstream, 'all'), 'all', 'ask')
      expect(content).toEqual([{ type: 'text', text: 'The color is green.' }])
    })
  },
)

describe('R53 tasks of a modern server, for a modern client that waits for them', () => {
  const ask = async (method: string, name: string, params: object): Promise<Json> => {
    const response = await fetch(`${getUrl('modern')}/all`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} }, elicitation: { form: {} } },
          },
        },
      }),
    })
    return (await response.json()) as Json
  }
  const call = async (name: string): Promise<string> => {
    const { result } = (await ask('tools/call', name, { name, arguments: {} })) as { readonly result: Json }
    expect(result).toMatchObject({ resultType: 'task', taskId: expect.any(String) })
    expect(result['content']).toBeUndefined()
    return String(result['taskId'])
  }
  const get = async (taskId: string): Promise<Json> => (await ask('tasks/get', taskId, { taskId }))['result'] as Json

  it('are started, polled and completed', async () => {
    const taskId = await call('slow')
    await vi.waitFor(async () => expect((await get(taskId))['status']).toBe('completed'))
    expect(await get(taskId)).toMatchObject({ taskId, result: { content: [{ type: 'text', text: 'slow is done.' }] } })
  })

  it('are answered and canceled', async () => {
    const asking = await call('ask')
    expect(await get(asking)).toMatchObject({ status: 'input_required', inputRequests: { color: {} } })
    const inputResponses = { color: { action: 'accept', content: { color: 'blue' } } }
    expect(await ask('tasks/update', asking, { taskId: asking, inputResponses })).toMatchObject({ result: {} })
    expect(await get(asking)).toMatchObject({ result: { content: [{ text: 'The color is blue.' }] } })
    const endless = await call('endless')
    await ask('tasks/cancel', endless, { taskId: endless })
    expect(await get(endless)).toMatchObject({ status: 'cancelled' })
    expect(await ask('tasks/get', 'none', { taskId: 'none' })).toMatchObject({ error: { code: -32_602 } })
  })
})
