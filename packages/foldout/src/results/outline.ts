import { isObject } from 'foldout-shared/values'
import { formatNumber } from 'foldout-shared/numbers'
import { OUTLINE_KEYS, OUTLINE_LINES, OUTLINE_SAMPLES } from './limits.ts'
import { formatStep } from './json-text.ts'

/** What was found at one path. */
interface Place {
  readonly path: string
  readonly samples: readonly unknown[]
  /** How many of the values above have it. */
  readonly share: string
  readonly inner: Place[]
  /** Keys that are left out. */
  hidden: number
}

/**
 * The shape of a JSON value: one line for each path, with the types and counts of what is there. Items of a list are taken
 * together. If there is too much, paths closer to the root come first.
 */
export function outlineJson(value: unknown): string {
  const root: Place = { path: '$', samples: [value], share: '', inner: [], hidden: 0 }
  let lines = 1
  let isCut = false
  for (const queue = [root]; ;) {
    const place = queue.shift()
    if (!place) break
    const found = findInner(place)
    const room = OUTLINE_LINES - lines
    place.inner.push(...found.slice(0, Math.min(room, OUTLINE_KEYS)))
    place.hidden = found.length - place.inner.length
    if (found.length > room) isCut = true
    lines += place.inner.length
    queue.push(...place.inner)
  }
  const written: string[] = []
  // A path grows with each level, so deeply nested values are never reached.
  const write = (place: Place): void => {
    written.push(`${place.path}: ${describeKinds(place.samples)}${place.share}`)
    for (const inner of place.inner) write(inner)
    if (place.hidden > 0 && place.inner.length > 0)
      written.push(`${place.path}: ${formatNumber(place.hidden)} more keys`)
  }
  write(root)
  if (isCut) written.push('(Not all of it is shown.)')
  return written.join('\n')
}

function findInner({ path, samples }: Place): readonly Place[] {
  const items = samples.flatMap((sample) => (Array.isArray(sample) ? sample.slice(0, OUTLINE_SAMPLES) : []))
  const objects = samples.filter(isObject)
  const byKey = new Map<string, unknown[]>()
  for (const object of objects)
    for (const key of Object.keys(object)) {
      const known = byKey.get(key)
      if (known) known.push(object[key])
      else byKey.set(key, [object[key]])
    }
  const places = Array.from(byKey, ([key, values]) => ({
    path: `${path}${formatStep(key)}`,
    samples: values,
    share: values.length < objects.length ? ` (in ${values.length} of ${objects.length})` : '',
    inner: [],
    hidden: 0,
  }))
  if (items.length === 0) return places
  return [{ path: `${path}[*]`, samples: items.slice(0, OUTLINE_SAMPLES), share: '', inner: [], hidden: 0 }, ...places]
}

function describeKinds(samples: readonly unknown[]): string {
  const lists = samples.filter(Array.isArray)
  const objects = samples.filter(isObject)
  const others = samples.filter((sample) => !Array.isArray(sample) && !isObject(sample))
  const kinds = new Set<string>()
  if (lists.length > 0) kinds.add(`list of ${formatRange(lists.map(({ length }) => length))}`)
  if (objects.length > 0) kinds.add(`object with ${formatKeys(objects.map((object) => Object.keys(object).length))}`)
  for (const other of others) kinds.add(describeScalar(other, samples.length === 1))
  return [...kinds].join(' or ')
}

function describeScalar(value: unknown, isOnly: boolean): string {
  if (value === null) return 'null'
  if (typeof value === 'string' && isOnly && value.length > 100)
    return `string of ${formatNumber(value.length)} characters`
  return typeof value
}

function formatKeys(counts: readonly number[]): string {
  if (counts.every((count) => count === 1)) return '1 key'
  return `${formatRange(counts)} keys`
}

function formatRange(counts: readonly number[]): string {
  const least = counts.reduce((a, b) => Math.min(a, b))
  const most = counts.reduce((a, b) => Math.max(a, b))
  if (least === most) return formatNumber(most)
  return `${formatNumber(least)} to ${formatNumber(most)}`
}
