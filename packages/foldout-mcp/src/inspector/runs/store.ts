import type { UsageRates } from 'foldout/telemetry'
import { MAX_RUN_EVENTS } from './limits.ts'
import { createLineReader, followFile } from './line-reader.ts'
import { readLine, type StoredEvent } from './lines.ts'
import { RunModel } from './model.ts'

/** Recorded runs, from files and from recorders in other processes. */
export interface RunStore {
  /** The newest first. */
  readonly runs: readonly RunModel[]
  /** Lines that are not part of a recording. */
  readonly skipped: number
  find(id: string): RunModel | undefined
  /** @throws Error if there is no such run. */
  get(id: string): RunModel
  /** Takes lines of a recorder. */
  add(lines: readonly unknown[]): void
  /** Reads a file, and what is appended to it later. Resolves when the current content has been read. */
  follow(file: string): Promise<void>
  subscribe(listener: () => void): () => void
  close(): void
}

export function createRunStore(rates?: UsageRates): RunStore {
  const runs = new Map<string, RunModel>()
  const listeners = new Set<() => void>()
  const watched: (() => void)[] = []
  let skipped = 0
  let kept = 0
  let made = 0

  const take = ({ run, at, event }: StoredEvent): void => {
    const model = runs.get(run) ?? new RunModel(run, at, rates)
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
    find: (id) => runs.get(id),
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
      watched.push(followFile(reader, tell))
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
