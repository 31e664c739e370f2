import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport as FirstSdkStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/live/catalog.ts'
import { all } from '../../catalog/exposures/all.ts'
import { allKinds, clientKinds, getText } from './clients.fixtures.ts'
import { serveMcp, type ServedMcp } from './serve-mcp.ts'
import { findRequestId, LineReader, type Line } from '../transports/stdio/lines.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const MB = 1_000_000

/** A client that reads only on demand. */
class SlowReader extends Writable {
  readonly messages: { readonly id?: number; readonly error?: unknown; readonly result?: unknown }[] = []
  isReading = false
  #next: (() => void) | undefined

  constructor() {
    super({ decodeStrings: false })
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.#next = () => {
      for (const line of chunk.trim().split('\n')) this.messages.push(JSON.parse(line) as never)
      done()
    }
    if (this.isReading) this.readOn()
  }

  readOn(): void {
    this.isReading = true
    const next = this.#next
    this.#next = undefined
    next?.()
  }
}

interface Counted {
  readonly started: () => number
  readonly served: ServedMcp
}

function serveCounted(bytes: number): Counted {
  let started = 0
  const catalog = createCatalog([
    {
      name: 'flood',
      description: 'Answers with a long text.',
      async call() {
        started++
        return { content: [{ type: 'text', text: 'x'.repeat(bytes) }] }
      },
    },
    {
      name: 'hang',
      description: 'Waits until it is cancelled.',
      call: (_args, { signal }) => {
        started++
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('stopped'))))
      },
    },
  ])
  const served = serveMcp(catalog, { name: 'slow', version: '1.0.0', expose: all() })
  open.push(served)
  return { started: () => started, served }
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const call = (id: number, name = 'flood'): string => line({ id, method: 'tools/call', params: { name } })
const INITIALIZE = line({
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})
const settle = () => new Promise((resolve) => setTimeout(resolve, 100))

describe('a stdio client that does not read', () => {
  it('gets only a few answers prepared, and all of them when it reads again', async () => {
    const { served, started } = serveCounted(MB)
    const [stdin, stdout] = [new PassThrough(), new SlowReader()]
    await served.stdio({ stdin, stdout })
    stdin.write(INITIALIZE + Array.from({ length: 400 }, (_, i) => call(i + 1)).join(''))
    await expect.poll(started).toBeGreaterThan(0)
    await settle()
    expect(started()).toBeLessThanOrEqual(64)
    expect(stdout.writableLength).toBeLessThan(66 * MB)
    stdout.readOn()
    await expect.poll(() => stdout.messages.length).toBe(401)
    expect(new Set(stdout.messages.map(({ id }) => id)).size).toBe(401)
    expect(started()).toBe(400)
  })

  it('is not read from while a thousand requests wait', async () => {
    const { served } = serveCounted(100)
    const [stdin, stdout] = [new PassThrough(), new SlowReader()]
    await served.stdio({ stdin, stdout })
    stdin.write(INITIALIZE)
    for (let i = 1; i <= 5_000; i++) stdin.write(call(i))
    await settle()
    expect(stdin.isPaused()).toBe(true)
    expect(stdin.readableLength + stdin.writableLength).toBeGreaterThan(0)
    stdout.readOn()
    await expect.poll(() => stdout.messages.length, { timeout: 30_000, interval: 200 }).toBe(5_001)
  })

  it('gets no more logs and repeated notifications than it can read, but all answers', async () => {
    let tell: (method: string, params?: object) => void = () => undefined
    const errors: string[] = []
    const served = serveMcp(createCatalog([]), {
      name: 'slow',
      version: '1.0.0',
      onError: ({ message }) => errors.push(message),
      features: () => ({
        capabilities: { logging: {}, resources: {} },
        request: async () => ({}),
        subscribe(listener) {
          tell = (method, params) => listener({ method, ...(params ? { params: { ...params } } : {}) })
          return () => undefined
        },
      }),
    })
    open.push(served)
    const [stdin, stdout] = [new PassThrough(), new SlowReader()]
    await served.stdio({ stdin, stdout })
    stdin.write(INITIALIZE)
    await expect.poll(() => stdout.writableLength).toBeGreaterThan(0)
    for (let i = 0; i < 100; i++) {
      tell('notifications/message', { level: 'info', data: 'x'.repeat(MB / 2) })
      tell('notifications/resources/list_changed')
      tell('notifications/resources/updated', { uri: `test://${i}`, _meta: { text: 'x'.repeat(MB / 2) } })
    }
    await settle()
    expect(stdout.writableLength).toBeLessThan(18 * MB)
    stdin.write(line({ id: 1, method: 'ping' }))
    await settle()
    stdout.readOn()
    await expect.poll(() => stdout.messages.at(-1)).toMatchObject({ id: 1, result: {} })
    const methods = (stdout.messages as readonly { readonly method?: string }[]).map(({ method }) => method)
    const count = (name: string): number => methods.filter((method) => method === `notifications/${name}`).length
    expect(count('resources/list_changed')).toBeGreaterThan(0)
    expect(count('message')).toBeLessThan(10)
    expect(count('resources/updated')).toBeLessThan(40)
    const left = 300 - count('message') - count('resources/list_changed') - count('resources/updated')
    const report = `${left} notifications were left out, because the client did not read its messages.`
    await expect.poll(() => errors).toEqual([report])
    // Now it reads again.
    tell('notifications/message', { level: 'info', data: 'again' })
    await expect.poll(() => stdout.messages.at(-1)).toMatchObject({ params: { data: 'again' } })
  })

  it('can still cancel and ping when all slots are taken', async () => {
    const { served, started } = serveCounted(1)
    const [stdin, stdout] = [new PassThrough(), new SlowReader()]
    stdout.readOn()
    await served.stdio({ stdin, stdout, maxConcurrent: 2 })
    stdin.write(INITIALIZE + call(1, 'hang') + call(2, 'hang') + call(3, 'hang') + call(4))
    await expect.poll(started).toBe(2)
    stdin.write(line({ id: 5, method: 'ping' }))
    await expect.poll(() => stdout.messages.map(({ id }) => id)).toEqual([0, 5])
    const cancel = (requestId: number) => line({ method: 'notifications/cancelled', params: { requestId } })
    // One that waits, and one that runs.
    stdin.write(cancel(3) + cancel(1))
    await expect.poll(() => stdout.messages.map(({ id }) => id)).toEqual([0, 5, 4])
    expect(started()).toBe(3)
  })
})

describe('a message that is too long for stdio', () => {
  const program = {
    command: process.execPath,
    args: ['--import', 'tsx', join(import.meta.dirname, 'server.fixtures.ts')],
    stderr: 'ignore' as const,
  }

  it.each(allKinds)(
    'becomes an error that a %s can read, and the connection stays',
    async (kind) => {
      const client = await clientKinds[kind](
        kind === 'v1 client' ? new FirstSdkStdio(program) : new StdioClientTransport(program),
      )
      open.push(client)
      const large = await client.call('flood', { characters: 12 * MB })
      expect(large.isError).toBe(true)
      expect(getText(large)).toBe(
        "The tool 'flood' has run, but its result is too large to send: 12 MB or more, where 10 MB is the limit. Ask for less at once, such as a part, a page or a filter.",
      )
      expect(getText(await client.call('flood', { characters: 9 * MB }))).toHaveLength(9 * MB)
      await expect(client.call('flood', { characters: 1, padding: 'x'.repeat(11 * MB) })).rejects.toThrow(
        'This message is longer than the 10 MB that a message may have.',
      )
      expect(getText(await client.call('flood', { characters: 3 }))).toBe('xxx')
    },
    60_000,
  )

  it.each([
    ['is too large', { text: 'x'.repeat(20_000) }, /too large to send: 20 kB or more, where 10 kB is the limit/],
    ['is nested too deep', nest(1_000), /nested deeper than the 500 levels/],
    ['cannot be written', { big: 5n }, /holds a bigint, which JSON cannot represent/],
    ['has a toJSON() that throws', { row: { toJSON: fail } }, /holds something that throws when it is read/],
    [
      'has a getter that throws',
      { row: Object.defineProperty({}, 'id', { get: fail, enumerable: true }) },
      /throws when/,
    ],
    ['has a toJSON() that never ends', endless, /nested deeper than the 500 levels/],
  ])('is answered if the result %s', async (_what, structuredContent, message) => {
    const catalog = createCatalog([
      { name: 'give', description: 'Gives.', call: async () => ({ content: [], structuredContent }) },
    ])
    const served = serveMcp(catalog, { name: 'home', version: '1.0.0', expose: all(), maxResultBytes: 10_000 })
    open.push(served)
    const [stdin, stdout] = [new PassThrough(), new SlowReader()]
    stdout.readOn()
    await served.stdio({ stdin, stdout })
    stdin.write(INITIALIZE + call(1, 'give'))
    await expect.poll(() => stdout.messages.length).toBe(2)
    const { result } = stdout.messages[1] as { readonly result: { readonly content: readonly { text: string }[] } }
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0]?.text).toMatch(message)
  })
})

function fail(): never {
  throw new Error('The connection is closed.')
}

const endless = { toJSON: (): object => ({ again: endless }) }

function nest(depth: number): object {
  let inner: object = {}
  for (let i = 0; i < depth; i++) inner = { inner }
  return inner
}

describe('lines', () => {
  const readAll = (reader: LineReader, chunks: readonly string[]): Line[] =>
    chunks.flatMap((chunk) => [...reader.read(Buffer.from(chunk))])

  it('are assembled from chunks of any size', () => {
    const text = 'one\n\ntwo é ü\nthree\n'
    const bytes = Buffer.from(text)
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new LineReader(100)
      const lines: Line[] = []
      for (let at = 0; at < bytes.length; at += size) lines.push(...reader.read(bytes.subarray(at, at + size)))
      expect(lines).toEqual([{ text: 'one' }, { text: '' }, { text: 'two é ü' }, { text: 'three' }])
    }
  })

  it('keep only their beginning and end if they are too long, and the next one stays complete', () => {
    const reader = new LineReader(1_000)
    const long = Array.from({ length: 500 }, (_, i) => `part ${i},`)
    const [cut, next] = readAll(reader, [...long, '\nshort\n'])
    expect(cut).toMatchObject({
      head: expect.stringMatching(/^part 0,part 1,/) as string,
      tail: expect.stringMatching(/part 498,part 499,$/) as string,
    })
    expect(next).toEqual({ text: 'short' })
  })

  it.each([
    ['{"jsonrpc":"2.0","id":5,"method":"x","params":', '"y"}}', 5],
    ['{"jsonrpc":"2.0","id":"a-b","method":"x","params":', '"y"}}', 'a-b'],
    ['{"method":"x","params":{"text":"', '"},"jsonrpc":"2.0","id":17}', 17],
    ['{"method":"x","params":{"text":"', '"},"jsonrpc":"2.0"}', undefined],
    ['not JSON', 'at all', undefined],
  ])('that begin with %s and end with %s are those of the request %s', (head, tail, id) => {
    expect(findRequestId({ head, tail })).toBe(id)
  })
})

it('what is not a message is reported once, in a few words, and answered if it has an id', async () => {
  const errors: string[] = []
  const catalog = createCatalog([])
  const served = serveMcp(catalog, { name: 'a', version: '1', onError: ({ message }) => errors.push(message) })
  open.push(served)
  const [stdin, stdout] = [new PassThrough(), new SlowReader()]
  stdout.readOn()
  await served.stdio({ stdin, stdout })
  stdin.write(INITIALIZE)
  await expect.poll(() => stdout.messages.length).toBe(1)
  stdin.write('not JSON\n[]\n7\n{"jsonrpc":"2.0"}\n{"jsonrpc":"2.0","id":{},"method":"ping"}\n')
  stdin.write('{"jsonrpc":"2.0","id":5,"method":{}}\n{"id":"six","method":"ping"}\n')
  stdin.write(line({ id: 7, method: 'ping' }))
  await expect.poll(() => stdout.messages.length).toBe(4)
  const refusal = { code: -32_600, message: 'The client sent JSON that is not a message of MCP.' }
  expect(stdout.messages.slice(1)).toEqual([
    { jsonrpc: '2.0', id: 5, error: refusal },
    { jsonrpc: '2.0', id: 'six', error: refusal },
    { jsonrpc: '2.0', id: 7, result: {} },
  ])
  expect(errors).toEqual(['The client sent a line that is not JSON.', ...Array(6).fill(refusal.message)])
})

it('the transport ends when its output fails', async () => {
  const { served } = serveCounted(1)
  const stdin = new PassThrough()
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  const connection = await served.stdio({ stdin, stdout })
  stdin.write(INITIALIZE)
  await connection.closed
  expect(stdin.listenerCount('data')).toBe(0)
})
