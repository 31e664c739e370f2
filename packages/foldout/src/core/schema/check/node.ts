import type { SchemaDocument, SchemaObject } from './document.ts'
import { ARRAY_KEYWORDS, unevaluatedItems } from './array-keywords.ts'
import { LOGIC_KEYWORDS, REFERENCE_KEYWORDS } from './logic-keywords.ts'
import { OBJECT_KEYWORDS, unevaluatedProperties } from './object-keywords.ts'
import type { Outcome, Place, Run } from './run.ts'
import { VALUE_KEYWORDS } from './value-keywords.ts'

/** Checks one place, and adds its issues to the outcome. */
export type Check = (place: Place, run: Run, outcome: Outcome) => void

/** Compiles the check of a keyword, or returns `undefined` if its value is invalid. */
export type Keyword = (value: unknown, schema: SchemaObject, document: SchemaDocument) => Check | undefined

/** A compiled schema. */
export interface SchemaNode {
  readonly base: string
  readonly checks: readonly Check[]
}

// This order matters: a wrong kind is reported first, and `unevaluated…` must come after all others.
const KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ...REFERENCE_KEYWORDS,
  ...VALUE_KEYWORDS,
  ...ARRAY_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...LOGIC_KEYWORDS,
  ['unevaluatedProperties', unevaluatedProperties],
  ['unevaluatedItems', unevaluatedItems],
]

export function compileNode(schema: SchemaObject, document: SchemaDocument): SchemaNode {
  const isReplaced = document.isLegacy && typeof schema['$ref'] === 'string'
  const checks: Check[] = []
  for (const [keyword, make] of isReplaced ? REFERENCE_KEYWORDS : KEYWORDS) {
    if (!Object.hasOwn(schema, keyword)) continue
    const check = make(schema[keyword], schema, document)
    if (check) checks.push(check)
  }
  return { base: document.getBase(schema), checks }
}
