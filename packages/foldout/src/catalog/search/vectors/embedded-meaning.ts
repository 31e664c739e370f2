import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import type { Embed, Searchable } from '../contract.ts'
import { MAX_LONG_FIELD_CHARACTERS } from '../limits.ts'
import { cutText } from '../../../core/text.ts'
import { VECTOR_COST, type Meaning, type Vector } from './meaning.ts'
import { createVectorBlock, type VectorBlock } from './vector-block.ts'

/** How many texts are passed to the function at once. */
const BATCH = 64

interface Embedded {
  readonly vector: Vector
  /** How many tools have this text. */
  tools: number
}

/**
 * Finds nearness of meaning with the user's embedding function. Tools are embedded in batches when something is searched, and
 * each text only once as long as a tool has it. A batch that failed is tried again at the next search.
 */
export function createEmbeddedMeaning(embed: Embed): Meaning {
  /** The texts of tools that have no vector yet. */
  const waiting = new Map<number, string>()
  /** The texts of tools that have one. */
  const textBySlot = new Map<number, string>()
  const embedded = new Map<string, Embedded>()
  let block: VectorBlock | undefined

  const embedTexts = createEmbedder(embed)

  const embedMissing = async (texts: Iterable<string>): Promise<void> => {
    const list = [...texts].sort()
    for (let from = 0; from < list.length; from += BATCH) {
      const batch = list.slice(from, from + BATCH)
      const vectors = await embedTexts(batch)
      batch.forEach((text, at) => {
        const vector = vectors[at]
        if (vector) embedded.set(text, { vector, tools: 0 })
      })
    }
  }

  return {
    kind: 'own',
    get isReady() {
      return waiting.size === 0
    },
    add(slot, tool) {
      waiting.set(slot, getText(tool))
    },
    remove(slot) {
      waiting.delete(slot)
      const text = textBySlot.get(slot)
      if (text === undefined) return
      textBySlot.delete(slot)
      block?.remove(slot)
      const known = embedded.get(text)
      if (known && --known.tools === 0) embedded.delete(text)
    },
    async prepare(slice) {
      const missing = new Set([...waiting.values()].filter((text) => !embedded.has(text)))
      await embedMissing(missing)
      // Tools may have been added and removed meanwhile. The added ones are next.
      for (const [slot, text] of waiting) {
        const known = embedded.get(text)
        if (!known) continue
        known.tools++
        waiting.delete(slot)
        textBySlot.set(slot, text)
        block ??= createVectorBlock(known.vector.length)
        block.set(slot, known.vector)
        if (slice.spend(VECTOR_COST)) await slice.next()
      }
      for (const text of missing) if (embedded.get(text)?.tools === 0) embedded.delete(text)
    },
    computeVectors: embedTexts,
    cosinesWith: (vector) => block?.cosinesWith(vector) ?? (() => 0),
    allCosinesWith: (vector) => block?.allCosinesWith(vector) ?? (() => 0),
  }
}

/** Wraps the user's function and checks what it returns. */
function createEmbedder(embed: Embed): (batch: readonly string[]) => Promise<readonly Vector[]> {
  let dimensions: number | undefined

  const checkVectors = (vectors: readonly Vector[]): readonly Vector[] => {
    for (const vector of vectors) {
      dimensions ??= vector.length
      const problem = describeProblem(vector, dimensions)
      if (problem !== undefined) throw createInvalidError(problem)
    }
    return vectors
  }

  return async (batch) => {
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
      const got = Array.isArray(vectors) ? `${vectors.length} vectors` : 'something other than a list of vectors'
      throw createInvalidError(`returned ${got} for ${batch.length} texts`)
    }
    return checkVectors(vectors)
  }
}

function getText(tool: Searchable): string {
  const { source, declared, title, tags } = tool
  const name = source === undefined ? declared : `${source}: ${declared}`
  const lines = [name, title ?? '', cutText(tool.description, MAX_LONG_FIELD_CHARACTERS), tags.join(', ')]
  return lines.filter((line) => line !== '').join('\n')
}

function describeProblem(vector: Vector, dimensions: number): string | undefined {
  if (vector.length !== dimensions) return `returned vectors of different lengths, ${dimensions} and ${vector.length}`
  if (dimensions === 0) return 'returned an empty vector'
  for (let i = 0; i < vector.length; i++) {
    if (!Number.isFinite(vector[i])) return `returned a vector that contains ${String(vector[i])}`
  }
  return undefined
}

function createInvalidError(what: string): FoldoutError {
  return new FoldoutError(
    'search-embedding-invalid',
    `The embedding function given to the search ${what}. It must return one vector of numbers for each text, all of the same length.`,
  )
}
