import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentRun, createSession, type FoldoutError, type Session } from '../../entries/index.ts'
import { visibility } from '../../session/visibility.ts'

const USAGE = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
const RESULT = { role: 'tool', callId: 'a', name: 'look', text: 'x', isError: false }
const OPENING = { callId: 'a', keys: ['vault'], reason: '', paths: ['vault'] }
const SAID = { role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'look', arguments: {} }] }
const START = { system: '', tools: ['look'], definitions: '', prompt: '', source: '', shown: [['door', '']] }

/** A payload that each event accepts. */
const VALID: Readonly<Record<keyof typeof agentRun.events, unknown>> = {
  started: { messages: [{ role: 'user', text: 'Go.' }], id: 'run' },
  said: { message: SAID },
  calling: { callId: 'a', tool: 'look', digest: 'd' },
  asked: { request: { callId: 'a', tool: 'look', arguments: {}, reason: '', askedAt: 'now', digest: 'd' } },
  answered: { callId: 'a', approved: true },
  called: { result: RESULT, opening: OPENING },
  used: { usage: USAGE, at: 1 },
  folded: { folded: [{ callId: 'a', form: 'old' }] },
  removed: { names: ['look'] },
  disclosed: { names: ['look'] },
  asking: { callId: 'q', path: 'vault', question: 'How many?' },
  delegated: { callId: 'q', event: { type: 'run/used', payload: { usage: USAGE, at: 1 } }, costUsd: 0.1 },
  rendered: { start: START },
  shown: { sections: [['vault', '']], result: RESULT },
  restarted: { isOpening: true },
  settled: undefined,
  repaired: { message: { role: 'user', text: 'Again.' } },
  resumed: { state: { version: 1, messages: [SAID], usage: USAGE }, isNewInput: true },
  completed: { answer: 'Done.' },
  stopped: undefined,
  paused: undefined,
  claimed: { by: 'machine' },
  cancelled: undefined,
}
const NAMES = Object.keys(VALID) as readonly (keyof typeof VALID)[]
const ODD: readonly unknown[] = [undefined, null, 5, -1, NaN, Infinity, 1e308, 'x', true, {}, [], [null], [[1]], [{}]]

/** The value itself replaced, or any of the values in it. */
function* replaceEach(value: unknown, odd: unknown): Generator<unknown> {
  yield odd
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    for (const changed of replaceEach(inner, odd)) {
      yield Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed }
    }
  }
}

const PAYLOADS = NAMES.flatMap((name) =>
  ODD.flatMap((odd) => [...replaceEach(VALID[name], odd)].map((payload) => ({ type: `run/${name}`, payload }))),
)

/** Dispatches an event and returns the code of the error if the session rejects it. */
function dispatch(session: Session, event: { readonly type: string; readonly payload: unknown }): string {
  try {
    session.dispatch(event)
    return 'accepted'
  } catch (error) {
    return (error as FoldoutError).code
  }
}

function restore(session: Session): Session {
  return createSession({ snapshot: JSON.parse(JSON.stringify(session.snapshot())) as ReturnType<Session['snapshot']> })
}

const write = (session: Session): string => JSON.stringify(session.get(agentRun))

describe('R21 R23 events of a run', () => {
  it('are accepted with the payloads that they are for', () => {
    const session = createSession()
    const outcomes = NAMES.map((name) => dispatch(session, { type: `run/${name}`, payload: VALID[name] }))
    expect(outcomes).toEqual(NAMES.map(() => 'accepted'))
    expect(write(restore(session))).toBe(write(session))
  })

  it('are rejected and change nothing, or leave a session that its own snapshot restores', () => {
    for (const event of PAYLOADS) {
      const session = createSession()
      session.dispatch({ type: 'run/said', payload: VALID.said })
      const before = write(session)
      const outcome = dispatch(session, event)
      expect([event, outcome]).toEqual([event, expect.stringMatching(/^(accepted|event-invalid)$/)])
      expect([event, write(restore(session))]).toEqual([event, outcome === 'accepted' ? write(session) : before])
    }
  })

  it('in any order leave a session that its own snapshot restores', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PAYLOADS), { maxLength: 12 }), (events) => {
        const session = createSession()
        for (const event of events) dispatch(session, event)
        expect(write(restore(session))).toBe(write(session))
      }),
    )
  })

  it.each([
    ['used', { usage: { ...USAGE, inputTokens: NaN } }, 'usage.inputTokens must be at least 0'],
    ['used', { usage: { ...USAGE, inputTokens: 1e300 } }, 'usage.inputTokens must be at most 9007199254740991'],
    ['completed', { answer: 5 }, 'answer must be a string, not a number'],
    ['said', { message: { role: 'alien' } }, 'message is not a message'],
    ['said', null, 'its payload is not an object'],
    ['started', { messages: [5] }, 'messages[0] is not a message'],
    ['resumed', { state: { version: 2 } }, 'its version is not 1'],
  ])('say what is wrong with %s %o', (name, payload, fault) => {
    expect(() => createSession().dispatch({ type: `run/${name}`, payload })).toThrow(
      `The slice 'run' rejected this 'run/${name}' event: ${fault}`,
    )
  })

  it('accept the state of another session as it is', () => {
    const other = createSession()
    other.dispatch({ type: 'run/said', payload: VALID.said })
    const session = createSession()
    session.dispatch(agentRun.events.resumed({ state: other.get(agentRun) }))
    expect(session.get(agentRun).messages).toHaveLength(1)
  })
})

describe('R22 events of visibility', () => {
  it('are rejected, or leave a session that its own snapshot restores', () => {
    for (const odd of ODD) {
      for (const payload of replaceEach({ path: 'vault', visibility: 'full' }, odd)) {
        const session = createSession()
        for (const type of ['visibility/set', 'visibility/cleared']) dispatch(session, { type, payload })
        expect(session.get(visibility)).toEqual(restore(session).get(visibility))
      }
    }
  })
})
