import type { AgentEvent } from '../agent/events.ts'
import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { MAX_WAITING_RECORD_CHARACTERS } from './limits.ts'
import { appendLine } from './record-file.ts'
import type { RunListener } from './runs.ts'

/**
 * Options of {@link recordRun}.
 *
 * @example
 * ```ts
 * const options: RecordRunOptions = { to: 'conversation.jsonl' }
 * ```
 */
export interface RecordRunOptions {
  /** A file, to which lines are appended; or the address that `foldout inspect` printed, whose page follows the run. */
  readonly to: string
}

/**
 * One line of a recorded run: one event of the run.
 *
 * @example
 * ```ts
 * await runAgent(bound, { adapter, onEvent: recordRun({ to: 'conversation.jsonl' }).onEvent })
 * const [line] = (await readFile('conversation.jsonl', 'utf8')).split('\n')
 * const { at, event }: RunLine = JSON.parse(line ?? '')
 * console.log(new Date(at), event.type)
 * ```
 */
export interface RunLine {
  readonly version: 1
  /** Distinguishes runs in one file. */
  readonly run: string
  /** The time in milliseconds since 1970. */
  readonly at: number
  readonly event: AgentEvent
}

/**
 * Records the events of runs, with all texts. Overlapping runs each need their own recorder.
 *
 * @example
 * ```ts
 * const recorder: RunRecorder = recordRun({ to: 'conversation.jsonl' })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * await recorder.saved()
 * ```
 */
export interface RunRecorder extends RunListener {
  /**
   * Resolves when everything so far is written; rejects if something could not be written. The run itself does not
   * fail.
   */
  saved(): Promise<void>
}

/** Events with parts of texts as they arrive; the whole text follows in another event. */
const PARTS: ReadonlySet<AgentEvent['type']> = new Set(['text/delta', 'reasoning/delta', 'call/delta'])

/**
 * Records a run to a file or to the inspector, which shows it live. Unlike `createFileRecorder`, which records only
 * numbers and names, it keeps all texts, so the file is as secret as the conversation.
 *
 * @example
 * ```ts
 * await runAgent(bound, { adapter, onEvent: recordRun({ to: 'conversation.jsonl' }).onEvent })
 * ```
 */
export function recordRun({ to }: RecordRunOptions): RunRecorder {
  const target = /^https?:/.test(to) ? openInspector(to) : openFile(to)
  let run: string | undefined
  let fault: FoldoutError | undefined
  const fail = (error: unknown): void => {
    fault ??= new FoldoutError(
      'recording-file',
      `A run could not be recorded in '${to}': ${getErrorMessage(error)}. Name a file that can be written, or the address that foldout inspect printed.`,
      { cause: error },
    )
  }
  return {
    onEvent(event) {
      if (event.type === 'run/started') run = crypto.randomUUID()
      if (run === undefined || fault || PARTS.has(event.type)) return
      try {
        target.write(JSON.stringify({ version: 1, run, at: Date.now(), event } satisfies RunLine), fail)
      } catch (error) {
        fail(error)
      }
    },
    async saved() {
      await target.settled()
      if (fault) throw fault
    },
  }
}

interface Target {
  write(line: string, fail: (error: unknown) => void): void
  settled(): Promise<void>
}

function openFile(path: string): Target {
  return { write: (line) => appendLine(path, line), settled: () => Promise.resolve() }
}

/** Sends lines in order, with all waiting lines in one request. */
function openInspector(address: string): Target {
  const url = new URL('api/runs/record', address)
  // A mistake in an address must not send a conversation to another machine.
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname))
    throw new FoldoutError(
      'recording-file',
      `Runs are recorded to a file or to an inspector on this machine, not to '${url.host}'.`,
    )
  let waiting: string[] = []
  let size = 0
  let sending: Promise<void> | undefined
  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const body = `{"lines":[${waiting.join(',')}]}`
      waiting = []
      size = 0
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`the inspector answered with ${response.status}`)
    }
  }
  return {
    write(line, fail) {
      size += line.length
      if (size > MAX_WAITING_RECORD_CHARACTERS) throw new Error('the inspector is too slow')
      waiting.push(line)
      sending ??= send()
        .catch(fail)
        .finally(() => (sending = undefined))
    },
    async settled() {
      await sending
    },
  }
}
