import { createReadStream, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { MAX_RUN_EVENTS } from '../limits.ts'
import { readLine, type StoredEvent } from './lines.ts'
import { RunModel } from './model.ts'

/** Recorded runs, from files and from recorders in other processes. */
export interface RunStore {
  /** The newest first. */
  readonly runs: readonly RunModel[]
  /** Lines that are not part of a recording. */
  readonly skipped: number
  get(id: string): RunModel
  /** Takes lines of a recorder. */
  add(lines: readonly unknown[]): void
  /** Reads a file, and what is appended to it later. Resolves when the current content has been read. */
  follow(file: string): Promise<void>
  subscribe(listener: () => void): () => void
  close(): void
}

const POLL_MS = 300

export function createRunStore(): RunStore {
  const runs = new Map<string, RunModel>()
  const listeners = new Set<() => void>()
  const watched: (() => void)[] = []
  let skipped = 0
  let kept = 0
  let made = 0

  const take = ({ run, at, event }: StoredEvent): void => {
    const model = runs.get(run) ?? new RunModel(run, at)
    runs.set(run, model)
    model.add(at, event)
    kept++
    for (const [id, oldest] of runs) {
      if (kept <= MAX_RUN_EVENTS || id === run) break
      kept -= oldest.size
      runs.delete(id)
    }
  }
  const add = (json: unknown): void => {
    const events = readLine(json, () => `run-${++made}`)
    if (!events) skipped++
    for (const event of events ?? []) take(event)
  }
  const tell = (): void => {
    for (const listener of listeners) listener()
  }

  return {
    get runs() {
      return [...runs.values()].toReversed()
    },
    get skipped() {
      return skipped
    },
    get(id) {
      const run = runs.get(id)
      if (!run) throw new Error('This run no longer exists.')
      return run
    },
    add(lines) {
      for (const line of lines) add(line)
      tell()
    },
    async follow(file) {
      const reader = createLineReader(file, (text) => {
        if (text.trim() === '') return
        try {
          add(JSON.parse(text))
        } catch {
          skipped++
        }
      })
      await reader.read()
      const poll = (): void => void reader.read().then((isMore) => isMore && tell())
      // Polled instead of watched: a change just before a watch begins would be missed.
      const timer = setInterval(poll, POLL_MS)
      timer.unref()
      watched.push(() => clearInterval(timer))
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      for (const stop of watched) stop()
    },
  }
}

interface LineReader {
  /** Reads what was appended since. Returns whether there was anything. */
  read(): Promise<boolean>
}

/** Reads whole lines of a file that grows. A last line without an end is read when the rest of it is there. */
function createLineReader(file: string, onLine: (text: string) => void): LineReader {
  let from = 0
  let rest = ''
  let decoder = new StringDecoder('utf8')
  let reading = Promise.resolve(false)
  const readOn = async (): Promise<boolean> => {
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 }
    if (size < from) {
      // It was written again from the beginning.
      from = 0
      rest = ''
      decoder = new StringDecoder('utf8')
    }
    if (size === from) return false
    for await (const chunk of createReadStream(file, { start: from, end: size - 1 }) as AsyncIterable<Buffer>) {
      from += chunk.length
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    }
    return true
  }
  return {
    read() {
      reading = reading.then(readOn).catch(() => false)
      return reading
    },
  }
}
