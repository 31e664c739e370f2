import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createMemoryStore,
  defineSlice,
  defineTool,
  ok,
  openSession,
  runAgent,
  type AnyTool,
} from '../../entries/index.ts'
import { agentRun, type SessionStore } from '../../entries/session.ts'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from '../../testing/scripted-adapter.ts'
import { definePrompt } from '../../prompt/prompt.ts'
import { show } from '../run.fixtures.ts'
import { getRunKey, type RunEngine, type DurablePrompt, type DurableRunOptions } from './contract.ts'
import { defineRun, getRun, startRun, type DurableRun } from './durable-run.ts'
import { createLocalEngine } from './local-engine.ts'

const done = defineSlice({
  name: 'done',
  initial: [] as readonly string[],
  reducers: { added: (state, what: string) => [...state, what] },
})

/** Records its calls, both outside and in the session. */
function makeTool(name: string, world: string[], options: object = {}): AnyTool {
  return defineTool({
    name,
    description: name,
    params: z.object({ n: z.number().default(0) }),
    execute: async ({ n }, { session, idempotencyKey }) => {
      world.push(`${name} ${n} ${idempotencyKey !== undefined}`)
      session.dispatch(done.events.added(`${name} ${n}`))
      return ok(`did ${n}`)
    },
    ...options,
  })
}

function stage(script: readonly ScriptStep[], tools: readonly AnyTool[], changes: Partial<DurableRunOptions> = {}) {
  const engine = createLocalEngine()
  const store = createMemoryStore()
  const define = (on: RunEngine, steps = script, more: Partial<DurableRunOptions> = {}): DurableRun =>
    defineRun({
      name: 'desk',
      engine: on,
      store,
      slices: [done],
      prompt: definePrompt({ ns: 't', key: 't', sections: [show('desk', ...tools)] }).bind(),
      adapter: scriptedAdapter(steps),
      ...changes,
      ...more,
    })
  return { engine, store, define, run: define(engine) }
}

/** An engine that has taken runs from machines that it knows to be dead. */
const createExclusiveEngine = (): RunEngine => ({ ...createLocalEngine(), isExclusive: true })

async function waitFor(run: DurableRun, id: string, status: string): Promise<void> {
  await expect.poll(async () => (await getRun(run, id).status()).status).toBe(status)
}
const openDone = (store: SessionStore, id: string) =>
  openSession({ store, id: getRunKey({ kind: 'desk', id }), slices: [done] })

describe('R63 a durable run', () => {
  it('R63 runs from its input to its result, and is started once', async () => {
    const world: string[] = []
    const { run, store } = stage([calls('work', { n: 1 }), says('Done.')], [makeTool('work', world)])
    const handle = await startRun(run, { id: 'one', input: 'Go.' })
    await startRun(run, { id: 'one', input: 'Something else.' })
    const result = await handle.result()
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(result.messages[0]).toEqual({ role: 'user', text: 'Go.' })
    expect(world).toEqual(['work 1 true'])
    expect((await openDone(store, 'one')).get(done)).toEqual(['work 1'])
    expect(await run.list()).toMatchObject([{ id: 'one', status: 'done', outcome: 'completed' }])
  })

  it('R63 waits for a person without a process, and takes the first of ten answers', async () => {
    const world: string[] = []
    const { run } = stage([calls('pay', { n: 5 }), says('Paid.')], [makeTool('pay', world, { needsApproval: true })])
    const handle = await startRun(run, { id: 'one', input: 'Pay.' })
    await waitFor(run, 'one', 'waiting')
    const [request] = await handle.approvals()
    expect(request).toMatchObject({ tool: 'pay', arguments: { n: 5 } })
    const answer = { callId: request!.callId, digest: request!.digest, approved: true }
    const ends = await Promise.allSettled(Array.from({ length: 10 }, () => handle.signal('approval', answer)))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await handle.result()).text).toBe('Paid.')
    expect(world).toEqual(['pay 5 true'])
    await expect(handle.signal('approval', answer)).rejects.toMatchObject({ code: 'approval-unknown' })
  })

  it('R63 answers two calls one after the other, and never a call of another run', async () => {
    const world: string[] = []
    const tools = [makeTool('pay', world, { needsApproval: true })]
    const { run } = stage([callsAll(['pay', { n: 1 }], ['pay', { n: 2 }]), says('Both.')], tools)
    const other = await startRun(run, { id: 'other', input: 'Pay.' })
    await waitFor(run, 'other', 'waiting')
    const [foreign] = await other.approvals()
    const { run: again } = stage([callsAll(['pay', { n: 1 }], ['pay', { n: 2 }]), says('Both.')], tools)
    const handle = await startRun(again, { id: 'one', input: 'Pay.' })
    await waitFor(again, 'one', 'waiting')
    await expect(handle.signal('approval', { ...foreign!, approved: true })).rejects.toMatchObject({
      code: 'approval-unknown',
    })
    await expect(handle.signal('input' as 'approval', { ...foreign!, approved: true })).rejects.toMatchObject({
      code: 'approval-invalid',
    })
    const [first, second] = await handle.approvals()
    await handle.signal('approval', { ...first!, approved: false, reason: 'too much' })
    await expect.poll(async () => (await handle.approvals()).length).toBe(1)
    await handle.signal('approval', { ...second!, approved: true })
    expect((await handle.result()).text).toBe('Both.')
    expect(world).toEqual(['pay 2 true'])
  })

  it('R63 can be cancelled while it waits and while it works; later writes are rejected', async () => {
    const world: string[] = []
    let release = (): void => undefined
    const slow: AnyTool = defineTool({
      name: 'slow',
      description: 'slow',
      execute: (_params, { signal }) =>
        new Promise((resolve) => {
          world.push('slow began')
          release = () => resolve(ok('late'))
          signal.addEventListener('abort', () => world.push('aborted'))
        }),
    })
    const { run, store } = stage([calls('slow'), says('Never.')], [slow])
    const handle = await startRun(run, { id: 'one', input: 'Go.' })
    await expect.poll(() => world.length).toBe(1)
    await handle.cancel()
    await expect(handle.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    release()
    expect(world).toEqual(['slow began', 'aborted'])
    const state = (await openDone(store, 'one')).get(agentRun)
    expect(state.status).toBe('cancelled')
    await expect(getRun(run, 'nobody').cancel()).rejects.toMatchObject({ code: 'run-unknown' })
  })

  it('R63 says why it failed, and continues where its journal ends', async () => {
    const world: string[] = []
    const { run, define, engine } = stage([calls('work', { n: 1 })], [makeTool('work', world)])
    const handle = await startRun(run, { id: 'one', input: 'Go.' })
    await expect(handle.result()).rejects.toMatchObject({ code: 'run-failed' })
    define(engine, [says('At last.')])
    await handle.resume()
    expect((await handle.result()).text).toBe('At last.')
    expect(world).toEqual(['work 1 true'])
  })
})

describe('R63 a run whose machine died', () => {
  /** A store that stops accepting events after some events of a type, as if its machine had died. */
  function dyingStore(store: SessionStore, type: string): SessionStore {
    let isDead = false
    return {
      ...store,
      async append(id, events) {
        if (isDead) return new Promise(() => undefined)
        await store.append(id, events)
        if (events.some(({ event }) => event.type === type)) isDead = true
        if (isDead && type === 'run/calling') return new Promise(() => undefined)
      },
    }
  }

  async function dieAndGoOn(tool: AnyTool, type: string, more: Partial<DurableRunOptions> = {}) {
    const { store, define } = stage([calls(tool.name, { n: 1 })], [tool])
    const first = define(createLocalEngine(), undefined, { store: dyingStore(store, type) })
    await startRun(first, { id: 'one', input: 'Go.' })
    await expect
      .poll(async () => ((await store.load('desk/one'))?.events ?? []).some(({ event }) => event.type === type))
      .toBe(true)
    const second = define(createExclusiveEngine(), [says('Went on.')], { store, ...more })
    return { handle: await startRun(second, { id: 'one' }), store, run: second }
  }

  it('R63 does not repeat a call that was completed', async () => {
    const world: string[] = []
    const { handle } = await dieAndGoOn(makeTool('work', world), 'run/called')
    expect((await handle.result()).text).toBe('Went on.')
    expect(world).toEqual(['work 1 true'])
  })

  it('R63 tells the model that the outcome of an interrupted call is unknown', async () => {
    const world: string[] = []
    const { handle } = await dieAndGoOn(makeTool('work', world), 'run/calling')
    const { messages } = await handle.result()
    expect(messages.find(({ role }) => role === 'tool')).toMatchObject({
      text: expect.stringContaining('The outcome of this call is unknown') as string,
      isError: true,
    })
    expect(world).toEqual([])
  })

  it.each([{ readOnlyHint: true }, { idempotentHint: true }])(
    'R63 repeats an interrupted call with %j',
    async (annotations) => {
      const world: string[] = []
      const { handle } = await dieAndGoOn(makeTool('work', world, { annotations }), 'run/calling')
      expect((await handle.result()).text).toBe('Went on.')
      expect(world).toEqual(['work 1 true'])
    },
  )

  it('R63 asks a person about an interrupted call, if configured', async () => {
    const world: string[] = []
    const { handle, run } = await dieAndGoOn(makeTool('work', world), 'run/calling', { interruptedCalls: 'ask' })
    await waitFor(run, 'one', 'waiting')
    const [request] = await handle.approvals()
    expect(request?.reason).toContain('may already have taken effect')
    await handle.signal('approval', { ...request!, approved: true })
    expect((await handle.result()).text).toBe('Went on.')
    expect(world).toEqual(['work 1 true'])
  })

  it('R39 R63 leaves a live run of another process alone, if the engine does not know of it', async () => {
    const world: string[] = []
    let wake = (): void => undefined
    const slow = makeTool('slow', world, {
      execute: () =>
        new Promise((resolve) => {
          world.push('began')
          wake = () => resolve(ok('done'))
        }),
    })
    const lease = { ms: 50 }
    const { store, define } = stage([calls('slow'), says('I am here.')], [slow], { lease })
    const first = await startRun(define(createLocalEngine(), undefined, { store: { ...store } }), { id: 'one' })
    await expect.poll(() => world.length).toBe(1)
    const second = await startRun(define(createLocalEngine(), [says('Mine now.')]), { id: 'one' })
    await expect(second.result()).rejects.toThrow("Another process has a live run on the session 'desk/one'")
    wake()
    expect((await first.result()).text).toBe('I am here.')
    expect(world).toEqual(['began'])
    await second.resume()
    expect((await second.result()).text).toBe('I am here.')
  })

  it('R63 keeps runs of two kinds apart that have one id, and a chat that has it, too', async () => {
    const { store, define } = stage([], [])
    const engine = createLocalEngine()
    const bound = new Set<string>()
    const bindFor = (id: string): DurablePrompt => {
      bound.add(id)
      return definePrompt({ ns: 't', key: 't', sections: [show('desk')] }).bind()
    }
    const chat = await openSession({ store, id: 'ticket' })
    await runAgent(definePrompt({ ns: 't', key: 'chat', sections: [] }).bind(), {
      adapter: scriptedAdapter([says('A chat.')]),
      session: chat,
      input: 'Hello.',
    })
    const kinds = ['support', 'support/ticket', 'sales'].map((name) =>
      define(engine, [says(`From ${name}.`)], { name, prompt: bindFor }),
    )
    for (const [at, run] of kinds.entries()) {
      const { text, messages } = await (await startRun(run, { id: 'ticket', input: `Input ${at}.` })).result()
      expect(text).toBe(`From ${run.name}.`)
      expect(messages[0]).toEqual({ role: 'user', text: `Input ${at}.` })
      expect(await run.list()).toMatchObject([{ id: 'ticket' }])
    }
    expect([...bound]).toEqual(['ticket'])
    expect(await store.list()).toEqual(['sales/ticket', 'support%2Fticket/ticket', 'support/ticket', 'ticket'])
    await expect(startRun(define(engine), { id: '\ud800' })).rejects.toMatchObject({ code: 'session-invalid' })
  })

  it('R63 fences off a machine that was assumed dead', async () => {
    const world: string[] = []
    let wake = (): void => undefined
    const slow = makeTool('slow', world, {
      execute: () =>
        new Promise((resolve) => {
          world.push('began')
          wake = () => resolve(ok('from the grave'))
        }),
    })
    const { store, define } = stage([calls('slow'), says('I am still here.')], [slow])
    // Each process has its own store object.
    const zombie = await startRun(define(createLocalEngine(), undefined, { store: { ...store } }), { id: 'one' })
    await expect.poll(() => world.length).toBe(1)
    const taken = await startRun(define(createExclusiveEngine(), [says('Mine now.')]), { id: 'one' })
    expect((await taken.result()).text).toBe('Mine now.')
    wake()
    await expect(zombie.result()).rejects.toMatchObject({ code: 'run-failed' })
    const { messages } = await taken.result()
    expect(JSON.stringify(messages)).not.toContain('from the grave')
    expect(messages.at(-1)).toMatchObject({ text: 'Mine now.' })
  })
})

it.each(['postgres://localhost/runs', {}, undefined, null])(
  'refuses %j as an engine, and names the one for a fleet',
  (engine) => {
    const { define } = stage([says('Never.')], [])
    expect(() => define(engine as RunEngine)).toThrow(
      expect.objectContaining({
        code: 'engine-invalid',
        message: expect.stringContaining('npm install foldout-fleet'),
      }),
    )
  },
)
