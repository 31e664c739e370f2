import { FIELDS } from '../text/tool-text.ts'
import { createSequences } from './sequences.ts'

/** The counts of a word in all fields of a tool are packed into one small integer, with this many bits for each field. */
const BITS = 5
const MOST = 2 ** BITS - 1
/** Marks the end of a field in the words of a tool. */
export const FIELD_END = -1

/** Which tools have each word. A tool is known by its slot, which is reused after the tool is removed. */
export interface Postings {
  /** How many tools there are. */
  readonly size: number
  /** One more than the highest slot ever used. */
  readonly slots: number
  /** One more than the highest word id ever used. */
  readonly ids: number
  /** The id of a word, if any tool has it. */
  getId(term: string): number | undefined
  getTerm(id: number): string
  /** The slots of the tools that have a word. Do not modify the list. */
  documentsWith(id: number): readonly number[]
  /** The packed counts of a word, one for each of those tools. Do not modify the list. */
  getCounts(id: number): readonly number[]
  /** The ids of a tool's words in order, with `FIELD_END` after each field. */
  wordsIn(slot: number): Int32Array
  getLength(field: number, slot: number): number
  averageLength(field: number): number
  add(fields: readonly (readonly string[])[]): number
  remove(slot: number): void
}

export interface PostingsEvents {
  /** Called when the first tool with a word is added, and when the last one is removed. */
  onTerm?(term: string, isThere: boolean): void
}

/** The words of all tools, by id. */
interface Terms {
  readonly ids: ReadonlyMap<string, number>
  readonly entries: readonly Term[]
  /** Returns a word's entry, and creates one for a new word. */
  intern(name: string): Term
  /** Removes a word that no tool has anymore. */
  forget(term: Term): void
}

interface Term {
  readonly id: number
  readonly name: string
  documents: number[]
  counts: number[]
  /** How often it occurs in the tool that is being added. */
  tally: number
}

function createTerms({ onTerm }: PostingsEvents): Terms {
  const ids = new Map<string, number>()
  const entries: Term[] = []
  const free: number[] = []
  return {
    ids,
    entries,
    intern(name) {
      const known = entries[ids.get(name) ?? -1]
      if (known) return known
      const id = free.pop() ?? entries.length
      const term = { id, name, documents: NONE, counts: NONE, tally: 0 }
      ids.set(name, id)
      entries[id] = term
      onTerm?.(name, true)
      return term
    },
    forget({ id, name }) {
      ids.delete(name)
      free.push(id)
      onTerm?.(name, false)
    },
  }
}

export function createPostings(events: PostingsEvents = {}): Postings {
  const terms = createTerms(events)
  const { ids, entries } = terms
  const sequences = createSequences()
  const freeSlots: number[] = []
  const fieldLengths = FIELDS.map((): FieldLengths => ({ bySlot: [], total: 0 }))
  let size = 0

  return {
    get size() {
      return size
    },
    get slots() {
      return sequences.slots
    },
    get ids() {
      return entries.length
    },
    getId: (term) => ids.get(term),
    getTerm: (id) => entries[id]?.name ?? '',
    documentsWith: (id) => entries[id]?.documents ?? NONE,
    getCounts: (id) => entries[id]?.counts ?? NONE,
    wordsIn: sequences.get,
    getLength: (field, slot) => fieldLengths[field]?.bySlot[slot] ?? 0,
    averageLength: (field) => {
      if (size === 0) return 1
      return (fieldLengths[field]?.total ?? 0) / size || 1
    },

    add(fields) {
      const slot = freeSlots.pop() ?? sequences.slots
      const sequence: number[] = []
      const seen: Term[] = []
      fieldLengths.forEach((lengths, field) => {
        const words = fields[field] ?? []
        const one = 1 << (field * BITS)
        const full = MOST << (field * BITS)
        for (const word of words) {
          const term = terms.intern(word)
          if (term.tally === 0) seen.push(term)
          if ((term.tally & full) !== full) term.tally += one
          sequence.push(term.id)
        }
        sequence.push(FIELD_END)
        lengths.bySlot[slot] = words.length
        lengths.total += words.length
      })
      for (const term of seen) {
        addDocument(slot, term)
        term.tally = 0
      }
      sequences.set(slot, sequence)
      size++
      return slot
    },

    remove(slot) {
      for (const id of new Set(sequences.get(slot))) {
        const term = entries[id]
        if (!term) continue
        removeDocument(slot, term)
        if (term.documents.length === 0) terms.forget(term)
      }
      for (const lengths of fieldLengths) {
        lengths.total -= lengths.bySlot[slot] ?? 0
        lengths.bySlot[slot] = 0
      }
      sequences.remove(slot)
      freeSlots.push(slot)
      size--
    },
  }
}

/** How many words each tool has in a field. */
interface FieldLengths {
  readonly bySlot: number[]
  total: number
}

/** Never modified. */
const NONE: number[] = []

/** Adds a tool to a word's lists. Most words are in one tool only, and a list that begins with one element takes the least memory. */
function addDocument(slot: number, term: Term): void {
  if (term.documents.length === 0) {
    term.documents = [slot]
    term.counts = [term.tally]
  } else {
    term.documents.push(slot)
    term.counts.push(term.tally)
  }
}

/** Removes a tool from a word's lists, and moves the last tool into its place. */
function removeDocument(slot: number, { documents, counts }: Term): void {
  const at = documents.indexOf(slot)
  const lastDocument = documents.pop()
  const lastCounts = counts.pop()
  if (lastDocument === undefined || lastCounts === undefined || at === documents.length) return
  documents[at] = lastDocument
  counts[at] = lastCounts
}

/** Unpacks how often a word occurs in one field. */
export function countIn(field: number, counts: number): number {
  return (counts >>> (field * BITS)) & MOST
}

/** Counts the words of a tool that a query asks for, by word id. The counts are packed. */
export function countsIn(
  slot: number,
  isAsked: Uint8Array,
  postings: Pick<Postings, 'wordsIn'>,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  const words = postings.wordsIn(slot)
  let field = 0
  for (const id of words) {
    if (id === FIELD_END) field++
    else if (isAsked[id] === 1) {
      const before = counts.get(id) ?? 0
      if (countIn(field, before) < MOST) counts.set(id, before + (1 << (field * BITS)))
    }
  }
  return counts
}
