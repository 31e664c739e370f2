import type { Check, Keyword, SchemaNode } from './run.ts'
import type { SchemaDocument, SchemaObject } from './document.ts'
import { ARRAY_KEYWORDS, checkUnevaluatedItems } from './array-keywords.ts'
import { LOGIC_KEYWORDS, REFERENCE_KEYWORDS } from './logic-keywords.ts'
import { OBJECT_KEYWORDS, checkUnevaluatedProperties } from './object-keywords.ts'
import { VALUE_KEYWORDS } from './value-keywords.ts'

// This order matters: a wrong kind is reported first, and `unevaluated…` must come after all others.
const KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ...REFERENCE_KEYWORDS,
  ...VALUE_KEYWORDS,
  ...ARRAY_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...LOGIC_KEYWORDS,
  ['unevaluatedProperties', checkUnevaluatedProperties],
  ['unevaluatedItems', checkUnevaluatedItems],
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
