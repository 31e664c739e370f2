import { isDeepStrictEqual } from 'node:util'

/** JSON may have comments and trailing commas. */
export type DocumentFormat = 'json' | 'yaml' | 'toml'

export type Path = readonly string[]

/** Where a text has its servers. */
export interface ServerPlace {
  readonly path: Path
  /** Whether the servers are a list of named entries. */
  readonly isList?: boolean
}

/** A server in a text. */
export interface EntryPlace extends ServerPlace {
  readonly name: string
}

/** A change to one server in a text. */
export interface Change extends EntryPlace {
  /** The new entry; undefined removes the server. */
  readonly value: unknown
  /** How another text has the entry, with its comments. */
  readonly source?: string | undefined
}

/** Reads and edits texts in one format. */
export interface Format {
  /** @throws Error if the text is not valid. */
  parse(text: string): unknown
  /** Makes only this change. The result is checked afterwards, so an editor may fail on unexpected texts. */
  edit(text: string, change: Change): string
  /** An entry as it is written, for {@link Change.source}; undefined if it cannot be taken out of its text. */
  extract(text: string, place: EntryPlace): string | undefined
}

type JsonObject = Readonly<Record<string, unknown>>

/** Loads a parser when it is first needed, because most commands need none or one. */
export async function loadFormat(format: DocumentFormat): Promise<Format> {
  const load = async (): Promise<Format> => {
    if (format === 'yaml') return (await import('./yaml.ts')).yamlFormat
    if (format === 'toml') return (await import('./toml.ts')).tomlFormat
    return (await import('./json.ts')).jsonFormat
  }
  return keepByteOrderMark(await load())
}

/**
 * Applies a change to a text, and leaves the meaning of everything else unchanged.
 *
 * @throws Error if the text is not valid, or the change would affect anything else.
 */
export function applyChange(format: Format, text: string, change: Change): string {
  const before = format.parse(text)
  const expected = prune(changeValue(before, change), change.path)
  if (isDeepStrictEqual(prune(before, change.path), expected)) return text
  const { source, ...plain } = change
  for (const attempt of source === undefined ? [plain] : [change, plain]) {
    try {
      const after = format.edit(text, attempt)
      if (isDeepStrictEqual(prune(format.parse(after), change.path), expected)) return after
    } catch {
      // To the user, an editor that fails and one that is wrong are the same.
    }
  }
  throw new Error(`its "${change.path.join('.')}" is written in a way that cannot be edited safely`)
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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The line breaks and the indentation of a text. */
export function getStyle(text: string): { readonly eol: string; readonly indent: string } {
  const indent = /^(?:\t|[ ]{1,8})(?=[^\s])/m.exec(text)?.[0] ?? '  '
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', indent }
}

/** The text with a line break at its end, unless it is empty. */
export function endLine(text: string): string {
  if (text === '' || text.endsWith('\n')) return text
  return `${text}${getStyle(text).eol}`
}

/** Indents all lines of a text but the first. */
export function indentLines(source: string, lead: string, eol: string): string {
  return source
    .split(/\r?\n/)
    .map((line, i) => (i === 0 || line.trim() === '' ? line : `${lead}${line}`))
    .join(eol)
}

/** Removes the indentation that a text has in its own file. */
export function outdentLines(source: string, lead: string): string {
  return source
    .split(/\r?\n/)
    .map((line) => (line.startsWith(lead) ? line.slice(lead.length) : line.trimStart()))
    .join('\n')
}

function keepByteOrderMark(format: Format): Format {
  const split = (text: string): readonly [string, string] =>
    text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
  return {
    parse: (text) => format.parse(split(text)[1]),
    edit(text, change) {
      const [mark, rest] = split(text)
      return `${mark}${format.edit(rest, change)}`
    },
    extract: (text, place) => format.extract(split(text)[1], place),
  }
}

function changeValue(root: unknown, change: Change): unknown {
  if (change.value === undefined) return dropEntry(root, change)
  return setEntry(root, change)
}

function setEntry(root: unknown, { path, isList = false, name, value }: Change): unknown {
  return replaceAt(root, path, (container) => {
    if (!isList) return { ...toObject(container), ...toEntry(name, value) }
    return [value, ...toList(container).filter((item) => !isObject(item) || item['name'] !== name)]
  })
}

function dropEntry(root: unknown, { path, isList = false, name }: Change): unknown {
  if (getAt(root, path) === undefined) return root
  return replaceAt(root, path, (container) => {
    if (isList) return toList(container).filter((item) => !isObject(item) || item['name'] !== name)
    return Object.fromEntries(Object.entries(toObject(container)).filter(([key]) => key !== name))
  })
}

/** Sets an own property, even for the key `__proto__`. */
function toEntry(name: string, value: unknown): JsonObject {
  return Object.fromEntries([[name, value]])
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
