import type { AgentEvent } from '../events.ts'
import { getRunKey, type RunAddress, type RunEngine } from './contract.ts'

/** A piece of a reply that the model is still writing. */
export type ReplyPiece = Extract<AgentEvent, { readonly type: 'text/delta' | 'reasoning/delta' }>

/** The reply that a model is writing in this process, for everyone here who follows its run. */
export interface LiveReply {
  /** Changes when another reply begins, or the same one again. */
  readonly attempt: number
  readonly pieces: readonly ReplyPiece[]
  /** Counts what happens besides pieces. The journal has news soon after it changes. */
  readonly steps: number
  /** Reports what the run does in this process. */
  tell(event: AgentEvent): void
  /** Says that the run no longer works in this process. */
  end(): void
  /** Calls a listener at each change, until the returned function is called. */
  listen(listener: () => void): () => void
}

interface Held {
  readonly reply: LiveReply
  holders: number
}

const heldByEngine = new WeakMap<RunEngine, Map<string, Held>>()

/** Returns the live reply of a run. All holders in this process share it, until each has let go of it. */
export function holdLiveReply(
  engine: RunEngine,
  address: RunAddress,
): { readonly reply: LiveReply; readonly release: () => void } {
  const byKey = heldByEngine.get(engine) ?? new Map<string, Held>()
  heldByEngine.set(engine, byKey)
  const key = getRunKey(address)
  const held = byKey.get(key) ?? { reply: createLiveReply(), holders: 0 }
  byKey.set(key, held)
  held.holders++
  const release = (): void => {
    held.holders--
    if (held.holders === 0) byKey.delete(key)
  }
  return { reply: held.reply, release }
}

function createLiveReply(): LiveReply {
  let attempt = 0
  let steps = 0
  let pieces: ReplyPiece[] = []
  const listeners = new Set<() => void>()
  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  return {
    get attempt() {
      return attempt
    },
    get pieces() {
      return pieces
    },
    get steps() {
      return steps
    },
    tell(event) {
      if (event.type === 'request/sent') {
        attempt++
        pieces = []
      }
      if (event.type === 'text/delta' || event.type === 'reasoning/delta') pieces.push(event)
      else steps++
      notify()
    },
    end() {
      steps++
      notify()
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
