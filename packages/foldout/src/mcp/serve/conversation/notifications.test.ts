import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import type { FeatureNotification } from '../contract/features.ts'
import { serveMcp } from '../serve-mcp.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function connect(reasons: unknown[], heard: FeatureNotification[]): Promise<(message: object) => Promise<void>> {
  const wait = {
    name: 'wait',
    description: 'Waits until it is cancelled.',
    call: (_: unknown, { signal }: { readonly signal?: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        reasons.push('none')
        signal?.addEventListener('abort', () => {
          reasons.push((signal.reason as Error).message)
          reject(signal.reason as Error)
        })
      }),
  }
  const features = {
    capabilities: { prompts: {} },
    request: async () => ({ prompts: [] }),
    hear: (notification: FeatureNotification) => void heard.push(notification),
  }
  const served = serveMcp(createCatalog([wait]), {
    name: 'home',
    version: '1.0.0',
    expose: all(),
    features: () => features,
  })
  const [client, server] = InMemoryTransport.createLinkedPair()
  await client.start()
  const connection = await served.connect(server)
  closing.push(async () => {
    await connection.close()
    await served.close()
  })
  return (message) => client.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage)
}

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }

describe('R53 a notification of a legacy client', () => {
  it('reaches the features', async () => {
    const heard: FeatureNotification[] = []
    const send = await connect([], heard)
    await send({ id: 1, method: 'initialize', params: INITIALIZE })
    await send({ method: 'notifications/initialized' })
    await send({ method: 'notifications/roots/list_changed' })
    await vi.waitFor(() => expect(heard).toEqual([{ method: 'notifications/roots/list_changed' }]))
    await send({ id: 2, method: 'prompts/list', params: {} })
    await send({ method: 'notifications/roots/list_changed', params: { _meta: { a: 1 } } })
    await vi.waitFor(() => expect(heard).toHaveLength(2))
    expect(heard[1]).toEqual({ method: 'notifications/roots/list_changed', params: { _meta: { a: 1 } } })
  })

  it('cancels a call for the reason that it gives', async () => {
    const reasons: unknown[] = []
    const send = await connect(reasons, [])
    await send({ id: 1, method: 'initialize', params: INITIALIZE })
    await send({ id: 2, method: 'tools/call', params: { name: 'wait', arguments: {} } })
    await vi.waitFor(() => expect(reasons).toEqual(['none']))
    await send({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'The user is bored.' } })
    await vi.waitFor(() => expect(reasons).toEqual(['none', 'The user is bored.']))
  })
})
