import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { MAX_WAITING_CHARACTERS } from './limits.ts'
import { TrafficLines } from './lines.ts'
import type { TrafficLine } from './recording.ts'
import type { Redactor } from './redact.ts'
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
  /** Called once, if the file cannot be written. The gateway continues without it. */
  readonly onProblem: (message: string) => void
}

export function recordTraffic(file: string, { redactor, version, onProblem }: TrafficRecorderOptions): TrafficRecorder {
  // Only the user may read the recording.
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 })
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
