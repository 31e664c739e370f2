import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import { serveMcp } from '../../serve/serve-mcp.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

describe('a batch of MCP 2025-03-26', () => {
  interface Raw {
    readonly lines: unknown[]
    send(message: unknown): void
  }

  async function start(protocolVersion: string): Promise<Raw> {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const lines: unknown[] = []
    createInterface({ input: stdout }).on('line', (line) => lines.push(JSON.parse(line)))
    const catalog = createCatalog([
      {
        name: 'say',
        description: 'Says it.',
        inputSchema: { type: 'object', properties: { characters: { type: 'integer' } } },
        call: async ({ characters }) => ({ content: [{ type: 'text', text: 'x'.repeat(Number(characters)) }] }),
      },
      {
        name: 'hang',
        description: 'Hangs.',
        call: (_args, { signal }) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('stopped')))),
      },
    ])
    const served = serveMcp(catalog, { name: 'home', version: '1.0.0', expose: all() })
    open.push(served)
    await served.stdio({ stdin, stdout })
    const send = (message: unknown): void => void stdin.write(`${JSON.stringify(message)}\n`)
    const clientInfo = { name: 'raw', version: '1' }
    send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } })
    await expect.poll(() => lines.length).toBe(1)
    lines.length = 0
    return { lines, send }
  }

  const ping = (id: unknown): object => ({ jsonrpc: '2.0', id, method: 'ping' })
  const say = (id: string, characters = 1): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'say', arguments: { characters } },
  })
  const said = (id: string): object => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'x' }] } })

  it('is answered with a batch, and messages that are not requests with nothing', async () => {
    const { lines, send } = await start('2025-03-26')
    send([{ jsonrpc: '2.0', method: 'notifications/initialized' }])
    send([ping('a'), say('b'), { jsonrpc: '2.0', method: 'notifications/foo' }])
    await expect.poll(() => lines).toEqual([[{ jsonrpc: '2.0', id: 'a', result: {} }, said('b')]])
    send(ping('c'))
    await expect.poll(() => lines.at(-1)).toEqual({ jsonrpc: '2.0', id: 'c', result: {} })
  })

  it('does not wait for a request that was canceled', async () => {
    const { lines, send } = await start('2025-03-26')
    send([say('a'), { jsonrpc: '2.0', id: 'h', method: 'tools/call', params: { name: 'hang' } }])
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'h' } })
    await expect.poll(() => lines).toEqual([[said('a')]])
  })

  it('is answered in parts if the answers are large, and refused if it is empty or too long', async () => {
    const { lines, send } = await start('2025-03-26')
    send([say('a', 900_000), say('b', 900_000), say('c')])
    await expect.poll(() => lines).toMatchObject([[{ id: 'a' }], [{ id: 'b' }, { id: 'c' }]])
    const error = { code: -32_600, message: 'A batch must have 1 to 1000 messages.' }
    for (const batch of [[], Array.from({ length: 1_001 }, (_, i) => ping(i))]) {
      send(batch)
      await expect.poll(() => lines.at(-1)).toEqual({ jsonrpc: '2.0', id: null, error })
    }
  })

  it('is no message in other versions', async () => {
    const { lines, send } = await start('2025-11-25')
    send([ping('a')])
    send(ping('b'))
    await expect.poll(() => lines).toEqual([{ jsonrpc: '2.0', id: 'b', result: {} }])
  })
})
