import { changeExposed } from '../../../catalog/exposures/exposed-catalog.ts'
import type { ExposedCatalog, ListedTool } from '../../../catalog/exposure.ts'
import { getListing, withAlwaysLoad } from '../../../catalog/listing.ts'
import type { CallClient, CallContext, CallResult } from '../../../catalog/tool.ts'
import { READ_SECTION } from '../../../disclosure/tools.ts'
import { foldCallResult, type KeptText } from '../../../results/fold-call-result.ts'
import { outlineText, readPart } from '../../../results/read-part.ts'
import { READ_RESULT, formatReading, readResultArguments, readResultDefinition } from '../../../results/read-result.ts'
import { createErrorResult, createTextResult } from '../../../tools/call-result.ts'
import {
  MAX_KEPT_CHARACTERS,
  MAX_KEPT_RESULTS,
  MAX_READ_CHARACTERS,
  MAX_READ_TOKENS,
  RESULT_KEPT_MS,
} from '../../limits.ts'
import type { ServedClient } from '../contract/client.ts'
import type { ResultFolding, ResultStore } from '../contract/result-store.ts'

/** Folds the large results of an exposed catalog, and lists the tool that reads parts of them. */
export type FoldExposed = (exposed: ExposedCatalog, era: ServedClient['era']) => ExposedCatalog

// Listed from the start, because many clients never ask for the list again.
const LISTING: ListedTool = withAlwaysLoad({
  ...readResultDefinition,
  annotations: { readOnlyHint: true, openWorldHint: false },
})
const LIFETIME_MINUTES = RESULT_KEPT_MS / 60_000

export function createFoldResults(given: number | ResultFolding | undefined): FoldExposed {
  if (given === undefined) return (exposed) => exposed
  const { tokens, store = createMemoryResults() } = typeof given === 'number' ? { tokens: given } : given
  async function keep(text: string, client: CallClient | undefined): Promise<KeptText> {
    const handle = createHandle()
    await store.keep(handle, text, toOwner(client))
    return { handle, outline: outlineText(text) }
  }
  async function read(args: unknown, { client }: CallContext): Promise<CallResult> {
    const wanted = readResultArguments(args, Math.min(tokens, MAX_READ_TOKENS))
    if ('fault' in wanted) return createErrorResult(wanted.fault)
    const text = await store.find(wanted.result, toOwner(client))
    if (text === undefined) return createErrorResult(describeMissing(wanted.result))
    const answer = await readPart(text, wanted.reading)
    if ('fault' in answer) return createErrorResult(answer.fault)
    return createTextResult(formatReading(answer, wanted.maxTokens))
  }
  return (exposed, era) =>
    changeExposed(exposed, {
      list: () => [LISTING, ...exposed.list()],
      async call(name, args, context) {
        if (name === READ_RESULT) return read(args, context)
        const result = await exposed.call(name, args, context)
        // What a model opens stays whole.
        if (name === READ_SECTION) return result
        return foldCallResult(result, {
          limit: tokens,
          isChecked: isChecked(exposed, { name, args, era }),
          lifetime: `It is kept for ${LIFETIME_MINUTES} minutes after each use.`,
          keep: (text) => keep(text, context.client),
        })
      },
    })
}

interface Checked {
  readonly name: string
  readonly args: unknown
  readonly era: ServedClient['era']
}

/** Whether the client checks the result of a call. It does not for a meta tool, or for a schema that it was not told of. */
function isChecked(exposed: ExposedCatalog, { name, args, era }: Checked): boolean {
  const entry = exposed.target(name, args)?.entry
  const { outputSchema } = entry?.name === name ? getListing(entry) : {}
  return outputSchema !== undefined && (era === 'modern' || outputSchema['type'] === 'object')
}

/** Clients that cannot be told apart share an owner; among these, only the handle protects a result. */
function toOwner(client: CallClient | undefined): string {
  return JSON.stringify([client?.connection ?? client?.id, client?.principal])
}

function createHandle(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function describeMissing(handle: string): string {
  return `There is no result '${handle.slice(0, 80)}' here. Results can be read for ${LIFETIME_MINUTES} minutes after each use. Call the tool again.`
}

interface Entry {
  readonly owner: string
  readonly text: string
  usedAt: number
}

/** Keeps folded results in memory, for as long as they are read. If there are too many, the owner with the most loses the oldest. */
export function createMemoryResults(): ResultStore {
  /** The least recently used comes first. */
  const entries = new Map<string, Entry>()
  let characters = 0
  const drop = (handle: string): void => {
    characters -= entries.get(handle)?.text.length ?? 0
    entries.delete(handle)
  }
  const dropExpired = (): void => {
    const oldest = Date.now() - RESULT_KEPT_MS
    for (const [handle, { usedAt }] of entries) {
      if (usedAt > oldest) return
      drop(handle)
    }
  }
  return {
    async keep(handle, text, owner) {
      if (text.length > MAX_READ_CHARACTERS) throw new Error('it is too large to be read in parts')
      dropExpired()
      while (entries.size >= MAX_KEPT_RESULTS || characters + text.length > MAX_KEPT_CHARACTERS)
        drop(findOldestOfLargest(entries))
      entries.set(handle, { owner, text, usedAt: Date.now() })
      characters += text.length
    },
    async find(handle, owner) {
      dropExpired()
      const entry = entries.get(handle)
      if (entry?.owner !== owner) return undefined
      entries.delete(handle)
      entries.set(handle, { ...entry, usedAt: Date.now() })
      return entry.text
    },
  }
}

/** Finds the oldest result of the owner who has the most, by characters and by number. */
function findOldestOfLargest(entries: ReadonlyMap<string, Entry>): string {
  const oldest = new Map<string, { readonly handle: string; weight: number }>()
  for (const [handle, { owner, text }] of entries) {
    const known = oldest.get(owner) ?? { handle, weight: 0 }
    known.weight += text.length + MAX_KEPT_CHARACTERS / MAX_KEPT_RESULTS
    oldest.set(owner, known)
  }
  return [...oldest.values()].reduce((one, other) => (other.weight > one.weight ? other : one)).handle
}
