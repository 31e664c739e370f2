import { isPlainObject } from '../core/json/json.ts'
import { describeIssues, issueKeys, issuePath, type StandardSchemaV1 } from '../core/schema/schema.ts'
import { shorten } from '../core/text.ts'
import { schemaFragment } from './signatures/schema/fragment.ts'
import type { CatalogEntry } from './tool.ts'

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

export type ReadArguments = { readonly args: Readonly<Record<string, unknown>> } | { readonly fault: string }

/**
 * Reads a call's arguments as an object. Missing arguments count as an empty object, and a string is parsed as JSON.
 */
export function readArguments(given: unknown): ReadArguments {
  if (given === undefined || given === null) return { args: {} }
  if (isPlainObject(given)) return { args: given }
  if (typeof given !== 'string') return { fault: 'they must be one JSON object' }
  if (given.trim() === '') return { args: {} }
  try {
    const read: unknown = JSON.parse(given)
    return isPlainObject(read) ? { args: read } : { fault: 'they must be one JSON object' }
  } catch {
    return { fault: 'the text is not valid JSON; give them as one JSON object' }
  }
}
