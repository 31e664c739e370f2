import {
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  stringify,
  visit,
  type Document,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { endLine, getStyle, indentLines, outdentLines, type Change, type Format, type Path } from './format.ts'

/** The parser gives the positions, and the text itself is edited, so that everything else stays unchanged. */
export const yamlFormat: Format = {
  parse: (text) => parse(text).toJS() as unknown,

  edit: (text, place, entries) => entries.reduce((next, entry) => edit(next, { ...place, ...entry }), text),

  describePlain: () => 'Write it on lines of its own, without anchors, aliases and tags, then try again',

  extract(text, { path, isList = false, name }) {
    const found = findEntry(findPair(parse(text), path)?.value, name, isList)
    if (!found || found.isFlow) return undefined
    const [from, to] = getLines(text, found)
    const lines = text.slice(from, to)
    return outdentLines(lines, /^ */.exec(lines)?.[0] ?? '').trimEnd()
  },
}

function edit(given: string, change: Change): string {
  const { path, isList = false, name, value } = change
  const text = value === undefined ? given : makeRoom(given, change)
  const document = parse(text)
  const pair = findPair(document, path)
  const found = pair && findEntry(pair.value, name, isList)
  const without = found ? cut(text, found) : text
  if (value === undefined) return without
  if (!pair) return appendContainer(text, document, change)
  // The insertion comes right after the key, so the cut further down does not move it.
  const [start = 0] = pair.value?.range ?? []
  return insert(without, pair, change, getColumn(text, start))
}

type Container = YAMLMap | YAMLSeq
type Member = { readonly start: number; readonly end: number; readonly isFlow: boolean }

function parse(text: string): Document.Parsed {
  // Checked here because the library compares every pair of keys, which takes quadratic time.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false })
  const [error] = document.errors
  if (!error) {
    checkKeys(document)
    return document
  }
  // The parser is recursive.
  if (error.message.startsWith('Maximum call stack')) throw new RangeError(error.message, { cause: error })
  if (error.code === 'MULTIPLE_DOCS')
    throw new Error('it is not valid YAML for a client: it has several documents, separated by ---. Keep only one')
  const line = text.slice(0, error.pos[0]).split('\n').length
  throw new Error(`it is not valid YAML: ${error.message} in line ${line}`)
}

function checkKeys(document: Document.Parsed): void {
  visit(document, {
    Map(_, { items }) {
      const keys = items.map(({ key }) => (isScalar(key) ? key.value : key))
      if (new Set(keys).size < keys.length) throw new Error('it is not valid YAML: it has a duplicate key')
    },
  })
}

/** The pair whose value holds the servers. */
function findPair(document: Document.Parsed, path: Path): Pair<Node, Node | null> | undefined {
  let node: unknown = document.contents
  let pair: Pair<Node, Node | null> | undefined
  for (const key of path) {
    if (!isMap(node)) return undefined
    const pairs = node.items as Pair<Node, Node | null>[]
    pair = pairs.find((item) => isScalar(item.key) && item.key.value === key)
    node = pair?.value
  }
  return pair
}

function findEntry(container: unknown, name: string, isList: boolean): Member | undefined {
  if (isList && isSeq(container)) {
    const item = container.items.find((one) => isMap(one) && one.get('name') === name) as YAMLMap | undefined
    return item && toMember(item, item, container)
  }
  if (!isMap(container)) return undefined
  const pair = container.items.find(({ key }) => isScalar(key) && String(key.value) === name)
  return pair && toMember(pair.key as Node, (pair.value ?? pair.key) as Node, container)
}

function toMember(first: Node, last: Node, container: Container): Member {
  const [start = 0] = first.range ?? []
  const [, end = start] = last.range ?? []
  return { start, end, isFlow: container.flow === true }
}

/** Cuts whole lines, or a member of a bracketed list with its comma. */
function cut(text: string, { start, end, isFlow }: Member): string {
  if (isFlow) {
    const comma = /^\s*,\s*/.exec(text.slice(end))?.[0] ?? ''
    return `${text.slice(0, start)}${text.slice(end + comma.length)}`
  }
  const [from, to] = getLines(text, { start, end })
  return `${text.slice(0, from)}${text.slice(to)}`
}

/** The whole lines that an entry is on. */
function getLines(text: string, { start, end }: Pick<Member, 'start' | 'end'>): readonly [number, number] {
  const from = text.lastIndexOf('\n', start - 1) + 1
  if (text[end - 1] === '\n') return [from, end]
  const lineEnd = text.indexOf('\n', end)
  return [from, lineEnd === -1 ? text.length : lineEnd + 1]
}

/** Writes empty places so that something can be added to them: a file `{}`, a key in braces, and the value `~` or `null`. */
function makeRoom(text: string, { path, isList = false }: Change): string {
  const document = parse(text)
  const { contents } = document
  const [key = ''] = path
  if (isNull(contents) || (isFlow(contents) && contents.items.length === 0))
    return replaceNode(text, contents, '').replace(/^\s*$/, '')
  const empty = isList ? '[]' : '{}'
  const pair = findPair(document, path)
  if (!pair && isFlow(contents)) {
    const start = contents.range?.[0] ?? 0
    return `${text.slice(0, start + 1)}${JSON.stringify(key)}: ${empty}, ${text.slice(start + 1)}`
  }
  if (!pair || !isNull(pair.value)) return text
  return replaceNode(text, pair.value, isFlow(contents) ? empty : '')
}

function isNull(node: unknown): node is Scalar {
  return isScalar(node) && node.value === null
}

function isFlow(node: unknown): node is Container {
  return (isMap(node) || isSeq(node)) && node.flow === true
}

function replaceNode(text: string, { range }: Node, content: string): string {
  const [start = 0, end = start] = range ?? []
  return `${text.slice(0, start)}${content}${text.slice(end)}`
}

/** Inserts the entry first, so that comments stay with the entries they describe. */
function insert(text: string, { key, value }: Pair<Node, Node | null>, change: Change, column: number): string {
  const { eol, indent } = getStyle(text)
  const isContainer = isMap(value) || isSeq(value)
  const [valueStart = 0] = value?.range ?? []
  if (isContainer && value.flow) {
    const member = change.isList
      ? JSON.stringify(change.value)
      : `${JSON.stringify(change.name)}: ${JSON.stringify(change.value)}`
    const separator = value.items.length === 0 ? '' : ', '
    return `${text.slice(0, valueStart + 1)}${member}${separator}${text.slice(valueStart + 1)}`
  }
  const [, keyEnd = 0] = key.range ?? []
  const lineEnd = text.indexOf('\n', keyEnd)
  const outer = getColumn(text, key.range?.[0] ?? 0)
  const inner = isContainer ? column : outer + indent.length
  const lines = toLines(change, inner, indent.length, eol)
  if (lineEnd === -1) return `${text}${eol}${lines}`
  return `${text.slice(0, lineEnd + 1)}${lines}${text.slice(lineEnd + 1)}`
}

function appendContainer(text: string, { contents }: Document.Parsed, change: Change): string {
  const { eol, indent } = getStyle(text)
  if (change.path.length !== 1 || (contents !== null && !isNull(contents) && !(isMap(contents) && !contents.flow)))
    throw new Error('There is no place for a new key.')
  const key = stringify(Object.fromEntries([[change.path[0], null]]), { nullStr: '' }).trimEnd()
  return `${endLine(text)}${key}${eol}${toLines(change, indent.length, indent.length, eol)}`
}

function getColumn(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function toLines({ isList, name, value, source }: Change, column: number, indent: number, eol: string): string {
  const lead = ' '.repeat(column)
  if (source !== undefined) return `${lead}${indentLines(source, lead, eol)}${eol}`
  const content: unknown = isList ? [value] : Object.fromEntries([[name, value]])
  // YAML cannot be indented with tabs, and the library needs at least one space.
  const lines = stringify(content, { indent: Math.max(2, indent), lineWidth: 0 })
    .trimEnd()
    .split('\n')
  return lines.map((line) => `${lead}${line}${eol}`).join('')
}
