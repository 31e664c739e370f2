import { FIELDS } from '../text/tool-text.ts'

/** Counts of a word in all fields of a tool share one small integer, so that a list of them is plain numbers. */
const BITS = 5
const MOST = 2 ** BITS - 1
/** Stands between two fields in the words of a tool. */
export const FIELD_END = -1

/** Where each word stands. Documents are slots, which are used again when theirs is removed. */
export interface Postings {
  /** How many documents there are. */
  readonly size: number
  /** One more than the highest slot ever used. */
  readonly slots: number
  /** One more than the highest number of a word ever used. */
  readonly ids: number
  /** The number of a word, if any document has it. */
  getId(term: string): number | undefined
  getTerm(id: number): string
  /** The documents that have a word. Not to be changed. */
  documentsWith(id: number): readonly number[]
  /** The counts of a word, one for each of its documents. Not to be changed. */
  getCounts(id: number): readonly number[]
  /** The words of a document in order, fields divided by a negative number. */
  wordsIn(slot: number): Int32Array
  getLength(field: number, slot: number): number
  averageLength(field: number): number
  add(fields: readonly (readonly string[])[]): number
  remove(slot: number): void
}

export interface PostingsEvents {
  /** A word came up for the first time, or the last document with it went. */
  onTerm?(term: string, isThere: boolean): void
}

/** The words of all documents, by number, with the documents that have them. */
interface Terms {
  readonly ids: ReadonlyMap<string, number>
  readonly names: readonly string[]
  readonly documents: readonly number[][]
  readonly counts: readonly number[][]
  /** The number of a word, which is new if it was not there. */
  intern(term: string): number
  /** Lets a word go that no document has anymore. */
  forget(id: number): void
}

function createTerms({ onTerm }: PostingsEvents): Terms {
  const ids = new Map<string, number>()
  const names: string[] = []
  const documents: number[][] = []
  const counts: number[][] = []
  const free: number[] = []
  return {
    ids,
    names,
    documents,
    counts,
    intern(term) {
      const known = ids.get(term)
      if (known !== undefined) return known
      const id = free.pop() ?? names.length
      ids.set(term, id)
      names[id] = term
      documents[id] = []
      counts[id] = []
      onTerm?.(term, true)
      return id
    },
    forget(id) {
      const term = names[id]!
      ids.delete(term)
      free.push(id)
      onTerm?.(term, false)
    },
  }
}

export function createPostings(events: PostingsEvents = {}): Postings {
  const terms = createTerms(events)
  const { ids, names, documents, counts } = terms
  const sequences: Int32Array[] = []
  const freeSlots: number[] = []
  const lengths: number[][] = FIELDS.map(() => [])
  const totals: number[] = FIELDS.map(() => 0)
  // How often each word of the document at hand occurs; only the words in `seen` are not 0.
  const tally: number[] = []
  const seen: number[] = []
  let size = 0

  return {
    get size() {
      return size
    },
    get slots() {
      return sequences.length
    },
    get ids() {
      return names.length
    },
    getId: (term) => ids.get(term),
    getTerm: (id) => names[id]!,
    documentsWith: (id) => documents[id]!,
    getCounts: (id) => counts[id]!,
    wordsIn: (slot) => sequences[slot]!,
    getLength: (field, slot) => lengths[field]![slot]!,
    averageLength: (field) => (size === 0 ? 1 : totals[field]! / size || 1),

    add(fields) {
      const slot = freeSlots.pop() ?? sequences.length
      const sequence = new Int32Array(fields.reduce((sum, words) => sum + words.length + 1, 0))
      let at = 0
      fields.forEach((words, field) => {
        const one = 1 << (field * BITS)
        const full = MOST << (field * BITS)
        for (const word of words) {
          const id = terms.intern(word)
          const count = tally[id] ?? 0
          if (count === 0) seen.push(id)
          if ((count & full) !== full) tally[id] = count + one
          sequence[at++] = id
        }
        sequence[at++] = FIELD_END
        lengths[field]![slot] = words.length
        totals[field]! += words.length
      })
      for (const id of seen) {
        documents[id]!.push(slot)
        counts[id]!.push(tally[id]!)
        tally[id] = 0
      }
      seen.length = 0
      sequences[slot] = sequence
      size++
      return slot
    },

    remove(slot) {
      for (const id of new Set(sequences[slot])) {
        if (id === FIELD_END) continue
        takeOut(slot, documents[id]!, counts[id]!)
        if (documents[id]!.length === 0) terms.forget(id)
      }
      lengths.forEach((ofField, field) => {
        totals[field]! -= ofField[slot]!
        ofField[slot] = 0
      })
      sequences[slot] = new Int32Array(0)
      freeSlots.push(slot)
      size--
    },
  }
}

/** Takes a document out of a word's list and puts the last one in its place. */
function takeOut(slot: number, documents: number[], counts: number[]): void {
  const at = documents.indexOf(slot)
  const lastDocument = documents.pop()!
  const lastCounts = counts.pop()!
  if (at === documents.length) return
  documents[at] = lastDocument
  counts[at] = lastCounts
}

/** How often a word stands in a field, of its counts in all fields. */
export function countIn(field: number, counts: number): number {
  return (counts >>> (field * BITS)) & MOST
}

/** The counts in a document of those words that are asked for, by the word's number. */
export function countsIn(
  slot: number,
  isAsked: Uint8Array,
  postings: Pick<Postings, 'wordsIn'>,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  const words = postings.wordsIn(slot)
  let field = 0
  for (let i = 0; i < words.length; i++) {
    const id = words[i]!
    if (id === FIELD_END) field++
    else if (isAsked[id] === 1) {
      const before = counts.get(id) ?? 0
      if (countIn(field, before) < MOST) counts.set(id, before + (1 << (field * BITS)))
    }
  }
  return counts
}
