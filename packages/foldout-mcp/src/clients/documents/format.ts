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

/** What becomes of one server. */
export interface EntryChange {
  readonly name: string
  /** The new entry; undefined removes the server. */
  readonly value: unknown
  /** How another text has the entry, with its comments. */
  readonly source?: string | undefined
}

/** A change to one server in a text. */
export interface Change extends ServerPlace, EntryChange {}

/** Reads and edits texts in one format. */
export interface Format {
  /** @throws Error if the text is not valid. */
  parse(text: string): unknown
  /** Makes only these changes. The result is checked afterwards, so an editor may fail on unexpected texts. */
  edit(text: string, place: ServerPlace, entries: readonly EntryChange[]): string
  /** How an entry must be written to be edited, as an instruction. */
  describePlain(place: EntryPlace): string
  /** An entry as it is written, for {@link Change.source}; undefined if it cannot be taken out of its text. */
  extract(text: string, place: EntryPlace): string | undefined
}

/** The line breaks and the indentation of a text. */
export interface Style {
  readonly eol: string
  readonly indent: string
}

export function getStyle(text: string): Style {
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

/** A value inside objects, one for each key of a path. */
export function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value)
}
