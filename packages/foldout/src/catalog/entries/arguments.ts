import { isObject } from 'foldout-shared/values'
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

/** How deep objects within arguments are completed. */
const DEEPEST_DEFAULT = 8

/**
 * Adds required arguments that are missing and have a default: the schema says what they are then. Optional ones are left to the tool.
 * Returns the same object if nothing is missing.
 */
function addRequiredDefaults(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  depth = 0,
): Readonly<Record<string, unknown>> {
  const { properties, required } = schema
  if (!isObject(properties) || depth > DEEPEST_DEFAULT) return args
  const added: [string, unknown][] = []
  for (const name of Array.isArray(required) ? (required as readonly unknown[]) : []) {
    if (typeof name !== 'string' || Object.hasOwn(args, name) || !Object.hasOwn(properties, name)) continue
    const property = properties[name]
    if (isObject(property) && property['default'] !== undefined) added.push([name, property['default']])
  }
  for (const [name, value] of Object.entries(args)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isObject(value) || !isObject(property)) continue
    const inner = addRequiredDefaults(value, property, depth + 1)
    if (inner !== value) added.push([name, inner])
  }
  if (added.length === 0) return args
  return Object.fromEntries([...Object.entries(args), ...added])
}

export type ReadArguments = { readonly args: Readonly<Record<string, unknown>> } | { readonly fault: string }

/**
 * Reads a call's arguments as an object. Missing arguments count as an empty object, a string is parsed as JSON, and what is required
 * and has a default may be missing.
 */
export function readArguments(given: unknown, schema: JsonSchema = {}): ReadArguments {
  const read = readObject(given)
  if ('fault' in read) return read
  return { args: addRequiredDefaults(read.args, schema) }
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
