import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { chatAdapter } from '../entries/adapter.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  fail,
  ok,
  openSession,
  runAgent,
  type AgentResult,
  type OpeningPolicy,
  type RunState,
  type Session,
} from '../entries/index.ts'
import { createLibsqlStore } from '../entries/libsql.ts'
import { visibility } from '../entries/session.ts'
import { fold, named, show } from './run.fixtures.ts'
import { removeFolder } from '../../../../test/remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-approval-'))
afterAll(() => removeFolder(folder))

const sum = defineSlice({
  name: 'sum',
  initial: [] as readonly number[],
  reducers: { added: (state, n: number) => [...state, n].sort((a, b) => a - b) },
})

type Kind = 'free' | 'ask' | 'alone' | 'fails' | 'read' | 'unlock'
interface Step {
  readonly kind: Kind
  readonly n: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('free', 'ask', 'ask', 'alone', 'fails', 'read', 'unlock'),
  n: fc.nat(50),
})
const plans = fc.record({
  replies: fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
  /** The order in which a person answers, and how many at a time. */
  answers: fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }),
  where: fc.constantFrom('memory', 'json', 'libsql'),
  dynamic: fc.boolean(),
  opening: fc.constantFrom<OpeningPolicy[]>('eager', 'conservative', 'batched'),
})
type Plan = typeof plans extends fc.Arbitrary<infer T> ? T : never

/** A prompt whose tools record their effects, with or without approval. */
function createBound(done: number[], isAsking: boolean) {
  const tool = (name: string, options: { readonly exclusive?: boolean; readonly isAsking?: boolean } = {}) =>
    defineTool({
      name,
      description: name,
      params: z.object({ n: z.number(), id: z.number() }),
      exclusive: options.exclusive ?? false,
      needsApproval: (options.isAsking ?? false) && isAsking,
      execute: async ({ n, id }, { session }) => {
        done.push(id)
        if (name === 'fails') return fail(`${n} fails.`)
        if (n % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
        session.dispatch(sum.events.added(n))
        return ok(`${name} ${n}.`)
      },
    })
  const unlock = defineTool({
    name: 'unlock',
    description: 'Opens the vault.',
    params: z.object({ n: z.number(), id: z.number() }),
    execute: (_, { session }) => (
      session.dispatch(visibility.events.set({ path: 'vault', visibility: 'full' })),
      ok('Unlocked.')
    ),
  })
  const asks = [tool('ask', { isAsking: true }), tool('alone', { exclusive: true, isAsking: true })]
  return definePrompt({
    ns: 't',
    key: 't',
    sections: [
      show('desk', tool('free'), tool('fails'), ...asks, unlock),
      fold('vault', named('take')),
      fold('shed', named('dig')),
      defineSection({ key: 'plain', title: 'Plain', template: 'Plain text.', summary: 'Some.', visibility: 'summary' }),
    ],
  }).bind()
}

/** Derives the next reply from the conversation alone, like a model. */
function createModel({ replies, dynamic }: Pick<Plan, 'replies' | 'dynamic'>) {
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
  const model = chatAdapter({
    name: 'test',
    model: 'test',
    async complete({ messages }) {
      const turn = messages.filter(({ role }) => role === 'assistant').length
      const keys = ['vault', 'shed', 'plain']
      const toolCalls = (replies[turn] ?? []).map(({ kind, n }, i) => ({
        id: `call-${turn}-${i}`,
        name: kind === 'read' ? 'read_section' : kind,
        arguments: kind === 'read' ? { section_key: keys[n % 3] } : { n, id: turn * 10 + i },
      }))
      return { message: { role: 'assistant', text: toolCalls.length === 0 ? 'Done.' : '', toolCalls }, usage }
    },
  })
  return { ...model, supportsDynamicTools: dynamic }
}

let stores = 0

/** Runs with pauses: whenever calls wait, some are approved, and each time another process continues. */
async function runWithPauses(plan: Plan) {
  const { answers, where, opening } = plan
  const done: number[] = []
  const path = join(folder, `${++stores}.db`)
  let session: Session = createSession({ slices: [sum] })
  let state: RunState | undefined
  let result: AgentResult | undefined
  let pauses = 0
  for (let round = 0; result?.status !== 'completed'; round++) {
    expect(round).toBeLessThan(60)
    const store = where === 'libsql' ? await createLibsqlStore({ path }) : undefined
    if (store) session = await openSession({ store, id: 'run', slices: [sum] })
    // The session is serialized along with the state, as between two processes.
    if (where === 'json' && result) {
      const snapshot = JSON.parse(JSON.stringify(session.snapshot())) as ReturnType<Session['snapshot']>
      session = createSession({ slices: [sum], snapshot })
      state = JSON.parse(JSON.stringify(result.state)) as RunState
    }
    const waiting = result?.approvals ?? []
    const first = answers[round % answers.length]!
    const chosen = waiting.filter((_, i) => i % 4 >= first || i === waiting.length - 1)
    result = await runAgent(createBound(done, true), {
      adapter: createModel(plan),
      session,
      opening,
      ...(round === 0 ? { input: 'Go.' } : {}),
      ...(state ? { state } : {}),
      // Some runs pass no answers.
      ...(round % 5 === 3 ? {} : { approvals: chosen.map((request) => ({ ...request, approved: true })) }),
    })
    if (result.status === 'waiting') pauses++
    await store?.close()
  }
  return { messages: result.messages, done, sum: session.get(sum), pauses }
}

describe('R66 R39 a run with pauses', () => {
  it(
    'ends with the same conversation as one without pauses, and each approved call has run exactly once',
    { timeout: 180_000 },
    async () => {
      let paused = 0
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => {
          const session = createSession({ slices: [sum] })
          const done: number[] = []
          const straight = await runAgent(createBound(done, false), {
            adapter: createModel(plan),
            session,
            opening: plan.opening,
            input: 'Go.',
          })
          const stopped = await runWithPauses(plan)
          paused += stopped.pauses
          expect(stopped.messages).toEqual(straight.messages)
          expect(new Set(stopped.done)).toEqual(new Set(done))
          expect(new Set(stopped.done).size).toBe(stopped.done.length)
          expect(stopped.sum).toEqual(session.get(sum))
        }),
        { numRuns: 60 },
      )
      expect(paused).toBeGreaterThan(20)
    },
  )
})
