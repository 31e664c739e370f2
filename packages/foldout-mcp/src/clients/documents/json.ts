import { nest } from './format.ts'
import {
  createScanner,
  findNodeAtLocation,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser'
import { toValue } from '../../gateway/config/names.ts'
import { toWords } from '../../shared/fields.ts'
import {
  endLine,
  getStyle,
  indentLines,
  outdentLines,
  type EntryChange,
  type Format,
  type Path,
  type Style,
} from './format.ts'

/** JSON with comments and trailing commas, as editors read it. */
export const jsonFormat: Format = {
  parse(text) {
    const root = parse(text)
    return root && toValue(root)
  },

  edit(text, { path }, entries) {
    const cut = entries.filter(({ value }) => value === undefined).map(({ name }) => name)
    const set = entries.filter(({ value }) => value !== undefined)
    return cutEntries(setEntries(text, path, set), path, new Set(cut))
  },

  describePlain: () => 'Write it as plain JSON, then try again',

  extract(text, { path, name }) {
    const root = parse(text)
    const node = root && findNodeAtLocation(root, [...path, name])
    if (!node) return undefined
    return outdentLines(text.slice(node.offset, node.offset + node.length), getLead(text, node.offset))
  },
}

function setEntries(text: string, path: Path, entries: readonly EntryChange[]): string {
  const [first, ...others] = entries
  if (!first) return text
  const root = parse(text)
  const container = root && findNodeAtLocation(root, [...path])
  // The first entry creates the place for the others, and for itself as another text has it.
  if (!root || container?.type !== 'object')
    return setEntries(setNew(text, root, path, first), path, first.source === undefined ? others : entries)
  const style = getStyle(text)
  const known = listProperties(container)
  const replaced = entries.flatMap((entry) => {
    const [, node] = known.get(entry.name)?.children ?? []
    if (node)
      return [
        { offset: node.offset, length: node.length, content: toContent(entry, getLead(text, node.offset), style) },
      ]
    return []
  })
  const added = entries
    .filter(({ name }) => !known.has(name))
    .map((entry) => ({ key: entry.name, value: entry.value, source: entry.source }))
  return spliceAll(text, [...replaced, ...addProperties(text, container, added)])
}

/** Adds an entry to a text that has no object for the entries yet. */
function setNew(text: string, root: Node | undefined, path: Path, { name, value }: EntryChange): string {
  const style = getStyle(text)
  const whole = [...path, name]
  if (!root) return `${endLine(text)}${toContent({ value: nest(whole, value) }, '', style)}${style.eol}`
  const { node, rest } = findDeepest(root, whole)
  if (node.type !== 'object')
    return splice(
      text,
      node.offset,
      node.length,
      toContent({ value: nest(rest, value) }, getLead(text, node.offset), style),
    )
  const [key = '', ...inner] = rest
  return spliceAll(text, addProperties(text, node, [{ key, value: nest(inner, value) }]))
}

function parse(text: string): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (!first) return root
  const line = text.slice(0, first.offset).split('\n').length
  throw new Error(`it is not valid JSON: ${toWords(printParseErrorCode(first.error))} in line ${line}`)
}

/** The last existing node of a path, and the keys that are missing. A null counts as missing, and is replaced. */
function findDeepest(root: Node, path: Path): { readonly node: Node; readonly rest: Path } {
  for (let length = path.length - 1; length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length))
    if (node) return { node, rest: path.slice(length) }
  }
  return { node: root, rest: path }
}

interface Property {
  readonly key: string
  readonly value: unknown
  /** How another text has the value. */
  readonly source?: string | undefined
}

/** A part of a text, and what comes in its place. */
interface Splice {
  readonly offset: number
  readonly length: number
  readonly content: string
}

/** The properties of an object by name. Of several with one name, the first. */
function listProperties({ children = [] }: Node): ReadonlyMap<string, Node> {
  return new Map(children.toReversed().map((property) => [String(property.children?.[0]?.value), property]))
}

/** Matches the rest of a property's line: a comma, then perhaps a comment. */
const LINE_REST = /^([ \t]*,)?[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)?(?=\r?\n)/

/** Adds properties at the end of an object, in the object's own style. */
function addProperties(text: string, object: Node, added: readonly Property[]): readonly Splice[] {
  if (added.length === 0) return []
  const style = getStyle(text)
  const { eol, indent } = style
  const first = object.children?.[0]
  const last = object.children?.at(-1)
  const lead = getLead(text, object.offset)
  const join = (inner: string): string =>
    added.map((property) => `${eol}${inner}${formatProperty(property, inner, style)}`).join(',')
  if (!first || !last) {
    const inside = text.slice(object.offset + 1, object.offset + object.length - 1)
    // A comment in an empty object stays above the new properties.
    const content = `${inside.trimEnd()}${join(`${lead}${indent}`)}${eol}${lead}`
    return [{ offset: object.offset + 1, length: object.length - 2, content }]
  }
  const end = last.offset + last.length
  const isOneLine = !text.slice(object.offset, object.offset + object.length).includes('\n')
  if (isOneLine) {
    const words = added.map(
      ({ key, value, source }) =>
        `, ${JSON.stringify(key)}: ${source === undefined ? JSON.stringify(value) : indentLines(source, lead, eol)}`,
    )
    return [{ offset: end, length: 0, content: words.join('') }]
  }
  const properties = join(isFirstInLine(text, first.offset) ? getLead(text, first.offset) : `${lead}${indent}`)
  const rest = LINE_REST.exec(text.slice(end))
  if (!rest) return [{ offset: end, length: 0, content: `,${properties}` }]
  const after = end + rest[0].length
  if (rest[1] !== undefined) return [{ offset: after, length: 0, content: `${properties},` }]
  return [
    { offset: end, length: 0, content: ',' },
    { offset: after, length: 0, content: properties },
  ]
}

function formatProperty({ key, value, source }: Property, lead: string, style: Style): string {
  return `${JSON.stringify(key)}: ${toContent({ value, source }, lead, style)}`
}

function toContent({ value, source }: Omit<Property, 'key'>, lead: string, { eol, indent }: Style): string {
  if (source !== undefined) return indentLines(source, lead, eol)
  return JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${lead}`)
}

/** Cuts entries, their commas, and their lines if nothing else is on them. Comments stay. */
function cutEntries(text: string, path: Path, names: ReadonlySet<string>): string {
  const root = names.size === 0 ? undefined : parse(text)
  const container = root && findNodeAtLocation(root, [...path])
  if (container?.type !== 'object') return text
  const properties = container.children ?? []
  const isCut = ({ children }: Node): boolean => names.has(String(children?.[0]?.value))
  const parts: Omit<Splice, 'content'>[] = []
  const commas = new Set<number>()
  // From the end: an entry without a comma behind it takes the one before it.
  for (let i = properties.length - 1; i >= 0; i--) {
    const property = properties[i]
    if (!property || !isCut(property)) continue
    parts.push(property)
    const previous = properties[i - 1]
    const next = findComma(text, property.offset + property.length)
    const isFree = next !== undefined && !commas.has(next)
    const comma = isFree ? next : previous && findComma(text, previous.offset + previous.length)
    if (comma !== undefined) commas.add(comma)
  }
  const cut = [...parts, ...Array.from(commas, (offset) => ({ offset, length: 1 }))]
  if (properties.every(isCut)) {
    const start = container.offset + 1
    const inside = spliceAll(
      text.slice(start, container.offset + container.length - 1),
      cut.map(({ offset, length }) => ({ offset: offset - start, length, content: '' })),
    )
    if (inside.trim() === '') return splice(text, start, container.length - 2, '')
  }
  return cutParts(text, cut)
}

/** Cuts parts of a text, and the lines that this leaves blank. */
function cutParts(text: string, parts: readonly Omit<Splice, 'content'>[]): string {
  const marked = spliceAll(
    text,
    parts.map(({ offset, length }) => ({ offset, length, content: CUT })),
  )
  const lines = marked.split(/(?<=\n)/)
  const isLeft = (line: string): boolean =>
    !line.includes(CUT) || !line.endsWith('\n') || line.replaceAll(CUT, '').trim() !== ''
  return lines.filter(isLeft).join('').replaceAll(CUT, '')
}

/** Marks a place where something was cut. It cannot be in valid JSON. */
const CUT = '\u0000'

/** The next comma, if only whitespace and comments come before it. */
function findComma(text: string, start: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(start)
  scanner.scan()
  if (text[scanner.getTokenOffset()] === ',') return scanner.getTokenOffset()
  return undefined
}

/** Replaces parts of a text, which do not overlap. */
function spliceAll(text: string, splices: readonly Splice[]): string {
  let end = 0
  const parts = splices
    .toSorted((a, b) => a.offset - b.offset)
    .flatMap(({ offset, length, content }) => {
      const kept = text.slice(end, offset)
      end = offset + length
      return [kept, content]
    })
  return [...parts, text.slice(end)].join('')
}

function splice(text: string, offset: number, length: number, content: string): string {
  return `${text.slice(0, offset)}${content}${text.slice(offset + length)}`
}

/** The whitespace at the start of the line that contains an offset. */
function getLead(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ''
}

function isFirstInLine(text: string, offset: number): boolean {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return text.slice(start, offset).trim() === ''
}
