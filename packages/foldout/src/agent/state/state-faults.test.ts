import { describe, expect, it } from 'vitest'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import { createSession, runAgent, type FoldoutError, type RunState } from '../../entries/index.ts'
import { fold, getError, named, prepare, show } from '../run.fixtures.ts'
import { readRunState } from './run-state.ts'

const sections = [show('door', named('look')), fold('vault', named('take'))]
const { bound } = prepare([], { sections })
const ODD: readonly unknown[] = [
  null,
  5,
  -1,
  'x',
  {},
  { a: 1 },
  [5],
  [null],
  [{}],
  [[1]],
  [['x', 1]],
  [{ role: 'user' }],
]

async function getStopped(): Promise<RunState> {
  const adapter = scriptedAdapter([calls('read_section', { section_key: 'vault' })])
  const { state } = await runAgent(bound, { adapter, input: 'Go.', stopWhen: () => true })
  return JSON.parse(JSON.stringify(state)) as RunState
}

const getOutcome = (state: unknown): Promise<unknown> =>
  runAgent(bound, {
    adapter: scriptedAdapter([says('Done.'), says('Done.')]),
    state: state as RunState,
    input: 'On.',
  }).then(
    ({ status }) => status,
    (error: unknown) => (error as FoldoutError).code ?? error,
  )

describe('R39 the state of a run', () => {
  it('is rejected with a code if any field is odd, or the run completes', async () => {
    const state = await getStopped()
    for (const field of Object.keys(state)) {
      for (const odd of ODD)
        expect([field, odd, await getOutcome({ ...state, [field]: odd })]).toEqual([
          field,
          odd,
          expect.stringMatching(/^(completed|run-state-invalid)$/),
        ])
    }
  })

  it.each([
    [null, 'messages[4] is not a message'],
    [{ role: 'alien', text: '' }, 'messages[4] is not a message'],
    [{ role: '__proto__', text: '' }, 'messages[4] is not a message'],
    [{ role: 'user' }, 'messages[4].text is required'],
    [{ role: 'user', text: '', parts: 5 }, 'messages[4].parts must be a list, not a number'],
    [{ role: 'assistant', text: '' }, 'messages[4].toolCalls is required'],
    [{ role: 'assistant', text: '', toolCalls: [{ id: 'a' }] }, 'messages[4].toolCalls[0].name is required'],
    [{ role: 'tool', callId: 1, name: 'a', text: '' }, 'messages[4].callId must be a string, not a number'],
    [{ role: 'tools', names: [1] }, 'messages[4].names[0] must be a string, not a number'],
  ])('is rejected with the fault of the message %o', async (message, fault) => {
    const state = await getStopped()
    const error = await getError(
      runAgent(bound, {
        adapter: scriptedAdapter([]),
        state: { ...state, messages: [...state.messages, message] } as RunState,
      }),
    )
    expect(error).toMatchObject({
      code: 'run-state-invalid',
      message: `This is not the state of a run: ${fault}. Pass the state of a result or an error, directly or after a round trip through JSON.`,
    })
  })

  it('is checked in snapshots too, and nothing is partially restored', async () => {
    const session = createSession()
    await runAgent(bound, { adapter: scriptedAdapter([says('Done.')]), session, input: 'Go.' })
    const snapshot = JSON.parse(JSON.stringify(session.snapshot())) as {
      slices: { run: { state: { pending: unknown } } }
    }
    snapshot.slices.run.state.pending = [null]
    expect(() => createSession({ snapshot: snapshot as never })).toThrow(/pending\[0\] must be an object/)
  })

  it('is checked in one pass, however long the conversation is', () => {
    const message = { role: 'tool', callId: 'a', name: 'look', text: 'x', isError: false }
    const messages = Array.from({ length: 50_000 }, () => message)
    expect(readRunState({ version: 1, messages }).messages).toHaveLength(50_000)
  })
})
