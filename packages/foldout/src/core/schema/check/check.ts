import { MAX_CHECK_STEPS } from './limits.ts'
import { SchemaDocument, type SchemaObject } from './document.ts'
import { ARRAY_KEYWORDS, checkUnevaluatedItems } from './array-keywords.ts'
import { LOGIC_KEYWORDS, REFERENCE_KEYWORDS } from './logic-keywords.ts'
import { OBJECT_KEYWORDS, checkUnevaluatedProperties } from './object-keywords.ts'
import { VALUE_KEYWORDS } from './value-keywords.ts'
import { createQuickCheck } from './quick-check.ts'
import { Place, Run, TooDeep, TooLong, type Check, type Keyword, type SchemaNode } from './run.ts'

/** What is wrong at one place of a value. */
export interface ValueIssue {
  readonly message: string
  readonly path: readonly (string | number)[]
}

/** Checks values against one JSON Schema. No schema or value can make it slow or make it throw. */
export type ValueCheck = (value: unknown) => readonly ValueIssue[]

/**
 * Compiles a check from a JSON Schema: draft 2020-12, including the forms of older drafts. Keywords with invalid values
 * are ignored; `schemaFault` names them.
 */
export function createValueCheck(schema: unknown): ValueCheck {
  const isSurelyValid = createQuickCheck(schema)
  const check = createWholeCheck(schema)
  return (value) => {
    if (isSurelyValid(value)) return []
    return check(value)
  }
}

/** The same without a shortcut for simple schemas. */
export function createWholeCheck(schema: unknown): ValueCheck {
  let document: SchemaDocument | undefined
  const nodes = new Map<object, SchemaNode>()
  return (value) => {
    const known = (document ??= new SchemaDocument(schema))
    const getNode = (part: SchemaObject): SchemaNode => {
      const node = nodes.get(part) ?? compileNode(part, known)
      nodes.set(part, node)
      return node
    }
    const run = new Run(known, getNode, { left: MAX_CHECK_STEPS })
    try {
      const { issues } = run.evaluate(schema, new Place(value))
      return issues.map(({ place, field, describe }) => {
        const path = place.getPath()
        return { message: describe(), path: field === undefined ? path : [...path, field] }
      })
    } catch (error) {
      if (error instanceof TooDeep) return [{ message: 'is nested too deeply to be checked', path: [] }]
      if (error instanceof TooLong) return [{ message: 'is too large to be checked', path: [] }]
      throw error
    }
  }
}

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

function compileNode(schema: SchemaObject, document: SchemaDocument): SchemaNode {
  const isReplaced = document.isLegacy && typeof schema['$ref'] === 'string'
  const checks: Check[] = []
  for (const [keyword, make] of isReplaced ? REFERENCE_KEYWORDS : KEYWORDS) {
    if (!Object.hasOwn(schema, keyword)) continue
    const check = make(schema[keyword], schema, document)
    if (check) checks.push(check)
  }
  return { base: document.getBase(schema), checks }
}
