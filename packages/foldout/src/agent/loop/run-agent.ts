import { ignore } from '../../core/promises.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import { VisibilityExpansionRequired } from '../errors.ts'
import type { AgentEvent } from '../events.ts'
import { createCore } from './core.ts'
import { askSection, openDelegate } from './ask.ts'
import { driveRun, guard, loop } from './drive.ts'
import { createEventQueue, createNotifier } from '../event-queue.ts'
import type { AgentOptions, AgentResult } from '../options.ts'

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
    DELEGATES,
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

const DELEGATES = { ask: askSection, open: openDelegate }

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
    const core = createCore(bound, options, createNotifier(options, push), DELEGATES)
    return { result: driveRun<Output>(core), cancel: core.signal.cancel }
  } catch (error) {
    return { result: Promise.reject(error), cancel: () => undefined }
  }
}
