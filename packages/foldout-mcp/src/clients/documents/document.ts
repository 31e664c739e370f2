import { isDeepStrictEqual } from 'node:util'
import { MOST_TRIED_ENTRIES } from './limits.ts'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { Change, DocumentFormat, EntryChange, Format, Path, ServerPlace } from './format.ts'

/** Loads a parser when it is first needed, because most commands need none or one. */
export async function loadFormat(format: DocumentFormat): Promise<Format> {
  const load = async (): Promise<Format> => {
    if (format === 'yaml') return (await import('./yaml.ts')).yamlFormat
    if (format === 'toml') return (await import('./toml.ts')).tomlFormat
    return (await import('./json.ts')).jsonFormat
  }
  return keepByteOrderMark(await load())
}

/** Applies a change to one server of a text, as {@link applyChanges} does. */
export function applyChange(format: Format, text: string, { path, isList = false, ...entry }: Change): string {
  return applyChanges(format, text, { path, isList }, [entry])
}

/**
 * Applies changes to the servers of a text, and leaves the meaning of everything else unchanged.
 *
 * @throws Error if the text is not valid, or the changes would affect anything else.
 */
export function applyChanges(
  format: Format,
  text: string,
  place: ServerPlace,
  entries: readonly EntryChange[],
): string {
  const before = format.parse(text)
  const expected = prune(changeEntries(before, place, entries), place.path)
  if (isDeepStrictEqual(prune(before, place.path), expected)) return text
  const plain = entries.map(({ name, value }) => ({ name, value }))
  const hasSources = entries.some(({ source }) => source !== undefined)
  for (const attempt of hasSources ? [entries, plain] : [plain]) {
    try {
      const after = format.edit(text, place, attempt)
      if (isDeepStrictEqual(prune(format.parse(after), place.path), expected)) return after
    } catch {
      // To the user, an editor that fails and one that is wrong are the same.
    }
  }
  throw new Error(describeUnsafe(format, text, place, plain))
}

/** Says which entry is in the way. Only some are tried, because each attempt costs a parse. */
function describeUnsafe(format: Format, text: string, place: ServerPlace, entries: readonly EntryChange[]): string {
  const map = place.path.join('.')
  const isSafe = (entry: EntryChange): boolean => {
    try {
      const expected = prune(changeEntries(format.parse(text), place, [entry]), place.path)
      return isDeepStrictEqual(prune(format.parse(format.edit(text, place, [entry])), place.path), expected)
    } catch {
      return false
    }
  }
  const found = entries.length === 1 ? entries[0] : entries.slice(0, MOST_TRIED_ENTRIES).find((entry) => !isSafe(entry))
  const isNew = getEntries(format.parse(text), place.path, place.isList)?.has(found?.name ?? '') !== true
  if (!found || isNew) return `its "${map}" is written in a way that cannot be edited safely`
  return `its entry "${found.name}" in "${map}" is written in a way that cannot be edited safely. ${format.describePlain({ ...place, name: found.name })}`
}

/** Whether two texts have the same servers, in any order, and the same everything else. */
export function hasSameMeaning(one: unknown, other: unknown, { path, isList = false }: ServerPlace): boolean {
  const getServers = (root: unknown): unknown => getEntries(root, path, isList) ?? new Map()
  const getRest = (root: unknown): unknown => {
    if (getAt(root, path) === undefined) return prune(root, path)
    return prune(
      replaceAt(root, path, () => undefined),
      path,
    )
  }
  return isDeepStrictEqual(getServers(one), getServers(other)) && isDeepStrictEqual(getRest(one), getRest(other))
}

/** The servers of a file by name, wherever they are; undefined if there are none. */
export function getEntries(root: unknown, path: Path, isList = false): ReadonlyMap<string, unknown> | undefined {
  const container = getAt(root, path)
  if (isList && Array.isArray(container)) {
    return new Map(container.filter(hasName).map((entry) => [entry.name, entry]))
  }
  if (isObject(container)) return new Map(Object.entries(container))
  return undefined
}

/** The entries of a list that cannot be told apart, with their places, counted from 1. */
export function listNameless(root: unknown, path: Path): readonly number[] {
  const container = getAt(root, path)
  if (!Array.isArray(container)) return []
  return container.flatMap((entry: unknown, i) => (hasName(entry) ? [] : [i + 1]))
}

function hasName(entry: unknown): entry is JsonObject & { readonly name: string } {
  return isObject(entry) && typeof entry['name'] === 'string'
}

export function getAt(root: unknown, path: Path): unknown {
  return path.reduce(getOwn, root)
}

function getOwn(value: unknown, key: string): unknown {
  if (isObject(value) && Object.hasOwn(value, key)) return value[key]
  return undefined
}

/** The parsers are recursive. */
function parseFlat(format: Format, text: string): unknown {
  try {
    return format.parse(text)
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof RangeError ? error.cause : error
    if (reason instanceof RangeError) throw new Error('it is nested too deeply', { cause: error })
    throw error
  }
}

function keepByteOrderMark(format: Format): Format {
  const split = (text: string): readonly [string, string] => {
    if (text.startsWith('\uFEFF')) return ['\uFEFF', text.slice(1)]
    return ['', text]
  }
  return {
    parse: (text) => parseFlat(format, split(text)[1]),
    edit(text, place, entries) {
      const [mark, rest] = split(text)
      return `${mark}${format.edit(rest, place, entries)}`
    },
    describePlain: (place) => format.describePlain(place),
    extract: (text, place) => format.extract(split(text)[1], place),
  }
}

function changeEntries(root: unknown, { path, isList = false }: ServerPlace, entries: readonly EntryChange[]): unknown {
  const isOnlyCut = entries.every(({ value }) => value === undefined)
  if (isOnlyCut && getAt(root, path) === undefined) return root
  return replaceAt(root, path, (container) =>
    isList ? changeList(toList(container), entries) : changeObject(toObject(container), entries),
  )
}

/** A map sets own properties, even for the key `__proto__`. */
function changeObject(container: JsonObject, entries: readonly EntryChange[]): JsonObject {
  const changed = new Map(Object.entries(container))
  for (const { name, value } of entries) {
    if (value === undefined) changed.delete(name)
    else changed.set(name, value)
  }
  return Object.fromEntries(changed)
}

/** New entries come first. */
function changeList(container: readonly unknown[], entries: readonly EntryChange[]): readonly unknown[] {
  const names = new Set(entries.map(({ name }) => name))
  const added = entries
    .map(({ value }) => value)
    .filter((value) => value !== undefined)
    .toReversed()
  return [...added, ...container.filter((item) => !hasName(item) || !names.has(item.name))]
}

function replaceAt(root: unknown, path: Path, replace: (container: unknown) => unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return replace(root)
  const inner = toObject(root)
  const value = replaceAt(getOwn(inner, key), rest, replace)
  return Object.fromEntries([...Object.entries(inner).filter(([name]) => name !== key), [key, value]])
}

function toObject(value: unknown): JsonObject {
  if (value === undefined || value === null) return {}
  if (isObject(value)) return value
  throw new Error('its servers are not an object')
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new Error('its servers are not a list')
}

/** Leaves out empty containers, because not every format writes them. */
function prune(root: unknown, path: Path): unknown {
  const [key, ...rest] = path
  if (key === undefined) return emptyToUndefined(root)
  if (!isObject(root)) return root ?? undefined
  const value = prune(getOwn(root, key), rest)
  const others = Object.entries(root).filter(([name]) => name !== key)
  if (value === undefined) return emptyToUndefined(Object.fromEntries(others))
  return Object.fromEntries([...others, [key, value]])
}

function emptyToUndefined(value: unknown): unknown {
  if (isEmpty(value)) return undefined
  return value
}

export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
