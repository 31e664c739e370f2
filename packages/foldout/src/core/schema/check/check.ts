import { MAX_CHECK_STEPS } from '../limits.ts'
import { SchemaDocument } from './document.ts'
import type { SchemaNode } from './node.ts'
import { Place, Run, TooDeep, TooLong } from './run.ts'

/** What is wrong at one place of a value. */
export interface ValueIssue {
  readonly message: string
  readonly path: readonly (string | number)[]
}

/** Checks values against one JSON Schema. No schema and no value makes it slow or makes it throw. */
export type ValueCheck = (value: unknown) => readonly ValueIssue[]

/**
 * Compiles the check of a JSON Schema: draft 2020-12, including the forms of older drafts. Keywords with invalid values are
 * ignored; `schemaFault` names them.
 */
export function createValueCheck(schema: unknown): ValueCheck {
  let document: SchemaDocument | undefined
  const nodes = new Map<object, SchemaNode>()
  return (value) => {
    document ??= new SchemaDocument(schema)
    const run = new Run(document, nodes, { left: MAX_CHECK_STEPS })
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
