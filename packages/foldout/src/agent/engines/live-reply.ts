import { NO_USAGE } from '../../adapters/contract.ts'
import type { AgentEvent } from '../events.ts'
import { getRunKey, type RunAddress, type RunEngine } from './contract.ts'
import type { JournalStep } from './journal-events.ts'

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

/** A piece of a reply, or that the pieces so far do not count. */
export type LivePiece = ReplyPiece | Extract<AgentEvent, { readonly type: 'reply/lost' }>

const LOST: LivePiece = { type: 'reply/lost', usage: NO_USAGE }

/** Reads the reply that a model is writing, together with the journal that will have it. */
interface PieceReader {
  /** Reads the pieces that were not read yet, of a reply that is not in the journal yet. */
  read(turns: number): Iterable<LivePiece>
  /** Reads what is left of a reply before it is read from the journal. */
  finish(step: JournalStep): Iterable<LivePiece>
}

/** Reads the pieces of replies. If a reply begins again, or is not as it began, its pieces are taken back first. */
export function createPieceReader(reply: LiveReply): PieceReader {
  let attempt = reply.attempt
  let count = 0
  let text = ''
  function* begin(): Iterable<LivePiece> {
    if (text !== '') yield LOST
    ;[attempt, count, text] = [reply.attempt, 0, '']
  }
  function* readNew(turns: number): Iterable<LivePiece> {
    if (attempt !== reply.attempt) yield* begin()
    while (attempt === reply.attempt && count < reply.pieces.length) {
      const piece = reply.pieces[count]
      // The journal, which has the replies before it, was not read that far yet.
      if (!piece || piece.reply > turns + 1) return
      count++
      if (piece.reply <= turns) continue
      if (piece.type === 'text/delta') text += piece.text
      yield piece
    }
  }
  return {
    read: readNew,
    *finish({ before, events }) {
      const said = events.find(({ type }) => type === 'reply/received')
      if (said?.type !== 'reply/received') return
      if (attempt === reply.attempt) yield* readNew(before.turns)
      const shown = text.toWellFormed()
      const whole = said.message.text
      text = ''
      if (shown === '' || shown === whole) return
      // The next reply may have begun before all pieces of this one were read, or another machine has written it.
      if (!whole.startsWith(shown)) yield LOST
      else yield { type: 'text/delta', text: whole.slice(shown.length), reply: before.turns + 1 }
    },
  }
}
