import type { RequestId } from '../../protocol/messages.ts'

/** The only version of MCP that has batches. */
export const BATCH_VERSION = '2025-03-26'

interface Batch {
  readonly missing: Set<RequestId>
  /** The answers so far, as JSON. */
  answers: string[]
  characters: number
}

/** The batches of requests that are being answered. */
export class Batches {
  readonly #maxCharacters: number
  readonly #open = new Map<RequestId, Batch>()

  /** @param maxCharacters Answers that are longer together are sent in several parts. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  begin(ids: readonly RequestId[]): void {
    const batch: Batch = { missing: new Set(ids), answers: [], characters: 0 }
    for (const id of ids) this.#open.set(id, batch)
  }

  /** Takes an answer. Returns what to send now: the answer itself if its request was not in a batch, or nothing as long as others are missing. */
  add(id: RequestId, answer: string): readonly string[] {
    const batch = this.#open.get(id)
    if (!batch) return [answer]
    const isFull = batch.answers.length > 0 && batch.characters + answer.length > this.#maxCharacters
    const before = isFull ? this.#take(batch) : []
    batch.answers.push(answer)
    batch.characters += answer.length
    return [...before, ...this.drop(id)]
  }

  /** Expects no answer to a request any longer. Returns what to send now. */
  drop(id: RequestId): readonly string[] {
    const batch = this.#open.get(id)
    if (!batch) return []
    this.#open.delete(id)
    batch.missing.delete(id)
    return batch.missing.size === 0 && batch.answers.length > 0 ? this.#take(batch) : []
  }

  #take(batch: Batch): readonly string[] {
    const text = `[${batch.answers.join(',')}]`
    batch.answers = []
    batch.characters = 0
    return [text]
  }
}
