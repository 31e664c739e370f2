import { isObject } from 'foldout-shared/values'
import { resolvePointer } from '../../core/json/json-pointer.ts'
import {
  describeIssues,
  issueKeys,
  issuePath,
  type JsonSchema,
  type StandardSchemaV1,
} from '../../core/schema/schema.ts'
import { shorten } from '../../core/text.ts'
import { schemaFragment } from '../signatures/schema/fragment.ts'
import type { CatalogEntry } from '../tool.ts'

/** How many faulty places are listed. */
const NAMED_PLACES = 5
/** How many of them are shown with their part of the schema. */
const SHOWN_PARTS = 3
/** The maximum length of the message about one place: some validators list every allowed value. */
const MAX_MESSAGE = 160

/** Describes wrong arguments to a model: each faulty place, the fault, and the matching part of the schema. */
export function describeArgumentsFault(
  { name, inputSchema }: CatalogEntry,
  issues: readonly StandardSchemaV1.Issue[],
): string {
  const parts = new Map<string, unknown>()
  for (const issue of issues.slice(0, NAMED_PLACES)) {
    const path = issueKeys(issue).map((key) => (typeof key === 'number' ? key : String(key)))
    const part = schemaFragment(inputSchema, path)
    if (part !== undefined && parts.size < SHOWN_PARTS) parts.set(issuePath(issue) || 'arguments', part)
  }
  const schema = parts.size > 0 ? ` Schema: ${JSON.stringify(Object.fromEntries(parts))}` : ''
  const named = issues
    .slice(0, NAMED_PLACES)
    .map((issue) => ({ message: shorten(issue.message, MAX_MESSAGE), path: issue.path }))
  const more = issues.length > NAMED_PLACES ? `; and ${issues.length - NAMED_PLACES} more` : ''
  return `Wrong arguments for tool '${name}': ${describeIssues(named)}${more}. Nothing was run.${schema}`
}

/** How deep values within arguments are completed. */
const DEEPEST_DEFAULT = 8
/** How many schemas are read for one value: its own, and those that it refers to. They may refer to each other. */
const MOST_PARTS = 16

/**
 * Adds required arguments that are missing and have a default, at any depth: the schema says what they are then. Optional ones are left
 * to the tool. Returns the same value if nothing is missing.
 */
function addRequiredDefaults(value: unknown, schema: unknown, root: JsonSchema, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST_DEFAULT) return value
  const parts = listParts(schema, root)
  if (Array.isArray(value)) {
    const items = parts.find((part) => isObject(part['items']))?.['items']
    if (items === undefined) return value
    const completed = value.map((item: unknown) => addRequiredDefaults(item, items, root, depth + 1))
    return completed.some((item, i) => item !== value[i]) ? completed : value
  }
  if (!isObject(value)) return value
  const added = new Map<string, unknown>()
  for (const { properties, required } of parts) {
    if (!isObject(properties)) continue
    for (const name of Array.isArray(required) ? (required as readonly unknown[]) : []) {
      if (typeof name !== 'string' || Object.hasOwn(value, name) || !Object.hasOwn(properties, name)) continue
      const given = listParts(properties[name], root).find((part) => part['default'] !== undefined)
      if (given) added.set(name, given['default'])
    }
    // Not within defaults: with a schema that refers to itself, each would add more.
    for (const [name, inner] of Object.entries(value)) {
      if (!Object.hasOwn(properties, name)) continue
      const completed = addRequiredDefaults(inner, properties[name], root, depth + 1)
      if (completed !== inner) added.set(name, completed)
    }
  }
  if (added.size === 0) return value
  return Object.fromEntries([...Object.entries(value), ...added])
}

/** What a schema says about its value itself, through a reference, and in all parts of `allOf`. */
function listParts(schema: unknown, root: JsonSchema): readonly JsonSchema[] {
  const parts = new Set<JsonSchema>()
  const add = (part: unknown): void => {
    if (isObject(part) && parts.size < MOST_PARTS) parts.add(part)
  }
  add(schema)
  // A set goes through what is added on the way.
  for (const { $ref, allOf } of parts) {
    if (typeof $ref === 'string') add(resolvePointer(root, $ref))
    if (Array.isArray(allOf)) for (const part of allOf as readonly unknown[]) add(part)
  }
  return [...parts]
}

export type ReadArguments = { readonly args: Readonly<Record<string, unknown>> } | { readonly fault: string }

/**
 * Reads a call's arguments as an object. Missing arguments count as an empty object, a string is parsed as JSON, and what is required
 * and has a default may be missing.
 */
export function readArguments(given: unknown, schema: JsonSchema = {}): ReadArguments {
  const read = readObject(given)
  if ('fault' in read) return read
  const args = addRequiredDefaults(read.args, schema, schema)
  return { args: isObject(args) ? args : read.args }
}

function readObject(given: unknown): ReadArguments {
  if (given === undefined || given === null) return { args: {} }
  if (isObject(given)) return { args: given }
  if (typeof given !== 'string') return { fault: 'they must be one JSON object' }
  if (given.trim() === '') return { args: {} }
  try {
    const read: unknown = JSON.parse(given)
    if (isObject(read)) return { args: read }
    return { fault: 'they must be one JSON object' }
  } catch {
    return { fault: 'the text is not valid JSON; give them as one JSON object' }
  }
}
