import {
  createScanner,
  findNodeAtLocation,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser'
import { toValue } from '../../gateway/config/names.ts'
import { toWords } from '../../gateway/fields.ts'
import { endLine, getStyle, indentLines, outdentLines, type Change, type Format, type Path } from './document.ts'

/** JSON with comments and trailing commas, as editors read it. */
export const jsonFormat: Format = {
  parse(text) {
    const root = parse(text)
    return root && toValue(root)
  },

  edit(text, change) {
    const edited = edit(text, change)
    const { path, name, source } = change
    const root = source === undefined ? undefined : parse(edited)
    const node = root && findNodeAtLocation(root, [...path, name])
    if (source === undefined || !node) return edited
    const content = indentLines(source, getLead(edited, node.offset), getStyle(edited).eol)
    return splice(edited, node.offset, node.length, content)
  },

  extract(text, { path, name }) {
    const root = parse(text)
    const node = root && findNodeAtLocation(root, [...path, name])
    if (!node) return undefined
    return outdentLines(text.slice(node.offset, node.offset + node.length), getLead(text, node.offset))
  },
}

function edit(text: string, { path, name, value }: Change): string {
  const root = parse(text)
  const whole = [...path, name]
  const found = root && findNodeAtLocation(root, whole)
  if (value === undefined && found?.parent) return cut(text, found.parent)
  if (value === undefined) return text
  const { eol, indent } = getStyle(text)
  const format = (content: unknown, lead: string): string =>
    JSON.stringify(content, null, indent).replaceAll('\n', `${eol}${lead}`)
  if (!root) return `${endLine(text)}${format(nest(whole, value), '')}${eol}`
  if (found) return splice(text, found.offset, found.length, format(value, getLead(text, found.offset)))
  const { node, rest } = findDeepest(root, whole)
  if (node.type !== 'object')
    return splice(text, node.offset, node.length, format(nest(rest, value), getLead(text, node.offset)))
  const [key = '', ...inner] = rest
  return addProperty(text, node, { key, value: nest(inner, value) })
}

function parse(text: string): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (!first) return root
  const line = text.slice(0, first.offset).split('\n').length
  throw new Error(`it is not valid JSON: ${toWords(printParseErrorCode(first.error))} in line ${line}`)
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value)
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
}

/** Matches the rest of a property's line: a comma, then perhaps a comment. */
const LINE_REST = /^([ \t]*,)?[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)?(?=\r?\n)/

/** Adds a property at the end of an object, in the object's own style. */
function addProperty(text: string, object: Node, { key, value }: Property): string {
  const { eol, indent } = getStyle(text)
  const first = object.children?.[0]
  const last = object.children?.at(-1)
  const lead = getLead(text, object.offset)
  if (!first || !last) {
    const property = formatProperty({ key, value }, `${lead}${indent}`, text)
    const inside = text.slice(object.offset + 1, object.offset + object.length - 1)
    // A comment in an empty object stays above the new property.
    const kept = inside.trimEnd()
    return splice(text, object.offset + 1, object.length - 2, `${kept}${eol}${lead}${indent}${property}${eol}${lead}`)
  }
  const end = last.offset + last.length
  const isOneLine = !text.slice(object.offset, object.offset + object.length).includes('\n')
  if (isOneLine) return splice(text, end, 0, `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  const inner = isFirstInLine(text, first.offset) ? getLead(text, first.offset) : `${lead}${indent}`
  const property = `${eol}${inner}${formatProperty({ key, value }, inner, text)}`
  const rest = LINE_REST.exec(text.slice(end))
  if (!rest) return splice(text, end, 0, `,${property}`)
  const after = end + rest[0].length
  if (rest[1] !== undefined) return splice(text, after, 0, `${property},`)
  return splice(splice(text, after, 0, property), end, 0, ',')
}

function formatProperty({ key, value }: Property, lead: string, text: string): string {
  const { eol, indent } = getStyle(text)
  return `${JSON.stringify(key)}: ${JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${lead}`)}`
}

/** Cuts a property, its comma, and its line if nothing else is on it. Comments stay. */
function cut(text: string, property: Node): string {
  const { offset, length, parent } = property
  const siblings = parent?.children ?? []
  const previous = siblings[siblings.indexOf(property) - 1]
  if (siblings.length === 1 && parent) {
    const inside =
      text.slice(parent.offset + 1, offset) + text.slice(offset + length, parent.offset + parent.length - 1)
    if (inside.replace(',', '').trim() === '') return splice(text, parent.offset + 1, parent.length - 2, '')
  }
  const next = findComma(text, offset + length)
  const comma = next ?? (previous && findComma(text, previous.offset + previous.length))
  if (comma === undefined) return cutBlankLine(splice(text, offset, length, ''), offset)
  if (comma > offset) return cutBlankLine(splice(splice(text, comma, 1, ''), offset, length, ''), offset)
  return splice(cutBlankLine(splice(text, offset, length, ''), offset), comma, 1, '')
}

/** The next comma, if only whitespace and comments come before it. */
function findComma(text: string, start: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(start)
  scanner.scan()
  if (text[scanner.getTokenOffset()] === ',') return scanner.getTokenOffset()
  return undefined
}

function cutBlankLine(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  if (end === -1 || text.slice(start, end).trim() !== '') return text
  return `${text.slice(0, start)}${text.slice(end + 1)}`
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
