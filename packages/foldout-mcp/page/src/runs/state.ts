import { signal } from '@preact/signals'
import type {
  ClientSummary,
  ClientView,
  RunMessage,
  RunStep,
  RunSummary,
  RunView,
} from '../../../src/inspector/protocol/protocol.ts'
import { call } from '../base/connection.ts'

export const runs = signal<readonly (RunSummary | ClientSummary)[] | undefined>(undefined)
export const run = signal<RunView | ClientView | undefined>(undefined)
export const problem = signal<string | undefined>(undefined)
/** Why the run that was asked for cannot be shown. */
export const runProblem = signal<string | undefined>(undefined)
/** The request that is looked at, from 1. */
export const chosenRequest = signal(1)

/** Whether the user chooses a second run to compare with. */
export const isComparing = signal(false)

export async function refreshList(): Promise<void> {
  try {
    runs.value = await call('runs/list', {})
    problem.value = undefined
  } catch (error) {
    problem.value = (error as Error).message
  }
}

let latest = 0

/** Asks for a run. An answer that is overtaken by a later one is left out. */
export async function refreshRun(id: string): Promise<void> {
  const mine = ++latest
  try {
    const next = await call('runs/get', { id })
    if (mine !== latest) return
    if (run.value?.id !== id) chosenRequest.value = 1
    run.value = next
    runProblem.value = undefined
  } catch (error) {
    if (mine === latest) runProblem.value = (error as Error).message
  }
}

const CHUNK = 100

/** A long list. Only the visible parts are requested. Items never change, but more may be added later. */
export interface Pages<Item> {
  /** An item of a list that has this many by now; undefined until it is loaded. */
  get(index: number, count: number): Item | undefined
}

type Load<Item> = (from: number, count: number) => Promise<readonly Item[]>

interface Chunk<Item> {
  items: readonly Item[]
  /** How long the list was when this was asked for. */
  asked: number
}

export function createPages<Item>(load: Load<Item>, onLoad: () => void): Pages<Item> {
  const chunks = new Map<number, Chunk<Item>>()
  const fill = async (at: number, chunk: Chunk<Item>): Promise<void> => {
    try {
      chunk.items = await load(at * CHUNK, CHUNK)
      onLoad()
    } catch {
      // It is asked for again when it is drawn again.
      chunk.asked = 0
    }
  }
  return {
    get(index, count) {
      const at = Math.floor(index / CHUNK)
      const chunk = chunks.get(at) ?? { items: [], asked: 0 }
      chunks.set(at, chunk)
      const item = chunk.items[index - at * CHUNK]
      // What is there stays in view while the rest of a run that goes on is loaded.
      if (item === undefined && chunk.asked < count) {
        chunk.asked = count
        void fill(at, chunk)
      }
      return item
    },
  }
}

export const loadSteps =
  (id: string): Load<RunStep> =>
  (from, count) =>
    call('runs/steps', { id, from, count })

export const loadMessages =
  (id: string): Load<RunMessage> =>
  (from, count) =>
    call('runs/messages', { id, from, count })
