import { MAX_CHECK_STEPS } from './limits.ts'
import { SchemaDocument, type SchemaObject } from './document.ts'
import { compileNode } from './node.ts'
import { createQuickCheck } from './quick-check.ts'
import { Place, Run, TooDeep, TooLong, type SchemaNode } from './run.ts'

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
  return (value) => (isSurelyValid(value) ? [] : check(value))
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
