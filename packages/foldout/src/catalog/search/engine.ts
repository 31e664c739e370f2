import { getErrorMessage } from '../../core/errors.ts'
import { createBacklog, type BacklogWork, type Preparation } from './backlog.ts'
import type { Searchable, SearchIndexOptions, SearchProblem, SearchReadiness } from './contract.ts'
import type { Postings } from './lexical/postings.ts'
import { createShelf, type Found, type Shelf, type ShelfRequest } from './shelf.ts'
import type { Signal } from './join.ts'
import { hurry, pause, startSlice } from './slices.ts'
import { getParts } from './text/parts.ts'
import { TUNING, type Tuning } from './tuning.ts'
import { createEncoderMeaning, type EncoderMeaning } from './vectors/encoder-meaning.ts'
import { createWordMeaning, type Meaning, type Vector } from './vectors/meaning.ts'
import { loadWordVectors } from './vectors/vectors.ts'

export interface EngineOptions extends SearchIndexOptions {
  readonly tuning?: Tuning
  /** What has to be done before all tools are known. It is done in slices too; `wake` says that there is something. */
  readonly preparation?: Preparation
  /** Called for a tool that cannot be indexed, and if the word vectors cannot be loaded. */
  readonly onProblem?: ((problem: SearchProblem) => void) | undefined
  /** Called after each slice of work with the number of characters that it indexed. */
  readonly onSlice?: (characters: number) => void
}

/** What an engine found, and with which vectors. */
export interface EngineFound<Tool extends Searchable> extends Found<Tool>, SearchReadiness {}

/** An index of tools that is filled in slices. A search waits until it is complete. */
export interface Engine<Tool extends Searchable> {
  readonly size: number
  add(tool: Tool): void
  remove(qualified: string): boolean
  /** Begins with the preparation, ahead of the first search. */
  wake(): void
  /** Resolves when everything is indexed, and embedded if there is an encoder that works. */
  ready(): Promise<SearchReadiness>
  /** Searches, and reads the result at once, because tools may be removed later. */
  find<Result>(query: string, category: string | undefined, read: (found: EngineFound<Tool>) => Result): Promise<Result>
}

/** The cost of removing a word of a tool, in characters of indexing. */
const FORGOTTEN_WORD_COST = 10

export function createEngine<Tool extends Searchable>(options: EngineOptions = {}): Engine<Tool> {
  const { tuning = TUNING, onSlice } = options
  const shelf = createShelf<Tool>(tuning)
  const vectors: Vectors = { words: createMeaning(options, shelf.postings), encoder: createEncoder(options) }
  const { words } = vectors
  const backlog = createBacklog(createBacklogWork(shelf, vectors, options))
  let settling: Promise<void> | undefined
  let isAhead = false

  const isSettled = (): boolean => backlog.isEmpty && (words?.isReady ?? true)
  const work = async (): Promise<void> => {
    const slice = startSlice(onSlice)
    while (!isSettled()) {
      await backlog.work(slice)
      await words?.prepare(slice)
    }
  }
  const settle = (): Promise<void> => (settling ??= work().finally(() => (settling = undefined)))

  /** Indexes ahead of the first search. An encoder is not called until then, because it may cost money. */
  const beginAhead = (): void => {
    if (isAhead || settling) return
    isAhead = true
    // If this fails, the next search fails the same way and reports it.
    pause()
      .then(settle)
      .catch(() => undefined)
      .finally(() => (isAhead = false))
  }

  const remove = (qualified: string): boolean => {
    if (backlog.cancel(qualified)) return true
    const slot = shelf.take(qualified)
    if (slot === undefined) return false
    backlog.leave(slot)
    beginAhead()
    return true
  }

  return {
    get size() {
      return shelf.size + backlog.arrivals
    },
    add(tool) {
      remove(tool.qualified)
      backlog.add(tool)
      beginAhead()
    },
    remove,
    wake: beginAhead,
    async ready() {
      await hurry(settle)
      await vectors.encoder?.ready()
      return getReadiness(vectors)
    },
    find: (query, category, read) =>
      hurry(async () => {
        await settle()
        const compare = await encodeTexts(getTexts(query), vectors)
        // Tools may have been added or removed meanwhile. From here on nothing is awaited, so that none changes during the ranking.
        while (!isSettled()) await settle()
        const { request, ...kind } = compare()
        return read({ ...shelf.rank({ ...request, category }), ...kind })
      }),
  }
}

function createBacklogWork<Tool extends Searchable>(
  shelf: Shelf<Tool>,
  { words, encoder }: Vectors,
  { preparation, onProblem }: EngineOptions,
): BacklogWork<Tool> {
  return {
    preparation,
    index(tool) {
      try {
        const { slot, characters } = shelf.put(tool)
        words?.add(slot, tool)
        encoder?.add(slot, tool)
        rehearse(shelf, tool)
        return characters
      } catch (error) {
        onProblem?.(describeUnreadable(tool, error))
        return 0
      }
    },
    empty(slot) {
      words?.remove(slot)
      encoder?.remove(slot)
      return shelf.empty(slot) * FORGOTTEN_WORD_COST
    },
  }
}

/** The sizes of an index, times two each, at which the ranking is rehearsed while it is filled. */
const FIRST_REHEARSAL = 32
let rehearsals = 8

/**
 * Ranks the tools that an index has so far. The first search of a process would otherwise run code that is not compiled yet over
 * all tools at once, which takes ten times as long as usual and keeps others waiting. With a few tools it does not matter.
 */
function rehearse<Tool extends Searchable>(shelf: Shelf<Tool>, { name }: Tool): void {
  const { size } = shelf
  // The powers of two have one bit.
  if (rehearsals === 0 || size < FIRST_REHEARSAL || (size & (size - 1)) !== 0) return
  rehearsals--
  shelf.rank({ text: { text: name, signals: [] }, parts: [], category: undefined, isWord: () => false }).takeBest(1)
}

/** Gets a request, followed by its parts if it has several. */
function getTexts(query: string): readonly string[] {
  const parts = getParts(query)
  return parts.length > 1 ? [query, ...parts] : [query]
}

/** What an index compares texts with. */
interface Vectors {
  readonly words: Meaning | undefined
  readonly encoder: EncoderMeaning | undefined
}

function getReadiness({ words, encoder }: Vectors): SearchReadiness {
  const reason = encoder?.reason
  const isEncoded = encoder !== undefined && reason === undefined
  return { meaning: isEncoded ? 'encoder' : (words?.kind ?? 'none'), withoutEncoder: reason }
}

interface Compared extends SearchReadiness {
  readonly request: Omit<ShelfRequest, 'category'>
}

/**
 * Computes the vectors of a request and of its parts, and returns a function that compares them with all tools. The encoder gets the
 * request as a whole only: embedding its parts would take several times as long, and gains nothing.
 */
async function encodeTexts(texts: readonly string[], vectors: Vectors): Promise<() => Compared> {
  const { words, encoder } = vectors
  const [whole = '', ...parts] = texts
  encoder?.begin()
  const encoded = await encoder?.encode(whole)
  const [vector, ...ofParts] = (await words?.computeVectors(texts)) ?? []
  return () => {
    const { withoutEncoder } = getReadiness(vectors)
    const signals = [...getSignals(vector, words, words?.allCosinesWith)]
    const isEncoded = encoded !== undefined && withoutEncoder === undefined
    if (encoder && isEncoded) signals.push(encoder.compare(encoded))
    return {
      request: {
        text: { text: whole, signals },
        parts: parts.map((text, at) => ({ text, signals: getSignals(ofParts[at], words, words?.cosinesWith) })),
        isWord: (term) => words?.isWord(term) ?? false,
      },
      meaning: isEncoded ? 'encoder' : (words?.kind ?? 'none'),
      withoutEncoder,
    }
  }
}

/** Gets what vectors say about a text: nothing if its words are all unknown to them. */
function getSignals(
  vector: Vector | undefined,
  meaning: Meaning | undefined,
  compare: Meaning['cosinesWith'] | undefined,
): readonly Signal[] {
  if (!vector || !compare || !meaning || meaning.kind === 'none') return []
  return [{ kind: meaning.kind, cosineAt: compare(vector) }]
}

function createMeaning({ embed, onProblem }: EngineOptions, postings: Postings): Meaning | undefined {
  if (embed === false) return undefined
  return createWordMeaning({
    postings,
    load: loadWordVectors,
    onUnavailable: (error) => onProblem?.(describeUnavailable(error)),
  })
}

function createEncoder({ embed, onProblem }: EngineOptions): EncoderMeaning | undefined {
  if (typeof embed !== 'function' && typeof embed !== 'object') return undefined
  return createEncoderMeaning({
    encoder: embed,
    onProblem: ({ message, code }, tool) => onProblem?.({ message, tool, code }),
  })
}

function describeUnreadable({ qualified }: Searchable, error: unknown): SearchProblem {
  return {
    tool: qualified,
    message: `Tool '${qualified}' cannot be found by a search, because its definition cannot be read: ${getErrorMessage(error)}`,
  }
}

function describeUnavailable(error: unknown): SearchProblem {
  return {
    tool: undefined,
    message: `Searches compare words alone, because 'foldout/word-vectors' cannot be loaded: ${getErrorMessage(error)}. Include it in what you deploy, or set \`embed: false\`.`,
  }
}
