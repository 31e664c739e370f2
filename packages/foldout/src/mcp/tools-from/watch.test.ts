import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RawTool } from '../../catalog/tool.ts'
import { toolsFromMcp, type ToolsFromMcpOptions } from './tools-from-mcp.ts'
import { connect, LINES, ServerError, type Connection, type Line } from '../client/server.fixtures.ts'
import { takeTurns } from '../../../../../test/turns.ts'

const CHANGED = 'notifications/tools/list_changed'
/** Longer than a watcher waits after a change before it lists the tools again. */
const LONG_ENOUGH_MS = 2_000

const getNames = (tools: readonly RawTool[]): string[] => tools.map(({ name }) => name)

interface Watched extends Connection {
  /** The tools of the server; a test changes them. */
  names: string[]
  readonly first: readonly string[]
  readonly changes: string[][]
  readonly errors: unknown[]
  /** How often the list was requested. */
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
      await takeTurns(2)
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

function useFakeTimers(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
}

/** Lets a watcher do all that it would do. */
async function passTime(): Promise<void> {
  await takeTurns()
  await vi.advanceTimersByTimeAsync(LONG_ENOUGH_MS)
  await takeTurns()
}

describe.each(LINES)('a server whose tools change, with a client of %s', (line) => {
  useFakeTimers()

  it('R43 lists its current tools', async () => {
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

  it('R43 is listed once for a burst of changes', async () => {
    const watch = await watched(line)
    for (const name of ['b', 'c', 'd', 'e']) {
      watch.names = [...watch.names, name]
      watch.server.notify(CHANGED)
    }
    await vi.waitFor(() => expect(watch.changes).toEqual([['a', 'b', 'c', 'd', 'e']]))
    await passTime()
    expect(watch.lists()).toBe(2)
  })

  it('R49 does not announce a change that changes nothing', async () => {
    const watch = await watched(line)
    watch.server.notify(CHANGED)
    await vi.waitFor(() => expect(watch.lists()).toBe(2))
    await passTime()
    expect(watch.changes).toEqual([])
  })

  it('R43 keeps its last tools while it cannot list them, and reports the reason', async () => {
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

  it('R43 is no longer watched after an abort', async () => {
    const abort = new AbortController()
    const watch = await watched(line, { signal: abort.signal })
    watch.names = ['b']
    watch.server.notify(CHANGED)
    abort.abort()
    await passTime()
    watch.server.notify(CHANGED)
    await passTime()
    expect(watch.lists()).toBe(1)
    expect([watch.changes, watch.errors]).toEqual([[], []])
  })

  it('R43 does not replace a handler of the client', async () => {
    const { client, server } = await connect(line, { answer: () => ({ tools: [] }) })
    const own = vi.fn()
    if ('onNotification' in client) client.onNotification((method) => method === CHANGED && own())
    else if (client instanceof Client) client.setNotificationHandler(CHANGED, own)
    else client.setNotificationHandler(ToolListChangedNotificationSchema, own)
    await toolsFromMcp(client, { onChange: () => {} })
    await toolsFromMcp(client, { onChange: () => {} })
    server.notify(CHANGED)
    await vi.waitFor(() => expect(own).toHaveBeenCalledTimes(1))
    await vi.waitFor(() => expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(4))
  })

  it('R43 is listed again if it announces a change during the first list', async () => {
    const changes: string[][] = []
    let lists = 0
    const { client } = await connect(line, {
      answer: async (_request, server) => {
        lists++
        if (lists === 1) {
          server.notify(CHANGED)
          await takeTurns()
        }
        return { tools: [{ name: `of list ${lists}`, inputSchema: { type: 'object' } }] }
      },
    })
    const first = await toolsFromMcp(client, { onChange: (tools) => changes.push(getNames(tools)) })
    expect(getNames(first)).toEqual(['of list 1'])
    await vi.waitFor(() => expect(changes).toEqual([['of list 2']]))
  })
})

describe.each(LINES)('a server that cannot be watched, with a client of %s', (line) => {
  useFakeTimers()

  it('R43 is not watched if its first list failed, or after an abort', async () => {
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
    await passTime()
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
      await passTime()
    }
  })
})

describe('a server of MCP 2026-07-28 whose tools change', () => {
  const line = 'our own on 2026-07-28'
  useFakeTimers()

  it('R43 gets a new subscription when it ends one, and changes in between are noticed', async () => {
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

  it('R43 is listed again when its list expires, if it announces no changes', async () => {
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
    await takeTurns()
    watch.server.die()
    await vi.advanceTimersByTimeAsync(100_000)
    expect(watch.lists()).toBe(4)
    expect(watch.errors).toHaveLength(1)
  })

  it('R43 is not listed again if its list has no lifetime, or while a subscription is open', async () => {
    const never = await watched(line, { ttlMs: 0, capabilities: { tools: {} } })
    const subscribed = await watched(line, { ttlMs: 10_000 })
    await vi.advanceTimersByTimeAsync(100_000)
    expect([never.lists(), subscribed.lists()]).toEqual([1, 1])
  })
})
