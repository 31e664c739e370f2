import { nest } from './format.ts'
import { parse, stringify, TomlError } from 'smol-toml'
import { MOST_DOUBTFUL_HEADERS } from './limits.ts'
import { endLine, getStyle, type EntryChange, type Format, type Path } from './format.ts'
import { isObject } from 'foldout-shared/values'

/** A server is one block of tables, which is appended or cut out. */
export const tomlFormat: Format = {
  parse(text) {
    try {
      return toPlain(parse(text, { integersAsBigInt: 'asNeeded' }))
    } catch (error) {
      throw new Error(`it is not valid TOML: ${describeError(error)}`, { cause: error })
    }
  },

  edit: (text, { path }, entries) => entries.reduce((next, entry) => edit(next, path, entry), text),

  describePlain: ({ path, name }) =>
    `Write it as a table of its own, ${stringify(nest([...path, name], {})).trim()}, then try again`,

  extract(text, { path, name }) {
    const tables = findTables(text, [...path, name])
    if (tables.length === 0) return undefined
    return tables.map(([start, end]) => endLine(text.slice(start, end))).join('')
  },
}

function edit(text: string, path: Path, { name, value, source }: EntryChange): string {
  const without = cutTables(text, [...path, name])
  if (value === undefined) return without
  return append(cutEmptyTable(without, path), source ?? stringify(nest([...path, name], value)))
}

function describeError(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n')
  if (!(error instanceof TomlError)) return first
  return `${first.replace('Invalid TOML document: ', '')} in line ${error.line}`
}

/** Copies the parser's tables, which have no prototype and so would not equal plain objects. */
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  if (!isObject(value) || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]))
}

function append(text: string, content: string): string {
  const { eol } = getStyle(text)
  const block = content.trimEnd().replaceAll(/\r?\n/g, eol)
  if (text.trim() === '') return `${text}${block}${eol}`
  return `${endLine(text)}${eol}${block}${eol}`
}

/** Cuts `mcp_servers = {}`, because nothing can be added to a table in braces. */
function cutEmptyTable(text: string, path: Path): string {
  const [key = ''] = path
  if (path.length === 1) return text.replace(new RegExp(`^[ \\t]*"?${key}"?[ \\t]*=[ \\t]*\\{[ \\t]*\\}`, 'm'), '')
  return text
}

interface Header {
  readonly offset: number
  readonly path: Path
}

/** Cuts the table at a path and all tables in it. */
function cutTables(text: string, path: Path): string {
  return findTables(text, path).reduceRight((rest, [start, end]) => {
    const after = rest.slice(end)
    // The empty line above the last table goes too.
    const before = after === '' ? rest.slice(0, start).replace(/(\n)\r?\n$/, '$1') : rest.slice(0, start)
    return `${before}${after}`
  }, text)
}

/** Where the table at a path and all tables in it are. Comments above the next table belong to that table. */
function findTables(text: string, path: Path): readonly (readonly [number, number])[] {
  const headers = listHeaders(text)
  let attempts = 0
  const isBetween = (start: number, end: number): boolean => {
    attempts += 1
    if (attempts > MOST_DOUBTFUL_HEADERS) throw new Error('too many lines inside its strings look like tables')
    return isComplete(text.slice(start, end))
  }
  return headers.flatMap(({ offset, path: own }, i) => {
    if (!path.every((key, j) => own[j] === key) || !isBetween(0, offset)) return []
    const next = headers.slice(i + 1).find((header) => isBetween(offset, header.offset))
    return [[offset, getContentEnd(text, offset, next?.offset ?? text.length)] as const]
  })
}

/** Lines that look like table headers. Some may be inside a string or a list. */
function listHeaders(text: string): readonly Header[] {
  return Array.from(text.matchAll(/^[ \t]*\[[^\r\n]*/gm)).flatMap((match) => {
    const path = readHeader(match[0])
    if (path === undefined) return []
    return [{ offset: match.index, path }]
  })
}

function readHeader(line: string): Path | undefined {
  try {
    const path: string[] = []
    let value: unknown = parse(line)
    while (isObject(value) || Array.isArray(value)) {
      const [entry] = Object.entries(Array.isArray(value) ? (value[0] as object) : value)
      if (!entry) break
      path.push(entry[0])
      value = entry[1]
    }
    return path
  } catch {
    return undefined
  }
}

/** Whether a text ends outside strings and lists, according to the parser. */
function isComplete(text: string): boolean {
  try {
    parse(text, { integersAsBigInt: 'asNeeded' })
    return true
  } catch {
    return false
  }
}

function getContentEnd(text: string, start: number, end: number): number {
  const lines = text.slice(start, end).split(/(?<=\n)/)
  const last = lines.findLastIndex((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
  return start + lines.slice(0, last + 1).join('').length
}
