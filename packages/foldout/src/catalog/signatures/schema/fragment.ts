import { isObject } from 'foldout-shared/values'
import { compilePattern } from '../../../core/pattern/pattern.ts'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import { estimatedTokens } from '../../../core/tokens/tokens.ts'
import { smallSchema } from './compact-schema.ts'
import { itemsAt, getSchemaView } from './schema-view.ts'
import { listAt } from '../../../core/schema/shape.ts'

/** By the estimate, which is low for lists of short words: a tokenizer counts about 100. */
const MAX_TOKENS = 80

/**
 * Returns the part of a schema for the value at a path, self-contained and small enough for an error message;
 * `undefined` if there is none.
 */
export function schemaFragment(schema: JsonSchema, path: readonly (string | number)[]): JsonSchema | undefined {
  let at: unknown = schema
  for (const key of path) {
    at = below(schema, at, key)
    if (at === undefined) return undefined
  }
  const name = String(path.at(-1) ?? '')
  return smallSchema(schema, at, { name, maxTokens: MAX_TOKENS, counter: estimatedTokens })
}

const MAX_BRANCHES = 50
/** How many patterns of one schema are tried: an error message does not need more. */
const MAX_PATTERNS = 20
const MAX_MATCH_STEPS = 10_000

function below(root: unknown, schema: unknown, key: string | number): unknown {
  const must = getSchemaView(root, schema).parts
  const may = new Set<JsonSchema>()
  const queue = must.flatMap(getBranches)
  for (let at = 0; at < queue.length && may.size < MAX_BRANCHES; at++) {
    for (const part of getSchemaView(root, queue[at]).parts) {
      if (may.has(part)) continue
      may.add(part)
      queue.push(...getBranches(part))
    }
  }
  return combine('allOf', valuesBelow(must, key)) ?? combine('anyOf', valuesBelow([...may], key))
}

function getBranches(part: JsonSchema): readonly unknown[] {
  const dependent = isObject(part['dependentSchemas']) ? Object.values(part['dependentSchemas']) : []
  return [...listAt(part, 'anyOf'), ...listAt(part, 'oneOf'), part['then'], part['else'], ...dependent]
}

function combine(how: 'allOf' | 'anyOf', schemas: readonly unknown[]): unknown {
  const distinct = [...new Set(schemas)]
  if (distinct.length < 2) return distinct[0]
  return { [how]: distinct }
}

function valuesBelow(parts: readonly JsonSchema[], key: string | number): readonly unknown[] {
  return parts.flatMap((part) => valueBelow(part, key)).filter((schema) => schema === true || isObject(schema))
}

function valueBelow(part: JsonSchema, key: string | number): readonly unknown[] {
  const index = /^\d+$/.test(String(key)) ? Number(key) : undefined
  const name = String(key)
  const properties = isObject(part['properties']) ? part['properties'] : {}
  if (Object.hasOwn(properties, name)) return [properties[name]]
  const { first, rest } = itemsAt({ root: part, parts: [part], never: false })
  if (index !== undefined && (first.length > 0 || rest !== undefined))
    return [index < first.length ? first[index] : rest]
  const matching = Object.entries(isObject(part['patternProperties']) ? part['patternProperties'] : {})
    .slice(0, MAX_PATTERNS)
    .filter(([pattern]) => matches(pattern, name))
    .map(([, schema]) => schema)
  if (matching.length > 0) return matching
  return [part['additionalProperties'] ?? part['unevaluatedProperties']]
}

function matches(pattern: string, name: string): boolean {
  const compiled = compilePattern(pattern)
  return 'pattern' in compiled && compiled.pattern.test(name, { left: MAX_MATCH_STEPS }) === true
}
