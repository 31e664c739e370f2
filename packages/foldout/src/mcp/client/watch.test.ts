import { setTimeout as sleep } from 'node:timers/promises'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RawTool } from '../../catalog/tool.ts'
import { toolsFromMcp, type ToolsFromMcpOptions } from './tools-from-mcp.ts'
import { connect, LINES, ServerError, type Connection, type Line } from './server.fixtures.ts'

const CHANGED = 'notifications/tools/list_changed'
const getNames = (tools: readonly RawTool[]): string[] => tools.map(({ name }) => name)

interface Watched extends Connection {
  /** What the server has; a test changes it. */
  names: string[]
  readonly first: readonly string[]
  readonly changes: string[][]
  readonly errors: unknown[]
  /** How often the list was asked for. */
  lists(): number
}

async function watched(
  line: Line,
  { ttlMs = 0, capabilities, ...options }: ToolsFromMcpOptions & { ttlMs?: number; capabilities?: object } = {},
): Promise<Watched> {
  let lists = 0
  const state = { names: ['a'], changes: [] as string[][], errors: [] as unknown[], lists: () => lists }
  const connection = await connect(line, {
    ...(capabilities ? { capabilities: capabilities as Record<string, unknown> } : {}),
    answer: async () => {
      lists++
      await sleep(1)
      if (state.names.includes('broken')) throw new ServerError(-32603, 'No list today')
      return { tools: state.names.map((name) => ({ name, inputSchema: { type: 'object' } })), ttlMs }
    },
  })
  const first = getNames(
    await toolsFromMcp(connection.client, {
      onChange: (tools) => state.changes.push(getNames(tools)),
      onError: (error) => state.errors.push(error),
      ...options,
    }),
  )
  return Object.assign(state, connection, { first })
}

describe.each(LINES)('a server whose tools change, with a client of %s', (line) => {
  it('R43 gives the tools it has now', async () => {
    const watch = await watched(line)
    expect(watch.first).toEqual(['a'])
    watch.names = ['a', 'b']
    watch.server.notify(CHANGED)
    await vi.waitFor(() => expect(watch.changes).toEqual([['a', 'b']]))
    watch.names = []
    watch.server.notify(CHANGED)
    await vi.waitFor(() => expect(watch.changes).toEqual([['a', 'b'], []]))
    expect(watch.errors).toEqual([])
  })

  it('R43 is asked once for a burst of changes', async () => {
    const watch = await watched(line)
    for (const name of ['b', 'c', 'd', 'e']) {
      watch.names = [...watch.names, name]
      watch.server.notify(CHANGED)
    }
    await vi.waitFor(() => expect(watch.changes).toEqual([['a', 'b', 'c', 'd', 'e']]))
    await sleep(80)
    expect(watch.lists()).toBe(2)
  })

  it('R49 tells nobody of a change that was none', async () => {
    const watch = await watched(line)
    watch.server.notify(CHANGED)
    await vi.waitFor(() => expect(watch.lists()).toBe(2))
    await sleep(10)
    expect(watch.changes).toEqual([])
  })

  it('R43 keeps what it had while it cannot list, and says why', async () => {
    const watch = await watched(line)
    watch.names = ['broken']
    watch.server.notify(CHANGED)
    await vi.waitFor(() => expect(watch.errors).toHaveLength(1))
    expect(String(watch.errors[0])).toContain("The MCP server 'handmade' did not list its tools")
    expect(watch.changes).toEqual([])
    watch.names = ['b']
    watch.server.notify(CHANGED)
    await vi.waitFor(() => expect(watch.changes).toEqual([['b']]))
  })

  it('R43 is no longer listened to after an abort', async () => {
    const abort = new AbortController()
    const watch = await watched(line, { signal: abort.signal })
    watch.names = ['b']
    watch.server.notify(CHANGED)
    abort.abort()
    await sleep(80)
    watch.server.notify(CHANGED)
    await sleep(80)
    expect(watch.lists()).toBe(1)
    expect([watch.changes, watch.errors]).toEqual([[], []])
  })

  it('R43 leaves a handler that the client has of its own', async () => {
    const { client, server } = await connect(line, { answer: () => ({ tools: [] }) })
    const own = vi.fn()
    if (client instanceof Client) client.setNotificationHandler(CHANGED, own)
    else client.setNotificationHandler(ToolListChangedNotificationSchema, own)
    await toolsFromMcp(client, { onChange: () => {} })
    await toolsFromMcp(client, { onChange: () => {} })
    server.notify(CHANGED)
    await vi.waitFor(() => expect(own).toHaveBeenCalledTimes(1))
    await vi.waitFor(() => expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(4))
  })

  it('R43 hears of a change that is announced while the first list is read', async () => {
    const changes: string[][] = []
    let lists = 0
    const { client } = await connect(line, {
      answer: async (_request, server) => {
        lists++
        if (lists === 1) {
          server.notify(CHANGED)
          await sleep(80)
        }
        return { tools: [{ name: `of list ${lists}`, inputSchema: { type: 'object' } }] }
      },
    })
    const first = await toolsFromMcp(client, { onChange: (tools) => changes.push(getNames(tools)) })
    expect(getNames(first)).toEqual(['of list 1'])
    await vi.waitFor(() => expect(changes).toEqual([['of list 2']]))
  })
})

describe.each(LINES)('a server that is watched in vain, with a client of %s', (line) => {
  it('R43 is not listened to where its tools could not be listed at first, nor after an abort', async () => {
    let lists = 0
    const { client, server } = await connect(line, {
      answer: () => {
        lists++
        throw new ServerError(-32603, 'No list today')
      },
    })
    const onError = vi.fn()
    const options = { onChange: () => {}, onError }
    await expect(toolsFromMcp(client, options)).rejects.toThrow('No list today')
    server.notify(CHANGED)
    await sleep(80)
    expect(lists).toBe(1)
    expect(onError).not.toHaveBeenCalled()
    const signal = AbortSignal.abort(new Error('Too late.'))
    await expect(toolsFromMcp(client, { ...options, signal })).rejects.toThrow('Too late.')
    expect(lists).toBe(1)
  })

  it('R43 may have listeners that throw', async () => {
    const watch = await watched(line, {
      onChange: () => {
        throw new Error('At fault.')
      },
      onError: () => {
        throw new Error('At fault too.')
      },
    })
    for (const name of ['b', 'c']) {
      watch.names = [name]
      const before = watch.lists()
      watch.server.notify(CHANGED)
      await vi.waitFor(() => expect(watch.lists()).toBe(before + 1))
      await sleep(10)
    }
  })
})

describe('a server of MCP 2026-07-28 whose tools change', () => {
  const line = 'v2 on 2026-07-28'
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('R43 is subscribed to again when it ends a subscription, and what changed in between is seen', async () => {
    const watch = await watched(line)
    watch.names = ['b']
    watch.server.endSubscription()
    await vi.advanceTimersByTimeAsync(1_000)
    await vi.waitFor(() => expect(watch.changes).toEqual([['b']]))
    watch.names = ['c']
    watch.server.notify(CHANGED)
    await vi.advanceTimersByTimeAsync(100)
    await vi.waitFor(() => expect(watch.changes).toEqual([['b'], ['c']]))
  })

  it('R43 is asked again when the time of its list is over, if it announces no changes', async () => {
    const watch = await watched(line, { ttlMs: 30_000, capabilities: { tools: {} } })
    watch.names = ['b']
    await vi.advanceTimersByTimeAsync(29_000)
    expect(watch.lists()).toBe(1)
    await vi.advanceTimersByTimeAsync(1_100)
    await vi.waitFor(() => expect(watch.changes).toEqual([['b']]))
    watch.names = ['broken']
    await vi.advanceTimersByTimeAsync(31_000)
    await vi.waitFor(() => expect(watch.errors).toHaveLength(1))
    watch.names = ['c']
    await vi.advanceTimersByTimeAsync(31_000)
    await vi.waitFor(() => expect(watch.changes).toEqual([['b'], ['c']]))
    await sleep(20)
    watch.server.die()
    await vi.advanceTimersByTimeAsync(100_000)
    expect(watch.lists()).toBe(4)
    expect(watch.errors).toHaveLength(1)
  })

  it('R43 is not asked for a list that holds no time, nor while it is subscribed to', async () => {
    const never = await watched(line, { ttlMs: 0, capabilities: { tools: {} } })
    const subscribed = await watched(line, { ttlMs: 10_000 })
    await vi.advanceTimersByTimeAsync(100_000)
    expect([never.lists(), subscribed.lists()]).toEqual([1, 1])
  })
})
