import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { recordRuns } from './recorder.ts'
import { type RecorderOptions } from './run-draft.ts'
import { readRecording, type Recording } from './recording.ts'
import type { RunListener } from './runs.ts'

/**
 * Writes each run to its file when the run ends. Overlapping runs each need their own recorder.
 *
 * @example
 * ```ts
 * const recorder: FileRecorder = createFileRecorder('runs.jsonl', { prompt: bound })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * await recorder.saved()
 * ```
 */
export interface FileRecorder extends RunListener {
  /** Rejects if a run could not be written. The run itself does not fail, because recording must not change it. */
  saved(): Promise<void>
}

/**
 * Creates a recorder that writes runs to a file, one line of JSON for each run that has ended. Several processes may
 * write to the same file.
 *
 * @example
 * ```ts
 * const recorder = createFileRecorder('runs.jsonl', { prompt: bound })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * ```
 */
export function createFileRecorder(path: string, options: RecorderOptions): FileRecorder {
  let fault: FoldoutError | undefined
  const { onEvent } = recordRuns(options, (run) => {
    const recording: Recording = { version: 1, runs: [run] }
    try {
      appendLine(path, JSON.stringify(recording))
    } catch (error) {
      fault ??= new FoldoutError(
        'recording-file',
        `A run could not be recorded in '${path}': ${getErrorMessage(error)}. Make the file writable, or choose another.`,
        { cause: error },
      )
    }
  })
  return {
    onEvent,
    saved: () => {
      if (fault) return Promise.reject(fault)
      return Promise.resolve()
    },
  }
}

/** Appends a line in a single write, so lines of several processes do not mix. */
export function appendLine(path: string, line: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'a+')
  try {
    const { size } = fstatSync(file)
    const last = Buffer.alloc(1)
    const isTorn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last.toString('latin1') !== '\n'
    // A process that was killed while writing may have left half a line, which must not spoil this one.
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}\n`)
    if (writeSync(file, bytes) !== bytes.length) throw new Error('only part of it could be written')
  } finally {
    closeSync(file)
  }
}

/**
 * Reads a file that `createFileRecorder` has written. Throws `recording-file` and names the line if a line is not a recording.
 *
 * @example
 * ```ts
 * const recordings = await readRecordingFile('runs.jsonl')
 * ```
 */
export async function readRecordingFile(path: string): Promise<readonly Recording[]> {
  const lines = (await getText(path)).split('\n')
  return lines.flatMap((line, i) => (line.trim() === '' ? [] : [readLine(line, `Line ${i + 1} of '${path}'`)]))
}

async function getText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new FoldoutError(
      'recording-file',
      `The recordings in '${path}' cannot be read: ${getErrorMessage(error)}. Record runs to it first, with createFileRecorder().`,
      { cause: error },
    )
  }
}

function readLine(line: string, place: string): Recording {
  try {
    return readRecording(JSON.parse(line))
  } catch (error) {
    const reason =
      error instanceof SyntaxError ? `It is not valid JSON: ${getErrorMessage(error)}.` : getErrorMessage(error)
    throw new FoldoutError(
      'recording-file',
      `${place} cannot be read. ${reason} To read the other lines, remove this one.`,
      { cause: error },
    )
  }
}
