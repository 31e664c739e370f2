import { describe, expect, it } from 'vitest'
import { agentRun, createMemoryStore, createSession, defineTool, ok, openSession, runAgent } from '../entries/index.ts'
import { calls, scriptedAdapter, says } from '../testing/scripted-adapter.ts'
import { flag, fold, named, prepare, show } from './run.fixtures.ts'

const { bound } = prepare([], { sections: [fold('door', named('look'))] })
const conversation = [
  { role: 'user', text: 'One.' },
  { role: 'assistant', text: 'First.' },
  { role: 'user', text: 'Two.' },
]

describe('R39 a session', () => {
  it('remembers its conversation by default', async () => {
    const session = createSession()
    const adapter = scriptedAdapter([says('First.'), says('Second.')])
    await runAgent(bound, { adapter, session, input: 'One.' })
    const { text } = await runAgent(bound, { adapter, session, input: 'Two.' })
    expect(text).toBe('Second.')
    expect(adapter.requests[1]?.messages).toMatchObject(conversation)
  })

  it('remembers it in a store and after compaction', async () => {
    const store = createMemoryStore()
    const adapter = scriptedAdapter([says('First.'), says('Second.'), says('Third.')])
    const first = await openSession({ store, id: 'chat' })
    await runAgent(bound, { adapter, session: first, input: 'One.' })
    await first.saved()
    const second = await openSession({ store, id: 'chat' })
    await runAgent(bound, { adapter, session: second, input: 'Two.' })
    await second.compact()
    // Passing the slice explicitly makes no difference.
    const third = await openSession({ store, id: 'chat', slices: [agentRun] })
    await runAgent(bound, { adapter, session: third, input: 'Three.' })
    expect(adapter.requests[1]?.messages).toMatchObject(conversation)
    expect(adapter.requests[2]?.messages).toHaveLength(5)
  })

  it('remembers it in a snapshot, and accepts one without a conversation', async () => {
    const session = createSession({ slices: [flag] })
    const adapter = scriptedAdapter([says('First.'), says('Second.')])
    await runAgent(bound, { adapter, session, input: 'One.' })
    const snapshot = JSON.parse(JSON.stringify(session.snapshot())) as ReturnType<typeof session.snapshot>
    await runAgent(bound, { adapter, session: createSession({ slices: [flag], snapshot }), input: 'Two.' })
    expect(adapter.requests[1]?.messages).toMatchObject(conversation)
    const { run: _, ...slices } = snapshot.slices
    expect(createSession({ slices: [flag], snapshot: { version: 1, slices } }).get(agentRun).status).toBe('new')
  })

  it('gives tools the id of their call', async () => {
    const whoami = defineTool({ name: 'whoami', description: 'Says.', execute: (_, { callId }) => ok(callId ?? '') })
    const { run, adapter } = prepare([calls('whoami'), says('Done.')], { sections: [show('door', whoami)] })
    await run()
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({ callId: 'call-1-1', text: 'call-1-1' })
  })

  it('goes back to an earlier conversation with restore', async () => {
    const session = createSession()
    const before = session.snapshot()
    await runAgent(bound, { adapter: scriptedAdapter([says('First.')]), session, input: 'One.' })
    session.restore(before)
    const adapter = scriptedAdapter([says('Other.')])
    await runAgent(bound, { adapter, session, input: 'Two.' })
    expect(adapter.requests[0]?.messages).toMatchObject([{ text: 'Two.' }])
  })
})
