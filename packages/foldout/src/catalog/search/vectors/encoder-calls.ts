import { toTimerMs } from '../../../core/timer.ts'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { untilAborted } from '../../../core/abort.ts'
import type { Embed, EmbeddedText } from '../encoder.ts'
import type { Vector } from './meaning.ts'

/** Work that was not done in time. */
class LateError extends Error {}

/** Whether an embedding function failed only because it was too slow. */
export function isLate(error: unknown): boolean {
  return error instanceof FoldoutError && error.cause instanceof LateError
}

/** Embeds texts within a time limit. Rejects with a `FoldoutError` that says what is wrong with the function. */
export type CheckedEmbed = (
  texts: readonly string[],
  kind: EmbeddedText,
  withinMs: number,
) => Promise<readonly Vector[]>

/** Wraps an embedding function with a time limit and a check of its results. */
export function createCheckedEmbed(embed: Embed): CheckedEmbed {
  let dimensions: number | undefined

  const checkVectors = (vectors: unknown, count: number): readonly Vector[] => {
    if (!Array.isArray(vectors)) throw createInvalidError('returned something other than a list of vectors')
    if (vectors.length !== count) throw createInvalidError(`returned ${vectors.length} vectors for ${count} texts`)
    let expected = dimensions
    for (const vector of vectors as readonly unknown[]) {
      if (!isVector(vector)) throw createInvalidError('returned something other than a vector of numbers')
      expected ??= vector.length
      const problem = describeProblem(vector, expected)
      if (problem !== undefined) throw createInvalidError(problem)
    }
    // Only a fully valid answer defines the length of vectors.
    dimensions = expected
    return vectors as readonly Vector[]
  }

  return async (texts, kind, withinMs) => {
    const vectors = await callWithin(withinMs, kind, (signal) => embed(texts, { kind, signal }))
    return checkVectors(vectors, texts.length)
  }
}

async function callWithin<Result>(
  ms: number,
  kind: EmbeddedText,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  try {
    // Nobody waits for the vectors of tools, so they must not keep the process alive.
    return await finishWithin(ms, { keepsAlive: kind === 'query' }, work)
  } catch (error) {
    if (error instanceof FoldoutError && error.code.startsWith('peer-')) throw error
    throw new FoldoutError(
      'search-embedding-failed',
      `The search's embedding function failed: ${getErrorMessage(error)}`,
      { cause: error },
    )
  }
}

/** Runs work that may never end, and rejects after a time limit. */
export async function finishWithin<Result>(
  ms: number,
  { keepsAlive }: { readonly keepsAlive: boolean },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new LateError(`it did not answer within ${ms} ms`)), toTimerMs(ms))
  if (!keepsAlive && typeof timer === 'object') timer.unref()
  try {
    return await untilAborted(controller.signal, async () => work(controller.signal))
  } finally {
    clearTimeout(timer)
  }
}

function isVector(value: unknown): value is Vector {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value)
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
    `The search's embedding function ${what}. It must return one vector of numbers for each text, all of the same length.`,
  )
}
