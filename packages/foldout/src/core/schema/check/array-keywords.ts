import type { Keyword } from './run.ts'
import { formatCount } from '../../text.ts'

const prefixItems: Keyword = (value) => {
  if (!Array.isArray(value)) return undefined
  const schemas: readonly unknown[] = value
  return (place, run, outcome) => {
    const list = place.value
    if (!Array.isArray(list)) return
    const count = Math.min(schemas.length, list.length)
    for (let index = 0; index < count && !outcome.isFull; index++)
      for (const issue of run.evaluate(schemas[index], place.at(index, list[index])).issues) outcome.add(issue)
    outcome.items = Math.max(outcome.items, count)
  }
}

/** The items after a tuple. */
function itemsAfter(first: number, schema: unknown): ReturnType<Keyword> {
  return (place, run, outcome) => {
    const list = place.value
    if (!Array.isArray(list)) return
    for (let index = first; index < list.length && !outcome.isFull; index++)
      for (const issue of run.evaluate(schema, place.at(index, list[index])).issues) outcome.add(issue)
    outcome.items = Infinity
  }
}

// A list in `items` is the older form of a tuple; the items after it are then in `additionalItems`.
const items: Keyword = (value, schema, document) => {
  if (Array.isArray(value)) return prefixItems(value, schema, document)
  return itemsAfter(Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0, value)
}

const additionalItems: Keyword = (value, schema) => {
  if (Array.isArray(schema['items'])) return itemsAfter(schema['items'].length, value)
  return undefined
}

const contains: Keyword = (value, schema) => {
  const min = typeof schema['minContains'] === 'number' ? schema['minContains'] : 1
  const max = typeof schema['maxContains'] === 'number' ? schema['maxContains'] : Infinity
  return (place, run, outcome) => {
    const list = place.value
    if (!Array.isArray(list)) return
    let count = 0
    for (const [index, item] of list.entries()) {
      if (run.evaluate(value, place.at(index, item)).issues.length > 0) continue
      count += 1
      outcome.markItem(index)
    }
    if (count < min)
      outcome.add({
        place,
        keyword: 'contains',
        describe: () => `must contain at least ${formatCount(min, 'item')} of the kind its schema asks for`,
      })
    if (count > max)
      outcome.add({
        place,
        keyword: 'contains',
        describe: () => `must contain at most ${formatCount(max, 'item')} of the kind its schema names`,
      })
  }
}

function sizeKeyword(isTooFar: (length: number, limit: number) => boolean, words: (limit: number) => string): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (place, _run, outcome) => {
      if (Array.isArray(place.value) && isTooFar(place.value.length, limit))
        outcome.add({ place, keyword: 'size', describe: () => words(limit) })
    }
  }
}

const uniqueItems: Keyword = (value) => {
  if (value !== true) return undefined
  return (place, run, outcome) => {
    if (!Array.isArray(place.value)) return
    const seen = new Set<string>()
    for (const item of place.value as readonly unknown[]) {
      run.spend()
      const key = run.identities.getKey(item)
      if (seen.has(key)) {
        outcome.add({ place, keyword: 'uniqueItems', describe: () => 'must not contain the same item twice' })
        return
      }
      seen.add(key)
    }
  }
}

/** Comes after all other keywords. */
export const checkUnevaluatedItems: Keyword = (value) => (place, run, outcome) => {
  if (!Array.isArray(place.value)) return
  const list: readonly unknown[] = place.value
  for (let index = outcome.items; index < list.length && !outcome.isFull; index++) {
    run.spend()
    if (outcome.hasItem(index)) continue
    for (const issue of run.evaluate(value, place.at(index, list[index])).issues) outcome.add(issue)
  }
  outcome.items = Infinity
}

export const ARRAY_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['prefixItems', prefixItems],
  ['items', items],
  ['additionalItems', additionalItems],
  ['contains', contains],
  [
    'minItems',
    sizeKeyword(
      (length, limit) => length < limit,
      (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${formatCount(limit, 'item')}`),
    ),
  ],
  [
    'maxItems',
    sizeKeyword(
      (length, limit) => length > limit,
      (limit) => `must have at most ${formatCount(limit, 'item')}`,
    ),
  ],
  ['uniqueItems', uniqueItems],
]
