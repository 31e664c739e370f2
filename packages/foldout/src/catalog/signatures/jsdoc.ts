import { literal, oneLine } from './schema/literal.ts'
import { keywordAt, kindsAt, textAt, valuesAt, type SchemaView } from './schema/schema-view.ts'
import { getRefinement } from './refinement.ts'

const MAX_FIELD_DOC = 400
const MAX_DEFAULT = 80

/** Describes a field beyond its type: its description, then bounds, format and default. */
export function fieldDoc(view: SchemaView): string {
  const description = oneLine(textAt(view, 'description') ?? '')
  const kinds = kindsAt(view)
  const refinements = kinds.map((kind) =>
    [kind === 'integer' ? 'int' : '', getRefinement(kind, view, '')].join(' ').trim(),
  )
  const initial = literal(keywordAt(view, 'default'))
  const notes = [
    ...(valuesAt(view) ? [] : refinements),
    ...(initial !== undefined && initial.length <= MAX_DEFAULT ? [`default ${initial}`] : []),
  ].filter((note) => note !== '')
  const text = description.length > MAX_FIELD_DOC ? `${description.slice(0, MAX_FIELD_DOC)}…` : description
  return [text, notes.length > 0 ? `(${notes.join(', ')})` : ''].filter((part) => part !== '').join(' ')
}

/** Formats a comment in one line; nothing for an empty text. */
export function docLines(text: string, indent: string): readonly string[] {
  if (text === '') return []
  return [`${indent}/** ${safe(text)} */`]
}

/** Formats a comment over several lines. */
export function docBlock(paragraphs: readonly string[]): string {
  const lines = paragraphs
    .filter((paragraph) => paragraph.trim() !== '')
    .flatMap((paragraph) => paragraph.trim().split(/\r\n|[\n\r\u2028\u2029]/))
  return `/**\n${lines.map((line) => ` * ${safe(line)}`.trimEnd()).join('\n')}\n */`
}

/** Escapes a text so that it does not end the comment. */
function safe(text: string): string {
  return text.replaceAll('*/', '*\\/').replace(/[^\P{Cc}\t]/gu, ' ')
}
