import { checkRates } from '../adapters/usage/price-usage.ts'
import { type RecorderOptions, draftRun, type RunDraft } from './run-draft.ts'
import type { RecordedRun, Recording } from './recording.ts'
import { watchRuns, type RunListener } from './runs.ts'

/**
 * Records runs, one after another. Overlapping runs each need their own recorder.
 *
 * @example
 * ```ts
 * const recorder: Recorder = createRecorder({ prompt: bound })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * recorder.recording().runs.length
 * ```
 */
export interface Recorder extends RunListener {
  /** All runs so far, including one that is not finished yet. */
  recording(): Recording
}

/**
 * Creates a recorder in memory. It only listens, so it does not change the run.
 *
 * @example
 * ```ts
 * const recorder = createRecorder({ prompt: bound })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * for (const { message } of advise([recorder.recording()], { prompt: bound })) console.log(message)
 * ```
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const runs: RecordedRun[] = []
  const listener = recordRuns(options, (run) => runs.push(run))
  return {
    onEvent: listener.onEvent,
    recording: () => {
      const current = listener.current()
      return { version: 1, runs: current ? [...runs, current] : [...runs] }
    },
  }
}

interface RunRecorder extends RunListener {
  /** The run that is not finished yet. */
  current(): RecordedRun | undefined
}

/** Records runs and passes each one to `onRun` as soon as it has ended. */
export function recordRuns(options: RecorderOptions, onRun: (run: RecordedRun) => void): RunRecorder {
  if (options.rates) checkRates('rates', options.rates, 'rates-invalid')
  let draft: RunDraft | undefined
  const listener = watchRuns({
    begins: () => (draft = draftRun(options)),
    tells: (event) => draft?.onEvent(event),
    ends: (end) => {
      const run = draft?.finish(end)
      draft = undefined
      if (run) onRun(run)
    },
  })
  return { ...listener, current: () => draft?.preview() }
}
