import type * as jsonP3 from 'json-p3'
import type { JSONPathEnvironment, JSONValue } from 'json-p3'
import { compilePattern, type CompiledPatternResult } from '../core/pattern/pattern.ts'
import { isObject } from 'foldout-shared/values'
import { MAX_COUNTED, MAX_PATH_DEPTH, PATH_VISITS } from './limits.ts'
import { formatPath, writeJson } from './json-text.ts'
import { createSearch, getStart, sliceWhole, type Search } from './read-text.ts'
import type { Reading, ReadingAnswer, ReadingEntry } from './reading.ts'

type JsonPath = typeof jsonP3

/** A value, and the keys that lead to it. */
interface Item {
  readonly location: readonly (string | number)[]
  readonly value: unknown
}

/** Reads items of a JSON value: its own, those that a path selects, or all values in it that match a pattern. */
export async function readJson(value: unknown, reading: Reading): Promise<ReadingAnswer> {
  const { path, grep } = reading
  if (path !== undefined && !reading.hasOwnThread && visitsTooMuch(value, path)) return { fault: TOO_MUCH }
  // Few results are read by path.
  const jsonPath = path === undefined ? undefined : await import('json-p3')
  const select = (): Generator<Item> => {
    if (jsonPath && path !== undefined) return query(jsonPath, value, path)
    return listItems(value)
  }
  try {
    if (grep !== undefined) {
      const search = createSearch(grep, reading)
      if ('fault' in search) return search
      return collect(findScalars(path === undefined ? [{ location: [], value }] : select()), reading, search)
    }
    return collect(path === undefined ? select() : listSelected(select(), reading), reading)
  } catch (error) {
    if (error instanceof RangeError) return { fault: TOO_DEEP }
    if (!jsonPath || !(error instanceof jsonPath.JSONPathError)) throw error
    return { fault: describeFault(error) }
  }
}

const TOO_DEEP = 'The JSON is nested too deep for this path. Use a path without "..".'

const TOO_MUCH =
  'This path would visit too many values. Name the keys instead of using "..", or filter with a simple condition such as [?@.price < 10].'

/**
 * Whether a path may visit more values than the process can wait for: each `..` may visit all of them again, and so may
 * each `$` in a filter that looks at many values. Each selector of a list such as `[0, 0]` visits its own.
 */
function visitsTooMuch(value: unknown, path: string): boolean {
  const outside = path.replaceAll(FILTER, '')
  const again = (path.match(FILTER) ?? []).filter((filter) => /\.\.|\*|:|\?.*\?/.test(filter))
  const inFilters = again.reduce((sum, filter) => sum + filter.split('$').length, 0)
  const rounds = Math.max(1, outside.split('..').length - 1 + inFilters)
  const selectors = (path.match(/\[[^[\]]*\]/g) ?? []).reduce((all, list) => all * list.split(',').length, 1)
  if (rounds === 1 && again.length === 0 && selectors === 1) return false
  const most = PATH_VISITS / selectors / path.split(/\.\.|\*|\?/).length
  return countValues(value, Math.ceil(most ** (1 / rounds))) ** rounds > most
}

/** A filter of a path, as far as the next bracket that closes. */
const FILTER = /\[\?[^]*?\](?=\s*(?:$|\.|\[))/g

/** Counts the values in a value, up to a number. */
function countValues(value: unknown, most: number): number {
  const waiting: unknown[] = [value]
  let count = 0
  for (let next = waiting.pop(); next !== undefined && count <= most; next = waiting.pop()) {
    count++
    if (typeof next !== 'object' || next === null) continue
    for (const inner of Object.values(next)) if (waiting.push(inner) > most) return most + 1
  }
  return count
}

function describeFault(error: Error): string {
  return `The path cannot be used: ${error.message}. Write a JSONPath such as $.items[0:10].name or $.items[?@.price < 10].`
}

/** The items of a list, the fields of an object, or the value itself. */
function* listItems(value: unknown, at: Item['location'] = []): Generator<Item> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield { location: [...at, i], value: item }
  else if (isObject(value)) for (const key of Object.keys(value)) yield { location: [...at, key], value: value[key] }
  else yield { location: at, value }
}

/** What a path selects. If that is one list, and a part is asked for, the items of the list. */
function* listSelected(selected: Generator<Item>, { from, count }: Reading): Generator<Item> {
  const { value: first, done } = selected.next() as IteratorResult<Item, undefined>
  if (done) return
  const second = selected.next() as IteratorResult<Item, undefined>
  const isPart = from !== 1 || count !== undefined
  if (second.done && isPart && Array.isArray(first.value)) yield* listItems(first.value, first.location)
  else yield first
  if (!second.done) yield second.value
  yield* selected
}

function* query(jsonPath: JsonPath, value: unknown, path: string): Generator<Item> {
  for (const node of createEnvironment(jsonPath).lazyQuery(toReadable(path), value as JSONValue))
    yield { location: node.location, value: node.value }
}

/** A text in quotes, or a number such as 0.5. */
const DECIMAL = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])0(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)/gi

/** The package takes the zero of 0.5 for a leading zero, which is not allowed. It reads 5e-1. */
function toReadable(path: string): string {
  return path.replaceAll(DECIMAL, (found) => {
    if (!found.startsWith('0')) return found
    const value = Number(found)
    if (value === 0) return '0'
    return value.toExponential()
  })
}

const MAX_PATTERNS = 100

/** The package's own functions match with regular expressions that a text can make slow. */
function createEnvironment(jsonPath: JsonPath): JSONPathEnvironment {
  const environment = new jsonPath.JSONPathEnvironment({ maxRecursionDepth: MAX_PATH_DEPTH })
  const known = new Map<string, CompiledPatternResult>()
  for (const [name, isWhole] of [
    ['match', true],
    ['search', false],
  ] as const) {
    const original = environment.functionRegister.get(name)
    if (!original) throw new Error(`The function ${name} is missing.`)
    environment.functionRegister.set(name, {
      argTypes: original.argTypes,
      returnType: original.returnType,
      call(text: unknown, pattern: unknown) {
        if (typeof text !== 'string' || typeof pattern !== 'string') return false
        const source = isWhole ? `^(?:${pattern})$` : pattern
        const compiled = known.get(source) ?? compilePattern(source)
        // Patterns may come from the data as well.
        if (known.size < MAX_PATTERNS) known.set(source, compiled)
        return 'pattern' in compiled && compiled.pattern.test(text) === true
      },
    })
  }
  return environment
}

interface Waiting {
  readonly value: unknown
  readonly key: string | number | undefined
  readonly above: Waiting | undefined
  /** The keys that lead to the first one. */
  readonly base: readonly (string | number)[]
}

/** Every text, number and so on in some values, in order, without recursion. */
function* findScalars(items: Iterable<Item>): Generator<Item> {
  for (const { location, value } of items) {
    const waiting: Waiting[] = [{ value, key: undefined, above: undefined, base: location }]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { value: found } = next
      if (typeof found !== 'object' || found === null) {
        const place = next
        yield {
          get location() {
            return toLocation(place)
          },
          value: found,
        }
        continue
      }
      const above = next
      const keys = Array.isArray(found) ? found.keys() : Object.keys(found)
      const inner = Array.from(keys, (key: string | number) => ({
        value: (found as Readonly<Record<string | number, unknown>>)[key],
        key,
        above,
        base: location,
      }))
      for (const one of inner.toReversed()) waiting.push(one)
    }
  }
}

function toLocation(place: Waiting): readonly (string | number)[] {
  const keys: (string | number)[] = []
  for (let at: Waiting | undefined = place; at; at = at.above) if (at.key !== undefined) keys.push(at.key)
  return [...place.base, ...keys.toReversed()]
}

/** The forms of a value in which it is searched: a text as it is, and any value as JSON, with its key if it has one. */
function toSearched({ value, location }: Item): readonly string[] {
  const key = location.at(-1)
  const json = JSON.stringify(value) ?? 'null'
  const own = typeof value === 'string' ? value : json
  if (typeof key === 'string') return [own, `${JSON.stringify(key)}: ${json}`]
  return [...new Set([own, json])]
}

/** Collects the items that are wanted, and counts the others. */
function collect(items: Iterable<Item>, reading: Reading, search?: Search): ReadingAnswer {
  const { count = Infinity, characters } = reading
  const counted = reading.from < 0 ? [...items] : items
  const start = getStart(reading.from, Array.isArray(counted) ? counted.length : 0)
  const entries: ReadingEntry[] = []
  let left = characters
  let at = 0
  let next: number | undefined
  for (const item of counted) {
    at++
    if (at <= start) continue
    if (next !== undefined) {
      // A search would take too long for nothing but a number.
      if (search || at - start > MAX_COUNTED)
        return { unit: 'items', entries, total: undefined, next, isSearch: !!search }
      continue
    }
    if (left <= 0 || entries.length >= count) {
      next = at
      continue
    }
    const entry = search ? findEntry(item, at, search, left) : toEntry(item, at, left)
    if (entry === 'stopped') next = at
    else if (entry) {
      entries.push(entry)
      left -= entry.text.length + entry.label.length + 3
    }
  }
  return { unit: 'items', entries, total: at, next, isSearch: search !== undefined }
}

function toEntry({ location, value }: Item, at: number, most: number): ReadingEntry {
  const { text, isWhole } = writeJson(value, most)
  return { at, label: formatPath(location), text, isCut: !isWhole }
}

function findEntry(item: Item, at: number, search: Search, most: number): ReadingEntry | 'stopped' | undefined {
  let found: ReturnType<Search['find']>
  for (const text of toSearched(item)) {
    found = search.find(text)
    if (found !== undefined) break
  }
  if (found === 'stopped' || found === undefined) return found
  const label = formatPath(item.location)
  if (found.isPiece) return { at, label, text: sliceWhole(found.text, 0, most), isCut: true }
  const { text, isWhole } = writeJson(item.value, most)
  return { at, label, text, isCut: !isWhole }
}
