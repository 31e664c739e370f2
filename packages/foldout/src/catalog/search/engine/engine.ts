import { ignore } from '../../../core/promises.ts'
import { getErrorMessage } from '../../../core/errors.ts'
import { createBacklog, type BacklogWork, type Preparation } from '../backlog.ts'
import type { Searchable, SearchIndexOptions, SearchProblem, SearchReadiness } from '../contract.ts'
import type { Postings } from '../lexical/postings.ts'
import { createShelf, type Found, type Shelf, type ShelfRequest } from './shelf.ts'
import { joinParts, type Signal } from '../join.ts'
import { hurry, pause, runSteps, runStepsInSlices, startSlice, type Steps } from '../slices.ts'
import { getParts } from '../text/parts.ts'
import { TUNING, type Tuning } from '../tuning.ts'
import { createEncoderMeaning, type EncoderMeaning } from '../vectors/encoder-meaning.ts'
import { createWordMeaning, type Meaning, type Vector } from '../vectors/meaning.ts'
import { loadWordVectors } from '../vectors/vectors.ts'

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

/** Reads what was found. It starts over if tools were added or removed between its steps. */
export type ReadFound<Tool extends Searchable, Result> = (found: EngineFound<Tool>) => Steps<Result>

/** An index of tools that is filled in slices. A search waits until it is complete. */
export interface Engine<Tool extends Searchable> {
  readonly size: number
  add(tool: Tool): void
  remove(qualified: string): boolean
  /** Begins with the preparation, ahead of the first search. */
  wake(): void
  /** Resolves when everything is indexed, and embedded if there is an encoder that works. */
  ready(): Promise<SearchReadiness>
  /** Searches, and reads the result in the same steps, because tools may be removed later. */
  find<Result>(query: string, category: string | undefined, read: ReadFound<Tool, Result>): Promise<Result>
}

/** How often a search starts over because tools were added or removed while it ranked them. After that, it ranks them at once. */
const MAX_INTERRUPTED_RANKINGS = 3

/** An encoder reads the parts of a request that has this many. Two are often one: "show the size and owner of a file". */
const ENCODED_PARTS = 3

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
  /** How often a tool was added or removed. */
  let changes = 0

  const isSettled = (): boolean => backlog.isEmpty && (words?.isReady ?? true)
  const work = async (): Promise<void> => {
    // The caller has done something in this turn already.
    await pause()
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
    void ignore(settle(), 'the next search fails the same way and reports it').finally(() => (isAhead = false))
  }

  const remove = (qualified: string): boolean => {
    changes++
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
        if (!isSettled()) await settle().then(pause)
        const compare = await encodeTexts(getTexts(query), vectors, tuning)
        for (let attempt = 1; ; attempt++) {
          // Tools may have been added or removed meanwhile.
          while (!isSettled()) await settle()
          const steps = rankInSteps(shelf, compare, category, read)
          if (attempt > MAX_INTERRUPTED_RANKINGS) return runSteps(steps).read
          const began = changes
          const ranked = await runStepsInSlices(steps, () => changes !== began || !isSettled())
          if (ranked) {
            vectors.encoder?.prefer(ranked.result.best)
            return ranked.result.read
          }
        }
      }),
  }
}

function* rankInSteps<Tool extends Searchable, Result>(
  shelf: Shelf<Tool>,
  compare: () => Steps<Compared>,
  category: string | undefined,
  read: ReadFound<Tool, Result>,
): Steps<RankedRead<Result>> {
  const { request, ...kind } = yield* compare()
  yield
  const found = yield* shelf.rank({ ...request, category })
  yield
  return { best: found.ranking.looks.keys(), read: yield* read({ ...found, ...kind }) }
}

/** What was read, and the slots of the best tools. */
interface RankedRead<Result> {
  readonly best: Iterable<number>
  readonly read: Result
}

/** How near the encoder finds a tool on average that word vectors find unrelated, and how much that grows with their cosine. */
const ESTIMATE = { least: 0.15, slope: 0.45 }

/** Estimates what the encoder would say about a tool whose vector is not there yet, so that such tools compare with the others. */
function createEstimate(words: Signal | undefined): Signal['cosineAt'] {
  return (slot) => ESTIMATE.least + ESTIMATE.slope * (words?.cosineAt(slot) ?? 0)
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

/** Gets a request, followed by its parts if it has several. */
function getTexts(query: string): readonly string[] {
  const parts = getParts(query)
  if (parts.length > 1) return [query, ...parts]
  return [query]
}

/** The vectors that an index compares texts with. */
interface Vectors {
  readonly words: Meaning | undefined
  readonly encoder: EncoderMeaning | undefined
}

function getReadiness({ words, encoder }: Vectors): SearchReadiness {
  return { meaning: encoder?.isUsable === true ? 'encoder' : (words?.kind ?? 'none'), withoutEncoder: encoder?.reason }
}

interface Compared extends SearchReadiness {
  readonly request: Omit<ShelfRequest, 'category'>
}

/** Computes the vectors of a request and of its parts, and returns a function that compares them with all tools. */
async function encodeTexts(texts: readonly string[], vectors: Vectors, tuning: Tuning): Promise<() => Steps<Compared>> {
  const { words, encoder } = vectors
  const [whole = '', ...parts] = texts
  encoder?.begin()
  const encoded = await encoder?.encode(parts.length < ENCODED_PARTS ? [whole] : texts)
  const [vector, ...ofParts] = (await words?.computeVectors(texts)) ?? []
  const hasWords = words !== undefined && words.kind !== 'none'
  return function* compare() {
    const { meaning, withoutEncoder } = getReadiness(vectors)
    const signals: Signal[] = []
    if (hasWords && vector) signals.push({ kind: words.kind, cosineAt: yield* words.allCosinesWith(vector) })
    const isEncoded = encoded !== undefined && meaning === 'encoder'
    if (encoder && isEncoded) {
      const estimate = createEstimate(signals[0])
      const cosines: Signal['cosineAt'][] = []
      for (const one of encoded) cosines.push(yield* encoder.compare(one, estimate))
      signals.push(joinParts(cosines, tuning))
    }
    return {
      request: {
        text: { text: whole, signals },
        parts: parts.map((text, at) => ({ text, signals: getSignals(ofParts[at], words) })),
        isWord: (term) => words?.isWord(term) ?? false,
        comparison: words?.comparison,
      },
      meaning: isEncoded ? 'encoder' : (words?.kind ?? 'none'),
      withoutEncoder,
    }
  }
}

/** Gets what vectors say about a text: nothing if its words are all unknown to them. */
function getSignals(vector: Vector | undefined, words: Meaning | undefined): readonly Signal[] {
  if (!vector || !words || words.kind === 'none') return []
  return [{ kind: words.kind, cosineAt: words.cosinesWith(vector) }]
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
    message: `Searches only compare words, because 'foldout/word-vectors' cannot be loaded: ${getErrorMessage(error)}. Deploy it too, or set \`embed: false\`.`,
  }
}
