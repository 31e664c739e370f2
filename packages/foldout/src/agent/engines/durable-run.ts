import type { DurableRunOptions, RunAddress, RunFlow, RunPage, RunStartOptions, RunStatus } from './contract.ts'
import { isObject } from 'foldout-shared/values'
import type { AssistantMessage } from '../../adapters/contract.ts'
import { type AgentInput, assertAccepted, toUserMessage } from '../input.ts'
import { FoldoutError } from '../../core/errors.ts'
import type { KeptSession } from '../../session/stores/open-session.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../state/approvals.ts'
import { findRequest, listWaiting } from '../loop/answers.ts'
import { agentRun, getLastMessage, toRunState } from '../state/run-state.ts'
import type { AnyResult } from '../options.ts'
import { advance, bindPrompt, openRun, retryConflicts } from './advance.ts'
import type { AgentEvent } from '../events.ts'
import { holdLiveReply } from './live-reply.ts'
import { createUnknownRunError } from './local-engine.ts'
import { followRun, type RunEvent, type RunEventsOptions } from './run-events.ts'

/**
 * A kind of durable run.
 *
 * @example
 * ```ts
 * const support: DurableRun = defineRun({ name: 'support', engine, store, prompt: prompt.bind(values), adapter })
 * await support.list()
 * ```
 */
export interface DurableRun<Output = unknown> {
  readonly name: string
  readonly options: DurableRunOptions<Output>
  /** The runs of this kind, the newest first. */
  list(page?: RunPage): Promise<readonly RunStatus[]>
}

/**
 * Defines a kind of run that outlives the process: each model request and each call is journaled in the store, and if a
 * machine dies, the engine lets another one continue. A call that was completed is never repeated. One that was
 * interrupted is repeated only if its tool is read-only or idempotent; otherwise the model reads that its outcome is
 * unknown (`interruptedCalls: 'ask'` asks a person).
 *
 * @example
 * ```ts
 * const support = defineRun({ name: 'support', engine, store, prompt: prompt.bind(values), adapter })
 * const run = await startRun(support, { id: 'ticket-17', input: 'Where is my parcel?' })
 * const { text } = await run.result()
 * ```
 */
export function defineRun<Output>(options: DurableRunOptions<Output>): DurableRun<Output> {
  const { name, engine } = options
  checkEngine(engine)
  engine.define(name, async (flow) => {
    const outcome = await flow.step('run', (signal) => work(options, flow, signal))
    if (outcome === 'waiting') return flow.wait('approval')
    return { status: 'done', outcome }
  })
  return { name, options, list: (page) => engine.list(name, page) }
}

/** Works on a run, and shows those who follow it here what the model is writing. */
async function work<Output>(
  options: DurableRunOptions<Output>,
  flow: RunFlow,
  signal: AbortSignal,
): ReturnType<typeof advance> {
  const { reply, release } = holdLiveReply(options.engine, { kind: options.name, id: flow.id })
  const onEvent = (event: AgentEvent): unknown => {
    reply.tell(event)
    return options.onEvent?.(event)
  }
  try {
    return await advance({ ...options, onEvent }, flow, signal)
  } finally {
    reply.end()
    release()
  }
}

function checkEngine(engine: unknown): void {
  if (isObject(engine) && typeof engine['define'] === 'function') return
  throw new FoldoutError(
    'engine-invalid',
    'The engine of a run must be an object, such as createLocalEngine() returns. For several machines, run npm install foldout-fleet and pass what its createDbosEngine() returns.',
  )
}

/**
 * Options of {@link startRun}.
 *
 * @example
 * ```ts
 * const options: StartedRunOptions = { id: 'ticket-17', input: 'Where is my parcel?', priority: 1 }
 * ```
 */
export interface StartedRunOptions extends RunStartOptions {
  /** Identifies the run among those of its kind. Default: a random one. */
  readonly id?: string
  /** The user input. Default `Begin.` */
  readonly input?: AgentInput
}

/**
 * A durable run, as seen from any machine.
 *
 * @example
 * ```ts
 * const run: RunHandle = getRun(support, 'ticket-17')
 * for (const request of await run.approvals()) await run.signal('approval', { ...request, approved: true })
 * ```
 */
export interface RunHandle<Output = unknown> {
  readonly id: string
  status(): Promise<RunStatus>
  /** The calls that wait for a person. */
  approvals(): Promise<readonly ApprovalRequest[]>
  /**
   * Answers a call that waits for a person. The answer holds for exactly that call, and the first one counts: later
   * ones are rejected with `approval-used`.
   */
  signal(topic: 'approval', value: ApprovalAnswer): Promise<void>
  /**
   * Follows the run: what it has done so far, and what it does next, until it ends or waits for a person. Leaving the
   * loop does not end the run. Rejects with `run-failed` or `run-cancelled` if the run did.
   */
  events(options?: RunEventsOptions): AsyncIterable<RunEvent>
  /** Continues a failed run where its journal ends. */
  resume(): Promise<void>
  /** Ends the run. The machine that works on it cannot write to its session anymore. */
  cancel(): Promise<void>
  /**
   * Waits for the end of the run, even for days. Rejects with `run-failed` or `run-cancelled` if it did not complete.
   */
  result(options?: { readonly signal?: AbortSignal }): Promise<DurableResult<Output>>
}

/**
 * The result of a durable run, from its journal.
 *
 * @example
 * ```ts
 * const { status, text }: DurableResult = await run.result()
 * ```
 */
export type DurableResult<Output = unknown> = Pick<AnyResult, 'text' | 'messages' | 'usage' | 'totalUsage' | 'state'> &
  (
    | { readonly status: 'completed'; readonly output: Output }
    /** `cut`: why the last reply is not whole, if it is not. */
    | { readonly status: 'stopped'; readonly cut?: AssistantMessage['cut']; readonly output?: undefined }
  )

/**
 * Starts a run, or returns the one that was started with this id. The input is in the store when the promise resolves.
 *
 * @example
 * ```ts
 * const run = await startRun(support, { id: 'ticket-17', input: 'Where is my parcel?' })
 * ```
 */
export async function startRun<Output>(
  run: DurableRun<Output>,
  { id = crypto.randomUUID(), input, ...start }: StartedRunOptions = {},
): Promise<RunHandle<Output>> {
  const message = toUserMessage(input ?? 'Begin.')
  assertAccepted(message, run.options.adapter)
  // The journal comes first: the engine knows only that there is a run. A second caller finds that the run has begun.
  await retryConflicts(async () => {
    const session = await openRun(run.options, id)
    if (session.get(agentRun).status !== 'new') return
    session.dispatch(agentRun.events.started({ messages: [message], id: crypto.randomUUID() }))
    await session.saved()
  })
  await run.options.engine.start({ kind: run.name, id }, start)
  return getRun(run, id)
}

/**
 * Returns the handle of a run that was started, here or on another machine.
 *
 * @example
 * ```ts
 * await getRun(support, 'ticket-17').cancel()
 * ```
 */
export function getRun<Output>(run: DurableRun<Output>, id: string): RunHandle<Output> {
  const { engine } = run.options
  const address: RunAddress = { kind: run.name, id }
  const getStatus = async (): Promise<RunStatus> => {
    const status = await engine.getStatus(address)
    if (!status) throw createUnknownRunError(address)
    return status
  }
  return {
    id,
    status: getStatus,
    async approvals() {
      return listWaiting((await openRun(run.options, id)).get(agentRun))
    },
    async signal(topic, value) {
      checkTopic(topic)
      checkWaiting(await openRun(run.options, id), value)
      const { callId, digest, approved, reason } = value
      const answer: ApprovalAnswer = { callId, digest, approved, ...(reason !== undefined && { reason }) }
      if (!(await engine.signal(address, { topic, key: digest, value: answer }))) throw createUsed(callId)
    },
    async resume() {
      await engine.signal(address, { topic: 'resume', key: crypto.randomUUID(), value: null })
    },
    async cancel() {
      await getStatus()
      await retryConflicts(async () => {
        const session = await openRun(run.options, id)
        const { status } = session.get(agentRun)
        if (status === 'completed' || status === 'cancelled') return
        // This event takes the number that the working machine would use next, so from now on its writes are rejected.
        session.dispatch(agentRun.events.cancelled())
        await session.saved()
      })
      await engine.cancel(address)
    },
    async result({ signal } = {}) {
      throwIfLost(await waitForEnd(getStatus, signal))
      return readResult(run.options, id)
    },
    events: (options = {}) => followRun(run.options, address, { ...options, throwEnd: throwIfLost }),
  }
}

function throwIfLost({ id, status, outcome, error }: RunStatus): void {
  if (status === 'cancelled' || outcome === 'cancelled')
    throw new FoldoutError('run-cancelled', `The run '${id}' was cancelled.`)
  if (status === 'failed') throw new FoldoutError('run-failed', `The run '${id}' failed: ${error}`)
}

function checkTopic(topic: string): void {
  if (topic === 'approval') return
  throw new FoldoutError('approval-invalid', `A run does not wait for '${topic}'. Signal 'approval' with an answer.`)
}

/**
 * Throws unless a call waits for this answer. The engine decides who was first; this check gives everyone else a clear
 * error.
 */
function checkWaiting(session: KeptSession, { callId, digest }: ApprovalAnswer): void {
  const held = findRequest(session.get(agentRun), callId)
  if (held?.digest === digest && !held.answer) return
  if (held?.answer) throw createUsed(callId)
  throw new FoldoutError(
    'approval-unknown',
    `No call '${callId}' waits for this answer: it was answered, belongs to another run, or was asked about again since. Answer what approvals() lists now.`,
  )
}

function createUsed(callId: string): FoldoutError {
  return new FoldoutError('approval-used', `The call '${callId}' was answered before, and an answer counts once.`)
}

const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 1000

async function waitForEnd(getStatus: () => Promise<RunStatus>, signal: AbortSignal | undefined): Promise<RunStatus> {
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
    signal?.throwIfAborted()
    const status = await getStatus()
    if (status.status !== 'active' && status.status !== 'waiting') return status
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

async function readResult<Output>(options: DurableRunOptions<Output>, id: string): Promise<DurableResult<Output>> {
  const session = await openRun(options, id)
  const state = toRunState(session.get(agentRun))
  const last = getLastMessage(state)
  const text = state.answer ?? (last?.role === 'assistant' ? last.text : '')
  const { messages, usage, totalUsage } = state
  const fields = { text, messages, usage, totalUsage, state }
  if (state.status !== 'completed')
    return { ...fields, status: 'stopped', ...(last?.role === 'assistant' && last.cut && { cut: last.cut }) }
  const output = (await bindPrompt(options, id)).render({ session }).output?.parse(text)
  return { ...fields, status: 'completed', output: output as Output }
}
