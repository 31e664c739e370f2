import { getErrorMessage, getErrorType, isInstance } from '../core/errors.ts'
import { ignore } from '../core/promises.ts'
import type { KeptSession } from '../session/stores/store.ts'
import { holdLease } from '../session/stores/lease.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import { LimitReachedError, RunAbortedError, VisibilityExpansionRequired, withRunState } from './errors.ts'
import type { AgentEvent } from './events.ts'
import { checkAnswers } from './loop/answers.ts'
import { beginConversation } from './loop/conversation.ts'
import { createCore, type RunCore } from './loop/core.ts'
import { createEventQueue, createNotifier } from './event-queue.ts'
import { evaluate, finish, getStoredResult, restart } from './loop/run.ts'
import type { AgentOptions, AgentResult } from './options.ts'

/**
 * The events of a run as they happen, and its result. Leaving the stream early cancels the run.
 *
 * @example
 * ```ts
 * const stream: AgentStream<unknown> = streamAgent(bound, { adapter, input: 'Go.' })
 * for await (const event of stream) if (event.type === 'text/delta') process.stdout.write(event.text)
 * const { status } = await stream.result
 * status // => 'completed'
 * ```
 */
export interface AgentStream<Output> extends AsyncIterable<AgentEvent<Output>> {
  readonly result: Promise<AgentResult<Output>>
}

/**
 * Runs a prompt on a model until it answers: renders the prompt, sends requests, runs tools and opens sections. A
 * session has one live run at a time. Every error that it throws carries the run's state (`getRunState`).
 *
 * @example
 * ```ts
 * const result = await runAgent(bound, { adapter, session: createSession(), input: 'Refactor the login.' })
 * console.log(result.text, result.usage)
 * ```
 */
export async function runAgent<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
): Promise<AgentResult<Output>> {
  return start(bound, options, () => undefined).result
}

/**
 * Like `runAgent`, but streams events as they happen. Leaving the loop early (`break`) cancels the run.
 *
 * @example
 * ```ts
 * const stream = streamAgent(bound, { adapter, input: 'Go.' })
 * for await (const event of stream) if (event.type === 'text/delta') process.stdout.write(event.text)
 * const result = await stream.result
 * ```
 */
export function streamAgent<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
): AgentStream<Output> {
  const events = createEventQueue<AgentEvent<Output>>()
  const { result, cancel } = start(bound, options, (event) => events.push(event as AgentEvent<Output>))
  result.then(events.end, events.fail)
  const leave = async (): Promise<void> => {
    cancel(new Error('The reader left the stream before the run ended.'))
    await ignore(result, 'its result is a promise of its own')
  }
  return { result, [Symbol.asyncIterator]: () => events.iterate(leave) }
}

/**
 * Runs one evaluation, for callers with their own loop. Returns the result, or throws {@link
 * VisibilityExpansionRequired} when the model has opened something that needs a new render. Set the requested overrides
 * in the session and evaluate again.
 *
 * @example
 * ```ts
 * try {
 *   const result = await evaluatePrompt(bound, { adapter, session, input: 'Go.' })
 * } catch (error) {
 *   if (!(error instanceof VisibilityExpansionRequired)) throw error
 *   // Set error.requestedOverrides in the session and evaluate again.
 * }
 * ```
 */
export async function evaluatePrompt<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
): Promise<AgentResult<Output>> {
  const core = createCore(
    bound,
    options,
    createNotifier(options, () => undefined),
  )
  return guard<Output>(core, () =>
    loop(core, async (ended) => {
      const { keys, paths, reason } = ended.expansion
      await core.journal.saved()
      throw new VisibilityExpansionRequired({
        requestedOverrides: Object.fromEntries(paths.map((path) => [path, 'full' as const])),
        reason,
        sectionKeys: keys,
        usage: core.journal.state.usage,
      })
    }),
  )
}

interface StartedRun<Output> {
  readonly result: Promise<AgentResult<Output>>
  cancel(reason: Error): void
}

function start<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
  push: (event: AgentEvent) => void,
): StartedRun<Output> {
  try {
    const core = createCore(bound, options, createNotifier(options, push))
    const result = guard<Output>(core, () => loop(core, (ended) => restart(core, ended)))
    return { result, cancel: core.signal.cancel }
  } catch (error) {
    return { result: Promise.reject(error), cancel: () => undefined }
  }
}

/** Evaluates until the run has a result. */
async function loop(
  core: RunCore,
  onRestart: (ended: Parameters<typeof restart>[1]) => Promise<void>,
): Promise<AgentResult> {
  await takeLease(core)
  checkAnswers(core)
  const stored = getStoredResult(core)
  if (stored) return stored
  beginConversation(core)
  for (;;) {
    const ended = await evaluate(core)
    if (ended.type === 'restart') {
      await onRestart(ended)
      continue
    }
    const result = await finish(core, ended)
    if (result) return result
  }
}

/** Claims a stored session against runs of other processes. */
async function takeLease(core: RunCore): Promise<void> {
  const { session, options, signal } = core
  const { id, store, sync } = session as Partial<KeptSession>
  if (id === undefined || store === undefined || sync === undefined) return
  core.check()
  core.lease = await holdLease({
    ...options.lease,
    store,
    id,
    signal: signal.signal,
    onLost(error) {
      core.lost = error
      signal.cancel(error)
    },
  })
  // The other run may have gone on after the session was opened here.
  if (core.lease.isTaken) await sync()
}

/** Runs to the end, releases the session, and attaches the run's state to errors. */
async function guard<Output>(core: RunCore, work: () => Promise<AgentResult>): Promise<AgentResult<Output>> {
  try {
    return (await work()) as AgentResult<Output>
  } catch (thrown) {
    const error = withRunState(explain(core, thrown), core.journal.state)
    core.tell({ type: 'run/failed', errorType: getErrorType(error) })
    // The run has already failed, so errors of the store add nothing.
    await ignore(core.journal.saved(), 'the run has already failed')
    throw error
  } finally {
    await releaseLease(core)
    core.release()
  }
}

async function releaseLease({ lease, tell }: RunCore): Promise<void> {
  try {
    await lease?.release()
  } catch (error) {
    // The result stands. The lease lapses by itself.
    tell({ type: 'warning', message: `The lease of the session was not released: ${getErrorMessage(error)}` })
  }
}

/** Reports the cause that ended a run rather than its consequences. */
function explain({ signal, journal, lost }: RunCore, thrown: unknown): unknown {
  if (lost) return lost
  const isExplained = isInstance(thrown, LimitReachedError) || isInstance(thrown, RunAbortedError)
  return signal.signal.aborted && !isExplained ? signal.getError(journal.state) : thrown
}
