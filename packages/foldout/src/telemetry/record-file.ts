import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { recordRuns, type RecorderOptions } from './recorder.ts'
import { readRecording, type Recording } from './recording.ts'
import type { RunListener } from './runs.ts'

/** Writes down each run of one after the other as it ends. Runs that go on side by side each need one of their own. */
export interface FileRecorder extends RunListener {
  /** Rejects if a run could not be written: watching a run must not change it, so the run itself does not fail. */
  saved(): Promise<void>
}

/** Records runs to a file, to which several processes may write: each run that has ended is one line of JSON at its end. */
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
    saved: () => (fault ? Promise.reject(fault) : Promise.resolve()),
  }
}

/** In one write to the end of the file, which no other process can come between. */
function appendLine(path: string, line: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'a+')
  try {
    const { size } = fstatSync(file)
    const last = Buffer.alloc(1)
    const isTorn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last.toString('latin1') !== '\n'
    // What a process left that was killed while it wrote must not spoil this line too.
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}\n`)
    if (writeSync(file, bytes) !== bytes.length) throw new Error('only a part of it could be written')
  } finally {
    closeSync(file)
  }
}

/** Reads what `createFileRecorder` has written. */
export async function readRecordingFile(path: string): Promise<readonly Recording[]> {
  const lines = (await getText(path)).split('\n')
  return lines.flatMap((line, i) => (line.trim() === '' ? [] : [readLine(line, `${path}:${i + 1}`)]))
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
    throw new FoldoutError(
      'recording-file',
      `The line ${place} is no recording and was not read: ${getErrorMessage(error)} Remove the line, and read the file again.`,
      { cause: error },
    )
  }
}
