import type { Opening } from '../tools/result.ts'

/**
 * Which of the openings that need a new render are made at once: `'eager'` all of a turn, `'conservative'` one section at a
 * time, `'batched'` those of several turns together, as soon as a turn asks for no more.
 */
export type OpeningPolicy = 'eager' | 'conservative' | 'batched'

/** What is opened in one new render. */
export interface Expansion {
  readonly keys: readonly string[]
  readonly paths: readonly string[]
  readonly reason: string
}

/** The openings of one or more turns as one. None is lost, none is made twice. */
export function mergeOpenings(openings: readonly Opening[]): Expansion {
  return {
    keys: unique(openings.flatMap(({ keys }) => keys)),
    paths: unique(openings.flatMap(({ paths }) => paths)),
    reason: unique(openings.map(({ reason }) => reason).filter(Boolean)).join('; '),
  }
}

/** The first section of an expansion with what it lies in, and the keys that are left. */
export function takeFirst(expansion: Expansion): { readonly first: Expansion; readonly left: readonly string[] } {
  const [key, ...left] = expansion.keys
  const paths = expansion.paths.filter((path) => path === key || key?.startsWith(`${path}.`))
  return { first: { keys: key === undefined ? [] : [key], paths, reason: expansion.reason }, left }
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)]
}
