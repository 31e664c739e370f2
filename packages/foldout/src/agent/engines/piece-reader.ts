import { NO_USAGE } from '../../adapters/contract.ts'
import type { AgentEvent } from '../events.ts'
import type { JournalStep } from './journal-events.ts'
import type { LiveReply, ReplyPiece } from './live-reply.ts'

/** A piece of a reply, or that the pieces so far do not count. */
export type LivePiece = ReplyPiece | Extract<AgentEvent, { readonly type: 'reply/lost' }>

const LOST: LivePiece = { type: 'reply/lost', usage: NO_USAGE }

/** Reads the reply that a model is writing, together with the journal that will have it. */
export interface PieceReader {
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
