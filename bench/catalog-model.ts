import type { CallResult, CatalogEntry, ExposedCatalog } from 'foldout/catalog'
import type { TokenCounter } from 'foldout'

/** What a model spends to reach a tool. */
export interface Spent {
  readonly searches: readonly { readonly argumentsTokens: number; readonly resultTokens: number }[]
  /** The tokens of the call itself; undefined if the tool was not found. */
  readonly callTokens: number | undefined
}

/** How often a model retries with other words before it gives up. */
const RETRIES = 2

/**
 * A model that wants one tool: it searches, looks for the tool among the hits, searches with other words if it is not
 * there, and calls it. `queries` are its words, first try first.
 */
export async function findAndUse(
  exposed: ExposedCatalog,
  wanted: CatalogEntry,
  queries: readonly string[],
  counter: TokenCounter,
): Promise<Spent> {
  const searches: Spent['searches'][number][] = []
  for (const query of queries.slice(0, RETRIES + 1)) {
    const answer = getText(await exposed.call('search_tools', { query }, {}))
    searches.push({ argumentsTokens: counter.count(JSON.stringify({ query })), resultTokens: counter.count(answer) })
    if (!answer.split('\n').some((line) => line.startsWith(`${wanted.name}(`))) continue
    const call = JSON.stringify({ name: wanted.name, arguments: sampleArguments(wanted) })
    return { searches, callTokens: counter.count(call) }
  }
  return { searches, callTokens: undefined }
}

export function getText({ content }: CallResult): string {
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n')
}

/** Something plausible for every required field. */
export function sampleArguments({ inputSchema }: CatalogEntry): Record<string, unknown> {
  const properties = (inputSchema['properties'] ?? {}) as Readonly<Record<string, { type?: string; enum?: unknown[] }>>
  const required = Array.isArray(inputSchema['required']) ? (inputSchema['required'] as string[]) : []
  return Object.fromEntries(required.map((name) => [name, sampleValue(properties[name])]))
}

function sampleValue(schema: { type?: string; enum?: unknown[] } | undefined): unknown {
  if (schema?.enum) return schema.enum[0]
  const samples: Readonly<Record<string, unknown>> = {
    number: 12,
    integer: 12,
    boolean: true,
    array: ['one'],
    object: {},
  }
  return samples[schema?.type ?? 'string'] ?? 'some text'
}
