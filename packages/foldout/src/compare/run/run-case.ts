import { NO_USAGE } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import { getErrorMessage, getErrorType } from '../../core/errors.ts'
import { shorten } from '../../core/text.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { SimulatedUser } from '../contract/arms.ts'
import type { GradedRun } from '../contract/options.ts'
import type { SavedRun } from '../contract/saved.ts'
import { getDigest, getOptionsDigest } from '../file/digests.ts'
import type { TimedEvent } from '../file/saved-lines.ts'
import { gradeRun, type Graders } from '../grade/grade-run.ts'
import { Conversation, type PreparedRun } from './conversation.ts'
import { createMeter } from './meter.ts'

/** What all runs of a comparison share. */
export interface RunTerms<World> {
  readonly graders: Graders<World>
  readonly user: SimulatedUser<World> | undefined
  readonly maxUserTurns: number
  readonly counter: TokenCounter
  /** Whether events are kept. */
  readonly isSaved: boolean
}

/** What a run was is known by its place in the comparison; this is how it went. */
export interface FinishedRun<World> {
  readonly result: Omit<SavedRun, 'type' | 'run' | 'arm' | 'armDigest' | 'case' | 'caseDigest' | 'repeat'>
  readonly events: readonly TimedEvent[]
  /** What it said and did; undefined if it could not begin. */
  readonly graded: GradedRun<World> | undefined
}

const MAX_ERROR = 500

/** Events that say in pieces what another one says as a whole. */
const PIECES: ReadonlySet<AgentEvent['type']> = new Set([
  'text/delta',
  'reasoning/delta',
  'call/delta',
  'output/partial',
])

/** Runs a case in an arm, and grades it. An error becomes part of the result; only a cancelled run rejects. */
export async function runCase<World>(
  prepare: () => Promise<PreparedRun<World>>,
  { graders, isSaved, ...terms }: RunTerms<World>,
  signal: AbortSignal,
): Promise<FinishedRun<World>> {
  const events: TimedEvent[] = []
  const meter = createMeter(terms.counter)
  const onEvent = (event: AgentEvent): void => {
    if (isSaved && !PIECES.has(event.type)) events.push({ at: Date.now(), event })
  }
  let conversation: Conversation<World> | undefined
  let options = ''
  let status: SavedRun['status'] = 'failed'
  let error: string | null = null
  let grades: Readonly<Record<string, number>> = {}
  const began = performance.now()
  let ended: number | undefined
  try {
    const run = await prepare()
    options = getOptionsDigest(run.arm)
    conversation = new Conversation(run, { ...terms, meter, onEvent })
    const reached = await conversation.converse()
    ended = performance.now()
    grades = await gradeRun(graders, conversation.getGraded())
    status = reached
  } catch (failure) {
    signal.throwIfAborted()
    error = shorten(`${getErrorType(failure)}: ${getErrorMessage(failure)}`, MAX_ERROR)
  }
  const model = conversation?.model ?? ''
  return {
    events,
    graded: conversation?.getGraded(),
    result: {
      status,
      error,
      grades,
      score: error === null ? Math.min(1, ...Object.values(grades)) : 0,
      ms: Math.round((ended ?? performance.now()) - began),
      requests: meter.requests,
      usage: conversation?.observer.usage ?? NO_USAGE,
      userUsage: conversation?.userUsage ?? null,
      ...(conversation?.observer.getFacts() ?? NO_FACTS),
      model,
      // What a loop has sent that reports nothing is unknown.
      begins: meter.first === undefined ? '' : getDigest([model, options, meter.first]),
    },
  }
}

const NO_FACTS = { folded: [], opened: [], ahead: [], used: [], readable: [], callsNotOffered: 0 }

/** Works on items with a number of workers at the same time, until `isOver` or an error. Workers finish what they have begun. */
export async function workOff<Item>(
  items: Iterable<Item>,
  { parallel, isOver }: { readonly parallel: number; isOver(): boolean },
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]()
  const errors: Error[] = []
  const worker = async (): Promise<void> => {
    while (errors.length === 0 && !isOver()) {
      const { done, value } = left.next()
      if (done) return
      await work(value).catch((error: unknown) => errors.push(error as Error))
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  const [first] = errors
  if (first) throw first
}
