import type { JsonSchema } from '../../../core/schema/schema.ts'
import type { TokenCounter } from '../../../core/tokens/tokens.ts'
import { isObject } from 'foldout-shared/values'
import { cleanSchema, type CleanedSchema, type Kept } from './clean-schema.ts'
import { literal } from './literal.ts'

const MAX_DEPTH = 32

/** From complete to nearly empty. */
const STEPS: readonly Kept[] = [
  { description: Infinity, values: Infinity, depth: MAX_DEPTH, optional: true },
  { description: 120, values: 40, depth: MAX_DEPTH, optional: true },
  { description: 60, values: 20, depth: 8, optional: true },
  { description: 0, values: 12, depth: 4, optional: true },
  { description: 0, values: 8, depth: 2, optional: true },
  { description: 0, values: 6, depth: 1, optional: true },
  { description: 0, values: 5, depth: 1, optional: false },
  { description: 0, values: 3, depth: 0, optional: false },
]

interface Limit {
  /** The name of the value, which a title does not have to repeat. */
  readonly name: string
  readonly maxTokens: number
  readonly counter: TokenCounter
}

/** Formats a schema as JSON in one line, shortened until it fits. */
export function schemaText(schema: unknown, limit: Limit): { readonly text: string; readonly whole: boolean } {
  const { name } = limit
  const { schema: cleaned, cut } = fitSchema(limit, (kept) => cleanSchema(schema, schema, kept, { name }))
  return { text: literal(cleaned) ?? '{}', whole: !cut }
}

/** Makes a part of a schema self-contained, shortened until it is small. */
export function smallSchema(root: unknown, schema: unknown, limit: Limit): JsonSchema {
  const { name } = limit
  const { schema: cleaned } = fitSchema(limit, (kept) => cleanSchema(root, schema, kept, { name, inline: true }))
  if (isObject(cleaned)) return cleaned
  return {}
}

function fitSchema({ maxTokens, counter }: Limit, clean: (kept: Kept) => CleanedSchema): CleanedSchema {
  let last: CleanedSchema = { schema: {}, cut: true }
  for (const kept of STEPS) {
    last = clean(kept)
    if (maxTokens === Infinity || counter.count(literal(last.schema) ?? '') <= maxTokens) return last
  }
  return last
}
