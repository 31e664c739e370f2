import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import { serveMcp } from '../serve-mcp.ts'
import { HEADERS, openSession, post, rpc, type Sent } from './raw.fixtures.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const VERSION = { 'mcp-protocol-version': '2025-11-25' }
const say = (text: string) => ({ content: [{ type: 'text', text }] })

async function serve() {
  const aborted = vi.fn()
  const waiting = vi.fn()
  let endRest: (result: ReturnType<typeof say>) => void = () => undefined
  const rest = new Promise<ReturnType<typeof say>>((resolve) => (endRest = resolve))
  const catalog = createCatalog([
    { name: 'greet', description: 'Greets.', call: async () => say('hello') },
    {
      name: 'report',
      description: 'Reports progress.',
      async call(_args, { onProgress }) {
        onProgress?.({ progress: 1, total: 2 })
        return say('reported')
      },
    },
    {
      name: 'rest',
      description: 'Takes a while.',
      async call() {
        return rest
      },
    },
    {
      name: 'hang',
      description: 'Waits until it is cancelled.',
      call: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          waiting()
          signal?.addEventListener('abort', () => {
            aborted()
            reject(new Error('stopped'))
          })
        }),
    },
  ])
  const served = serveMcp(catalog, { name: 'home', version: '1', expose: all() })
  open.push(served)
  const { url } = await served.http()
  const named = { ...VERSION, 'mcp-session-id': await openSession(url) }
  const call = (name: string, more: object = {}, id: number | undefined = 7): Promise<Sent> =>
    post(url, rpc('tools/call', { name, arguments: {}, ...more }, id), named)
  return { url, named, call, aborted, waiting, endRest }
}

describe('a call over HTTP', () => {
  it('is answered with plain JSON if it ends soon', async () => {
    const { call, named } = await serve()
    const { status, headers, text } = await call('greet')
    expect({ status, type: headers.get('content-type'), session: headers.get('mcp-session-id') }).toEqual({
      status: 200,
      type: 'application/json',
      session: named['mcp-session-id'],
    })
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 7, result: say('hello') })
  })

  it('is refused while another request with its id runs', async () => {
    const { call, waiting, url, named, aborted } = await serve()
    const refused = { code: -32_600, message: 'A request with this id is still running.' }
    const stop = new AbortController()
    const body = rpc('tools/call', { name: 'hang', arguments: {} }, 7)
    const hanging = fetch(url, { method: 'POST', headers: { ...HEADERS, ...named }, body, signal: stop.signal })
    await vi.waitFor(() => expect(waiting).toHaveBeenCalled())
    expect(await call('greet')).toMatchObject({ status: 400, error: refused })
    expect((await call('greet', {}, 8)).text).toContain('hello')
    stop.abort()
    await expect(hanging).rejects.toThrow(/abort/)
    await vi.waitFor(() => expect(aborted).toHaveBeenCalled())
    expect((await call('greet')).text).toContain('hello')
  })

  it('becomes a stream of events if something comes before its answer', async () => {
    const { call } = await serve()
    const { headers, text } = await call('report', { _meta: { progressToken: 'p' } })
    expect(headers.get('content-type')).toBe('text/event-stream')
    const events = text.split('\n').filter((line) => line.startsWith('data: '))
    expect(events.map((line) => JSON.parse(line.slice(6)) as object)).toMatchObject([
      { method: 'notifications/progress', params: { progress: 1, total: 2, progressToken: 'p' } },
      { id: 7, result: say('reported') },
    ])
  })

  it('becomes a stream of events if it takes a while', async () => {
    const { url, named, endRest } = await serve()
    const body = rpc('tools/call', { name: 'rest', arguments: {} })
    const response = await fetch(url, { method: 'POST', headers: { ...HEADERS, ...named }, body })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    endRest(say('rested'))
    expect(await response.text()).toContain('rested')
  })

  it('stops when its client has gone, and when its client cancels it', async () => {
    const { url, named, aborted, waiting, call } = await serve()
    const gone = new AbortController()
    const init = { method: 'POST', headers: { ...HEADERS, ...named }, signal: gone.signal }
    const asked = fetch(url, { ...init, body: rpc('tools/call', { name: 'hang' }, 8) })
    await vi.waitFor(() => expect(waiting).toHaveBeenCalledTimes(1))
    gone.abort()
    await expect(asked).rejects.toThrow(/abort/)
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1))

    const cancelled = call('hang', {}, 9)
    await vi.waitFor(() => expect(waiting).toHaveBeenCalledTimes(2))
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } }
    expect((await post(url, JSON.stringify(cancel), named)).status).toBe(202)
    expect((await cancelled).text).toBe('')
    expect(aborted).toHaveBeenCalledTimes(2)
  })

  it('may be invalid', async () => {
    const { url, named, call } = await serve()
    expect(JSON.parse((await call('greet', { name: 7 })).text) as unknown).toMatchObject({
      error: { code: -32_602, message: "'name' must say which tool to call." },
    })
    const greet = rpc('tools/call', { name: 'greet' })
    expect((await post(url, greet, { ...named, 'mcp-session-id': 'other' })).status).toBe(404)
    expect((await post(url, greet, { ...named, accept: 'text/plain' })).status).toBe(406)
  })

  it('R53 answers a batch with a stream of all answers', async () => {
    const { url, named } = await serve()
    const parts = [rpc('tools/call', { name: 'greet' }, 1), rpc('ping', {}, 2), rpc('example/unknown', {}, 3)]
    const { headers, text } = await post(url, `[${parts.join(',')}]`, named)
    expect(headers.get('content-type')).toBe('text/event-stream')
    const events = text.split('\n').filter((line) => line.startsWith('data: '))
    const answers = events.map((line) => JSON.parse(line.slice(6)) as { readonly id: number })
    expect(answers.toSorted((one, other) => one.id - other.id)).toEqual([
      { jsonrpc: '2.0', id: 1, result: say('hello') },
      { jsonrpc: '2.0', id: 2, result: {} },
      { jsonrpc: '2.0', id: 3, error: { code: -32_601, message: 'Method not found' } },
    ])
    const twice = `[${rpc('ping', {}, 1)},${rpc('tools/call', { name: 'greet' }, 1)}]`
    expect((await post(url, twice, named)).status).toBe(400)
    const tooMany = Array.from({ length: 101 }, (_, id) => rpc('ping', {}, id))
    expect((await post(url, `[${tooMany.join(',')}]`, named)).status).toBe(400)
  })
})
