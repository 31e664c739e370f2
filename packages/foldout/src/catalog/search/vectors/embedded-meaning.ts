import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import type { Embed, Searchable } from '../contract.ts'
import type { Meaning, Vector } from './meaning.ts'
import { createVectorBlock, type VectorBlock } from './vector-block.ts'

/** So many texts go to the function at once. */
const BATCH = 64

interface Embedded {
  readonly vector: Vector
  /** How many tools have this text. */
  tools: number
}

/**
 * Meaning by a function of the user's. Tools are embedded when something is searched, in batches, each text once while a
 * tool has it. What fails is tried again at the next search.
 */
export function createEmbeddedMeaning(embed: Embed): Meaning {
  const textBySlot: (string | undefined)[] = []
  const waiting = new Set<number>()
  const embedded = new Map<string, Embedded>()
  let block: VectorBlock | undefined
  let dimensions: number | undefined
  let working: Promise<void> = Promise.resolve()

  const checked = (vectors: readonly Vector[]): readonly Vector[] => {
    for (const vector of vectors) {
      dimensions ??= vector.length
      const problem = describeProblem(vector, dimensions)
      if (problem !== undefined) throw unusable(problem)
    }
    return vectors
  }

  const embedTexts = async (batch: readonly string[]): Promise<readonly Vector[]> => {
    let vectors: readonly Vector[]
    try {
      vectors = await embed(batch)
    } catch (error) {
      throw new FoldoutError(
        'search-embedding-failed',
        `The embedding function given to the search failed: ${getErrorMessage(error)}`,
        { cause: error },
      )
    }
    if (!Array.isArray(vectors) || vectors.length !== batch.length) {
      const got = Array.isArray(vectors) ? `${vectors.length} vectors` : `no list of vectors`
      throw unusable(`gave ${got} for ${batch.length} texts`)
    }
    return checked(vectors)
  }

  const embedWaiting = async (): Promise<void> => {
    const missing = new Set([...waiting].map((slot) => textBySlot[slot]!).filter((text) => !embedded.has(text)))
    const list = [...missing].sort()
    for (let from = 0; from < list.length; from += BATCH) {
      const batch = list.slice(from, from + BATCH)
      const vectors = await embedTexts(batch)
      batch.forEach((text, i) => embedded.set(text, { vector: vectors[i]!, tools: 0 }))
    }
    // Tools may have come and gone meanwhile: those that came wait for the next search.
    for (const slot of waiting) {
      const known = embedded.get(textBySlot[slot]!)
      if (!known) continue
      known.tools++
      waiting.delete(slot)
      block ??= createVectorBlock(known.vector.length)
      block.set(slot, known.vector)
    }
    for (const text of missing) if (embedded.get(text)?.tools === 0) embedded.delete(text)
  }

  return {
    add(slot, tool) {
      textBySlot[slot] = getText(tool)
      waiting.add(slot)
    },
    remove(slot) {
      const known = waiting.delete(slot) ? undefined : embedded.get(textBySlot[slot]!)
      if (known && --known.tools === 0) embedded.delete(textBySlot[slot]!)
      textBySlot[slot] = undefined
      block?.remove(slot)
    },
    async computeVectors(texts) {
      // One after the other, so that two searches at once do not pay for the same tools twice.
      working = working.catch(() => undefined).then(embedWaiting)
      await working
      return embedTexts(texts)
    },
    cosinesWith: (vector) => block?.cosinesWith(vector) ?? (() => 0),
    allCosinesWith: (vector) => block?.allCosinesWith(vector) ?? (() => 0),
  }
}

function getText({ source, declared, title, description, tags }: Searchable): string {
  const lines = [source === undefined ? declared : `${source}: ${declared}`, title ?? '', description, tags.join(', ')]
  return lines.filter((line) => line !== '').join('\n')
}

function describeProblem(vector: Vector, dimensions: number): string | undefined {
  if (vector.length !== dimensions) return `gave vectors of ${dimensions} and of ${vector.length} numbers`
  if (dimensions === 0) return 'gave an empty vector'
  for (let i = 0; i < vector.length; i++) {
    if (!Number.isFinite(vector[i])) return `gave a vector with ${String(vector[i])} in it`
  }
  return undefined
}

function unusable(what: string): FoldoutError {
  return new FoldoutError(
    'search-embedding-invalid',
    `The embedding function given to the search ${what}. It must give one vector of numbers for each text, all of one length.`,
  )
}
