import { readUIMessageStream, type UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { chatAdapter, NO_USAGE, type ChatReply, type ChatRequest } from '../../entries/adapter.ts'
import { toUIMessageStream } from '../../entries/ai-sdk.ts'
import { createMemoryStore, definePrompt, defineTool, ok, openSession, type AnyTool } from '../../entries/index.ts'
import { agentRun, type SessionStore } from '../../entries/session.ts'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import { show } from '../run.fixtures.ts'
import type { DurableRunOptions, RunEngine } from './contract.ts'
import { defineRun, getRun, startRun, type DurableRun, type RunHandle } from './durable-run.ts'
import { createLocalEngine } from './local-engine.ts'
import type { RunEvent } from './run-events.ts'

const look = defineTool({ name: 'look', description: 'Looks.', execute: () => ok('A lamp.') })
const pay = defineTool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => ok('Paid.') })

function define(
  adapter: DurableRunOptions['adapter'],
  { store = createMemoryStore(), engine = createLocalEngine() }: { store?: SessionStore; engine?: RunEngine } = {},
): DurableRun {
  const tools: readonly AnyTool[] = [look, pay]
  const prompt = definePrompt({ ns: 't', key: 't', sections: [show('desk', ...tools)] }).bind()
  return defineRun({ name: 'desk', engine, store, prompt, adapter })
}

/** A model that writes when it is told to. */
function createWriter() {
  let request: ChatRequest | undefined
  let answer = (_text: string): void => undefined
  let fail = (_error: Error): void => undefined
  const complete = (given: ChatRequest): Promise<ChatReply> =>
    new Promise((resolve, reject) => {
      request = given
      answer = (text) => resolve({ message: { role: 'assistant', text, toolCalls: [] }, usage: NO_USAGE })
      fail = reject
    })
  return {
    complete,
    adapter: chatAdapter({ name: 'writer', model: 'writer', complete }),
    isAsked: () => request !== undefined,
    write: (text: string) => request?.emit({ type: 'text/delta', text }),
    answer: (text: string) => answer(text),
    fail: (error: Error) => fail(error),
  }
}

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

async function readUntil(events: AsyncIterable<RunEvent>, isLast: (event: RunEvent) => boolean): Promise<RunEvent[]> {
  const all: RunEvent[] = []
  for await (const event of events) {
    all.push(event)
    if (isLast(event)) break
  }
  return all
}

/** The last state of the message that a browser would show. */
async function showInBrowser(events: AsyncIterable<RunEvent>): Promise<UIMessage['parts']> {
  let parts: UIMessage['parts'] = []
  for await (const message of readUIMessageStream({ stream: toUIMessageStream(events) })) parts = message.parts
  return parts
}

const script = [calls('look'), calls('look'), says('Done.')]
const start = (run: DurableRun): Promise<RunHandle> => startRun(run, { id: 'one', input: 'Go.' })

describe('the events of a durable run', () => {
  it('R63 say from any machine what was done, from the beginning or after any of them', async () => {
    const store = createMemoryStore()
    const run = define(scriptedAdapter(script), { store })
    const all = await collect((await start(run)).events())
    expect(all.map(({ type }) => type).filter((type) => type !== 'text/delta')).toEqual(
      'reply/received tool/called tool/invoked reply/received tool/called tool/invoked reply/received run/finished'.split(
        ' ',
      ),
    )
    expect(all.at(-1)).toMatchObject({ type: 'run/finished', status: 'completed' })
    // Another process, whose engine has never heard of the run.
    const kept = await collect(getRun(define(scriptedAdapter([]), { store }), 'one').events())
    expect(kept).toEqual(all.filter(({ type }) => type !== 'text/delta'))
    for (const [at, { cursor }] of kept.entries()) {
      // Nothing is missing, whichever event was the last to arrive.
      const after = await collect(getRun(run, 'one').events({ after: cursor }))
      expect([...new Set([...kept.slice(0, at + 1), ...after].map((event) => JSON.stringify(event)))]).toEqual(
        kept.map((event) => JSON.stringify(event)),
      )
    }
    expect(await showInBrowser(getRun(run, 'one').events())).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', toolName: 'look', state: 'output-available', output: 'A lamp.' },
      { type: 'step-start' },
      { type: 'dynamic-tool', toolName: 'look', state: 'output-available', output: 'A lamp.' },
      { type: 'step-start' },
      { type: 'text', text: 'Done.' },
    ])
  })

  it('R63 have the pieces of a reply as it is written, also for those who come later or again', async () => {
    const writer = createWriter()
    const handle = await start(define(writer.adapter))
    const isPiece = ({ type }: RunEvent): boolean => type === 'text/delta'
    await expect.poll(writer.isAsked).toBe(true)
    writer.write('A ')
    const first = await readUntil(handle.events(), isPiece)
    writer.write('lamp')
    const browser = showInBrowser(handle.events())
    const again = collect(handle.events({ after: first.at(-1)?.cursor ?? 0 }))
    const read = readUntil(handle.events(), (event) => event.type === 'text/delta' && event.text === 'lamp')
    expect((await read).map((event) => isPiece(event) && 'text' in event && event.text)).toEqual(['A ', 'lamp'])
    // The last piece may be read from the journal only.
    writer.write('.')
    writer.answer('A lamp.')
    expect(await browser).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'A lamp.' }])
    expect((await again).flatMap((event) => (event.type === 'text/delta' ? [event.text] : []))).toEqual([
      'A ',
      'lamp',
      '.',
    ])
    expect((await handle.result()).text).toBe('A lamp.')
  })

  it('R63 are in order for a reader that comes while a later reply is written', async () => {
    const writer = createWriter()
    const adapter = chatAdapter({
      name: 'looks',
      model: 'looks',
      async complete(request) {
        if (request.messages.length > 1) return writer.complete(request)
        const toolCalls = [{ id: 'call-1', name: 'look', arguments: {} }]
        return { message: { role: 'assistant', text: '', toolCalls }, usage: NO_USAGE }
      },
    })
    const handle = await start(define(adapter))
    await expect.poll(writer.isAsked).toBe(true)
    writer.write('A lamp.')
    const events = await readUntil(handle.events(), ({ type }) => type === 'text/delta')
    expect(events.map(({ type }) => type)).toEqual(['reply/received', 'tool/called', 'tool/invoked', 'text/delta'])
    writer.answer('A lamp.')
    await handle.result()
  })

  it('R63 take back the pieces of a reply that another machine writes again', async () => {
    const store = createMemoryStore()
    const [here, there] = [createWriter(), createWriter()]
    const local = createLocalEngine()
    // The engine knows that another machine goes on.
    const engine: RunEngine = {
      ...local,
      getStatus: async (address) => {
        const state = (await openSession({ store, id: 'desk/one' })).get(agentRun)
        return { id: address.id, status: state.status === 'completed' ? 'done' : 'active' }
      },
    }
    const handle = await start(define(here.adapter, { store: { ...store }, engine }))
    await expect.poll(here.isAsked).toBe(true)
    const browser = showInBrowser(handle.events())
    const all = collect(handle.events())
    here.write('Half of')
    const other = define(there.adapter, { store, engine: { ...createLocalEngine(), isExclusive: true } })
    const taken = await start(other)
    await expect.poll(there.isAsked).toBe(true)
    here.fail(new Error('The machine dies.'))
    there.write('Whole.')
    there.answer('Whole.')
    await taken.result()
    expect((await all).map(({ type }) => type)).toEqual(['text/delta', 'reply/lost', 'reply/received', 'run/finished'])
    expect((await browser).at(-1)).toMatchObject({ type: 'text', text: 'Whole.' })
  })

  it('R63 end when a person is asked, and go on after the answer', async () => {
    const handle = await start(define(scriptedAdapter([calls('pay'), says('Done.')])))
    const before = await collect(handle.events())
    expect(before.slice(-2)).toMatchObject([{ type: 'approval/asked', tool: 'pay' }, { status: 'waiting' }])
    for (const request of await handle.approvals()) await handle.signal('approval', { ...request, approved: true })
    const after = await collect(handle.events({ after: before.at(-1)?.cursor ?? 0 }))
    expect(after.map(({ type }) => type).filter((type) => type !== 'text/delta')).toEqual(
      'approval/answered tool/invoked reply/received run/finished'.split(' '),
    )
  })

  it('R63 reject if the run has failed or was cancelled, or does not exist', async () => {
    const engine = createLocalEngine()
    const store = createMemoryStore()
    const handle = await start(define(scriptedAdapter([calls('look')]), { engine, store }))
    await expect(collect(handle.events())).rejects.toMatchObject({ code: 'run-failed' })
    define(scriptedAdapter([says('At last.')]), { engine, store })
    await handle.resume()
    expect(await showInBrowser(handle.events())).toMatchObject([{}, {}, {}, { type: 'text', text: 'At last.' }])
    const writer = createWriter()
    const run = define(writer.adapter)
    const other = await startRun(run, { id: 'other' })
    const cancelled = collect(other.events())
    await expect.poll(writer.isAsked).toBe(true)
    await other.cancel()
    await expect(cancelled).rejects.toMatchObject({ code: 'run-cancelled' })
    await expect(collect(getRun(run, 'nobody').events())).rejects.toMatchObject({ code: 'run-unknown' })
    expect(() => other.events({ after: NaN })).toThrow('after is NaN')
  })

  it('R63 are left at once, which does not end the run', async () => {
    const writer = createWriter()
    const handle = await start(define(writer.adapter))
    const left = new AbortController()
    const aborted = collect(handle.events({ signal: left.signal }))
    const stream = toUIMessageStream(handle.events())
    const reader = stream.getReader()
    await reader.read()
    const next = reader.read()
    await expect.poll(writer.isAsked).toBe(true)
    await reader.cancel()
    expect(await next).toMatchObject({ done: true })
    left.abort(new Error('The browser is gone.'))
    await expect(aborted).rejects.toThrow('The browser is gone.')
    writer.answer('Done.')
    expect((await handle.result()).text).toBe('Done.')
  })
})
