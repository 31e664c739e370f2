import { randomUUID } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../config/config.ts'
import { MAX_WAITING_CHARACTERS } from './limits.ts'
import { TrafficLines } from './lines.ts'
import type { TrafficLine } from './recording.ts'
import type { Redactor } from '../policy/secrets/redact.ts'
import type { OnTraffic } from './traffic.ts'

/** Writes traffic to a file, one line of JSON per client action. */
export interface TrafficRecorder {
  readonly onTraffic: OnTraffic
  /** Resolves when everything is written, or it is clear that it cannot be. */
  close(): Promise<void>
}

export interface TrafficRecorderOptions {
  readonly redactor: Redactor
  readonly version: string
  /** Called once, if the file can no longer be written. The gateway continues without it. */
  readonly onProblem: (message: string) => void
}

/** @throws UsageError if the file cannot be opened, so that a missing recording is noticed at the start. */
export async function recordTraffic(
  file: string,
  { redactor, version, onProblem }: TrafficRecorderOptions,
): Promise<TrafficRecorder> {
  const stream = (await openRecording(file)).createWriteStream()
  let hasFailed = false
  const fail = (reason: string): void => {
    if (!hasFailed) onProblem(`Traffic is no longer recorded in ${file}: ${reason}`)
    hasFailed = true
  }
  stream.on('error', (error) => fail(error.message))
  const write = (line: TrafficLine): void => {
    if (hasFailed) return
    if (stream.writableLength > MAX_WAITING_CHARACTERS) return fail('the disk is too slow.')
    stream.write(`${JSON.stringify(line)}\n`)
  }
  const run = randomUUID().slice(0, 8)
  const lines = new TrafficLines({ redactor, run })
  write({ type: 'start', version: 1, run, at: new Date().toISOString(), foldout: version })
  return {
    onTraffic(traffic) {
      for (const line of lines.read(traffic)) write(line)
    },
    close: () =>
      new Promise((resolve) => {
        if (hasFailed) return resolve()
        stream.once('error', () => resolve())
        stream.end(() => resolve())
      }),
  }
}

async function openRecording(file: string): Promise<FileHandle> {
  try {
    // Only the user may read the recording.
    return await open(file, 'a', 0o600)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? `There is no folder ${dirname(file)}.` : `${message}.`
    throw new UsageError(`Traffic cannot be recorded in ${file}. ${reason} Choose another file.`, { cause: error })
  }
}
