import { getErrorType } from '../core/errors.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import { LimitReachedError, VisibilityExpansionRequired } from './errors.ts'
import type { AgentEvent } from './events.ts'
import { eventQueue } from './loop/event-queue.ts'
import type { AgentOptions, AgentResult } from './options.ts'
import { createRun, type Run } from './loop/run.ts'

/** A run's events as they happen, and its result. */
export interface AgentStream<Output> extends AsyncIterable<AgentEvent> {
  readonly result: Promise<AgentResult<Output>>
}

/**
 * Runs a prompt on a model until it answers: renders, asks, runs tools, opens what the model opens, and goes on. Events are
 * given by `runAgent.stream`.
 */
export const runAgent = Object.assign(run, { stream })

async function run<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
): Promise<AgentResult<Output>> {
  return drive(bound, options, () => undefined)
}

/** As `runAgent`, but tells what happens while it does: `for await (const event of runAgent.stream(bound, options)) …`. */
function stream<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
): AgentStream<Output> {
  const events = eventQueue<AgentEvent>()
  const result = drive(bound, options, events.push)
  result.then(events.end, events.fail)
  return { result, [Symbol.asyncIterator]: () => events.iterator() }
}

async function drive<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
  push: (event: AgentEvent) => void,
): Promise<AgentResult<Output>> {
  const { maxExpansions = 10 } = options
  return telling(bound, options, push, async (run) => {
    for (;;) {
      const ended = await run.evaluate()
      if (ended.type === 'expansion') {
        if (run.state.expansions >= maxExpansions) {
          throw new LimitReachedError(
            'expansions',
            `The model has opened sections in ${maxExpansions} new renders and asks for ${ended.expansion.keys.join(', ')}. Raise maxExpansions, or show these sections in full from the start.`,
            run.state,
          )
        }
        await run.expand(ended.expansion, ended.left)
        continue
      }
      const result = await run.finish(ended)
      if (result !== 'repair') return result as AgentResult<Output>
    }
  })
}

/**
 * One evaluation, for callers who loop themselves: gives the result, or throws {@link VisibilityExpansionRequired} when the
 * model has opened something that needs a new render. Set what it requests in the session and evaluate again.
 */
export async function evaluate<Params, Keys extends string, Output>(
  bound: BoundPrompt<Params, Keys, Output>,
  options: AgentOptions<Keys>,
): Promise<AgentResult<Output>> {
  return telling(
    bound,
    options,
    () => undefined,
    async (run) => {
      for (;;) {
        const ended = await run.evaluate()
        if (ended.type === 'expansion') {
          const { keys, paths, reason } = ended.expansion
          throw new VisibilityExpansionRequired({
            requestedOverrides: Object.fromEntries(paths.map((path) => [path, 'full' as const])),
            reason,
            sectionKeys: keys,
            usage: run.state.usage,
          })
        }
        const result = await run.finish(ended)
        if (result !== 'repair') return result as AgentResult<Output>
      }
    },
  )
}

/** Makes a run and tells if it throws. */
async function telling<Result>(
  bound: Pick<BoundPrompt, 'render'>,
  options: AgentOptions,
  push: (event: AgentEvent) => void,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const tell = createTeller(options, push)
  try {
    return await work(createRun(bound, options, tell))
  } catch (error) {
    tell({ type: 'run/failed', errorType: getErrorType(error) })
    throw error
  }
}

/** Tells everyone who listens. What a listener throws is its own affair. */
function createTeller(options: AgentOptions, push: (event: AgentEvent) => void): (event: AgentEvent) => void {
  return (event) => {
    push(event)
    try {
      options.onEvent?.(event)
    } catch {
      // Watching a run must not change it.
    }
  }
}
