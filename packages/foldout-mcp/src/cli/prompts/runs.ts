import { readFile } from 'node:fs/promises'
import type { RecordedRun, Recording } from 'foldout/telemetry'
import { readRecordingFile } from 'foldout/node'
import { UsageError } from '../../gateway/config/config.ts'
import { requireFile } from '../../gateway/config/text-file.ts'
import { createRunStore } from '../../inspector/runs/store.ts'
import { dropUndefined, isObject } from 'foldout-shared/values'
import type { LoadedPrompt } from '../support/prompt-module.ts'

/** Reads the recorded runs that the user named. */
export async function readRuns(file: string): Promise<readonly Recording[]> {
  await requireFile(file)
  return readRecordingFile(file).catch((error: Error) => {
    throw new UsageError(error.message, { cause: error })
  })
}

/** A recorded run of a prompt. */
interface PromptRun {
  readonly run: RecordedRun
  /** What the user said, if the file has it. */
  readonly input?: string
}

/** What a file of runs has: numbers, or events, which have what users said. */
type Recorded = { readonly recordings: readonly Recording[] } | { readonly events: readonly unknown[] }

export async function readRecorded(file: string): Promise<Recorded> {
  await requireFile(file)
  const events = await readEvents(file)
  return events ? { events } : { recordings: await readRuns(file) }
}

/** Reads the runs of a prompt. */
export async function readPromptRuns(file: string, loaded: LoadedPrompt): Promise<readonly PromptRun[]> {
  return selectPromptRuns(file, await readRecorded(file), loaded)
}

export function selectPromptRuns(file: string, recorded: Recorded, loaded: LoadedPrompt): readonly PromptRun[] {
  const { ns, key } = loaded.bound.prompt
  const runs =
    'events' in recorded
      ? recordAgain(recorded.events, loaded)
      : recorded.recordings.flatMap((each) => each.runs.map(toRun))
  const own = runs.filter(({ run }) => run.prompt.ns === ns && run.prompt.key === key && run.requests.length > 0)
  if (own.length === 0) throw new UsageError(`${file} has no run of the prompt ${ns}/${key}.`)
  return own
}

const toRun = (run: RecordedRun): PromptRun => ({ run })

/** Reads the lines of `recordRun`; undefined if the file is another recording. */
async function readEvents(file: string): Promise<readonly unknown[] | undefined> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '')
  const read = lines.map((line): unknown => {
    try {
      return JSON.parse(line)
    } catch {
      return undefined
    }
  })
  return read.some((line) => isObject(line) && 'event' in line) ? read : undefined
}

/** Records events again, as a recorder of the run would have. */
function recordAgain(events: readonly unknown[], { bound, telemetry }: LoadedPrompt): readonly PromptRun[] {
  const store = createRunStore()
  store.add(events)
  return store.runs.toReversed().flatMap(({ steps, summary }) => {
    if (summary.prompt !== `${bound.prompt.ns}/${bound.prompt.key}`) return []
    const recorder = telemetry.createRecorder({ prompt: bound })
    let input: string | undefined
    for (const { event } of steps) {
      if (event.type === 'run/started') input ??= event.input
      // The store has everything that the recorder reads, but less than a run's own events.
      if (event.type !== 'cache/missed') recorder.onEvent(event as Parameters<typeof recorder.onEvent>[0])
    }
    return recorder.recording().runs.map((run) => ({ run, ...dropUndefined({ input }) }))
  })
}
