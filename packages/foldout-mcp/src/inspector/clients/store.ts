import { readTrafficLine, type TrafficLine } from '../../gateway/traffic/recording.ts'
import { MAX_CLIENT_STEPS, MAX_CLIENTS_STEPS } from './limits.ts'
import { createLineReader, followFile } from '../runs/line-reader.ts'
import { ClientModel } from './model.ts'

/** What the clients of a gateway do, as it happens or from a recording of its traffic. */
export interface ClientStore {
  /** The one that did something last comes first. */
  readonly clients: readonly ClientModel[]
  /** Lines that are not part of a recording. */
  readonly skipped: number
  find(id: string): ClientModel | undefined
  add(lines: readonly TrafficLine[]): void
  /** Reads a recording, and what is appended to it later. Resolves when what is there is read. */
  follow(file: string): Promise<void>
  subscribe(listener: () => void): () => void
  close(): void
}

/** Keeps what happened last: the oldest part of the oldest client is forgotten first. */
export function createClientStore(): ClientStore {
  /** By id, the one that did something last at the end. */
  const models = new Map<string, ClientModel>()
  /** The part that each client is in now, and the other way round. */
  const current = new Map<string, ClientModel>()
  const keys = new Map<ClientModel, string>()
  const listeners = new Set<() => void>()
  const stops: (() => void)[] = []
  let kept = 0
  let made = 0
  let skipped = 0

  const take = (line: TrafficLine): void => {
    if (line.type === 'start') return
    const key = JSON.stringify([line.run, line.preset, line.client])
    const before = current.get(key)
    const isFull = before !== undefined && before.size >= MAX_CLIENT_STEPS
    const model = before && !isFull ? before : new ClientModel(`client~${++made}`, line, before)
    if (isFull) keys.delete(before)
    current.set(key, model)
    keys.set(model, key)
    models.delete(model.id)
    models.set(model.id, model)
    model.add(line)
    kept++
    if (kept > MAX_CLIENTS_STEPS) forget(model)
  }
  const forget = (newest: ClientModel): void => {
    for (const [id, oldest] of models) {
      if (kept <= MAX_CLIENTS_STEPS || oldest === newest) break
      kept -= oldest.size
      models.delete(id)
      current.delete(keys.get(oldest) ?? '')
      keys.delete(oldest)
    }
  }
  const tell = (): void => {
    for (const listener of listeners) listener()
  }

  return {
    get clients() {
      return [...models.values()].toReversed()
    },
    get skipped() {
      return skipped
    },
    find: (id) => models.get(id),
    add(lines) {
      if (lines.length === 0) return
      for (const line of lines) take(line)
      tell()
    },
    async follow(file) {
      const reader = createLineReader(file, (text) => {
        if (text.trim() === '') return
        const line = readTrafficLine(text)
        if (line) take(line)
        else skipped++
      })
      await reader.read()
      stops.push(followFile(reader, tell))
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      for (const stop of stops) stop()
    },
  }
}
