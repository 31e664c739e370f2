import { getErrorMessage } from '../../core/errors.ts'
import { createBacklog } from './backlog.ts'
import type { Searchable, SearchIndexOptions, SearchProblem } from './contract.ts'
import type { Postings } from './lexical/postings.ts'
import { createShelf, type Found, type ShelfRequest } from './shelf.ts'
import type { Signal, SignalKind } from './join.ts'
import { hurry, pause, startSlice } from './slices.ts'
import { getParts } from './text/parts.ts'
import { TUNING, type Tuning } from './tuning.ts'
import { createEmbeddedMeaning } from './vectors/embedded-meaning.ts'
import { createWordMeaning, type Meaning, type Vector } from './vectors/meaning.ts'
import { loadWordVectors } from './vectors/vectors.ts'

export interface EngineOptions extends SearchIndexOptions {
  readonly tuning?: Tuning
  /** Called for a tool that cannot be indexed, and if the word vectors cannot be loaded. */
  readonly onProblem?: ((problem: SearchProblem) => void) | undefined
  /** Called after each slice of work with the number of characters that it indexed. */
  readonly onSlice?: (characters: number) => void
}

export interface EngineFound<Tool extends Searchable> extends Found<Tool> {
  /** By what vectors nearness of meaning was found. */
  readonly meaning: SignalKind | 'none'
}

/** An index of tools that is filled in slices. A search waits until it is complete. */
export interface Engine<Tool extends Searchable> {
  readonly size: number
  add(tool: Tool): void
  remove(qualified: string): boolean
  /** Resolves when everything is indexed. */
  ready(): Promise<void>
  /** Searches, and reads the result at once, because tools may be removed later. */
  find<Result>(query: string, category: string | undefined, read: (found: EngineFound<Tool>) => Result): Promise<Result>
}

/** The cost of removing a word of a tool, in characters of indexing. */
const FORGOTTEN_WORD_COST = 10

export function createEngine<Tool extends Searchable>(options: EngineOptions = {}): Engine<Tool> {
  const { tuning = TUNING, onSlice, onProblem } = options
  const shelf = createShelf<Tool>(tuning)
  const meaning = createMeaning(options, shelf.postings)
  const backlog = createBacklog<Tool>({
    index(tool) {
      try {
        const { slot, characters } = shelf.put(tool)
        meaning?.add(slot, tool)
        return characters
      } catch (error) {
        onProblem?.(describeUnreadable(tool, error))
        return 0
      }
    },
    empty(slot) {
      meaning?.remove(slot)
      return shelf.empty(slot) * FORGOTTEN_WORD_COST
    },
  })
  let settling: Promise<void> | undefined
  let isAhead = false

  const isSettled = (): boolean => backlog.isEmpty && (meaning?.isReady ?? true)
  const work = async (): Promise<void> => {
    const slice = startSlice(onSlice)
    while (!isSettled()) {
      await backlog.work(slice)
      await meaning?.prepare(slice)
    }
  }
  const settle = (): Promise<void> => (settling ??= work().finally(() => (settling = undefined)))

  /** Indexes ahead of the first search. An embedding function is not called until then, because it may cost money. */
  const workAhead = async (): Promise<void> => {
    await pause()
    if (meaning?.kind === 'own') await backlog.work(startSlice(onSlice))
    else await settle()
  }
  const beginAhead = (): void => {
    if (isAhead || settling) return
    isAhead = true
    // If this fails, the next search fails the same way and reports it.
    workAhead()
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
    ready: () => hurry(settle),
    find: (query, category, read) =>
      hurry(async () => {
        const texts = getTexts(query)
        await settle()
        const vectors = (await meaning?.computeVectors(texts)) ?? []
        // Tools may have been added or removed meanwhile. From here on nothing is awaited, so that none changes during the ranking.
        while (!isSettled()) await settle()
        const found = shelf.rank(createRequest(texts, vectors, category, meaning))
        return read({ ...found, meaning: meaning?.kind ?? 'none' })
      }),
  }
}

/** Gets a request, followed by its parts if it has several. */
function getTexts(query: string): readonly string[] {
  const parts = getParts(query)
  return parts.length > 1 ? [query, ...parts] : [query]
}

/** The first text is the whole request, the others are its parts. */
function createRequest(
  [whole = '', ...parts]: readonly string[],
  [vector, ...ofParts]: readonly (Vector | undefined)[],
  category: string | undefined,
  meaning: Meaning | undefined,
): ShelfRequest {
  return {
    text: { text: whole, signals: getSignals(vector, meaning, meaning?.allCosinesWith) },
    parts: parts.map((text, at) => ({ text, signals: getSignals(ofParts[at], meaning, meaning?.cosinesWith) })),
    category,
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

function createMeaning({ embed = 'word-vectors', onProblem }: EngineOptions, postings: Postings): Meaning | undefined {
  if (embed === false) return undefined
  if (typeof embed === 'function') return createEmbeddedMeaning(embed)
  return createWordMeaning({
    postings,
    load: loadWordVectors,
    onUnavailable: (error) => onProblem?.(describeUnavailable(error)),
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
