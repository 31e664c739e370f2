import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../../catalog/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'

const open: ServedMcp[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

interface Connected {
  /** The signals that the tool has got. */
  readonly signals: readonly (AbortSignal | undefined)[]
  send(message: object): void
  /** Sends a request, and waits for its answer. */
  ask(id: number, method: string, params: object): Promise<void>
}

async function connect(reuseSignals: boolean): Promise<Connected> {
  const signals: (AbortSignal | undefined)[] = []
  const catalog = createCatalog([
    {
      name: 'note',
      description: 'Notes its signal, and waits to be cancelled if it is told to.',
      inputSchema: { type: 'object', properties: { wait: { type: 'boolean' } } },
      async call({ wait }, { signal }) {
        signals.push(signal)
        if (wait === true)
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error())))
        return { content: [] }
      },
    },
  ])
  const served = serveMcp(catalog, { name: 'home', version: '1.0.0', expose: all(), reuseSignals })
  open.push(served)
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  await served.stdio({ stdin, stdout })
  const waiting = new Map<unknown, () => void>()
  stdout.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) waiting.get((JSON.parse(line) as { id?: unknown }).id)?.()
  })
  const send = (message: object): void => void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = (id: number, method: string, params: object): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(id, resolve)
      send({ id, method, params })
    })
  const clientInfo = { name: 'raw', version: '1' }
  await ask(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  return { signals, send, ask }
}

const note = (args: object = {}) => ({ name: 'note', arguments: args })

describe('the signal of a call', () => {
  it('is its own, unless the server says that it may serve several', async () => {
    const { signals, ask } = await connect(false)
    await ask(1, 'tools/call', note())
    await ask(2, 'tools/call', note())
    expect(new Set(signals).size).toBe(2)
  })

  it('serves one call at a time, and none after a call that was cancelled', async () => {
    const { signals, ask, send } = await connect(true)
    await ask(1, 'tools/call', note())
    await ask(2, 'tools/call', note())
    expect(signals[1]).toBe(signals[0])
    send({ id: 3, method: 'tools/call', params: note({ wait: true }) })
    await ask(4, 'tools/call', note())
    expect(signals[3]).not.toBe(signals[2])
    send({ method: 'notifications/cancelled', params: { requestId: 3 } })
    await ask(5, 'tools/call', note())
    expect(signals[2]?.aborted).toBe(true)
    expect(signals[4]).not.toBe(signals[2])
    expect(signals[4]?.aborted).toBe(false)
  })
})
