import {
  getListing,
  type CallClient,
  type CallContext,
  type CallResult,
  type CatalogEntry,
  type ListedTool,
} from 'foldout/catalog'
import { ignore } from 'foldout/promises'
import type { KeptText } from 'foldout/results'
import type { ServerConfig } from '../config/config.ts'
import { isObject, type JsonObject } from 'foldout-shared/values'
import { isSmall } from '../../shared/fields.ts'
import { FOLD_TOKENS, KEPT_MS } from './limits.ts'
import { LISTING } from './listing.ts'
import type { SharedResults } from './shared.ts'
import { ResultStore, type KeptResult, type ResultOwner } from './store.ts'
import { ReadingThreads } from './thread/threads.ts'
import { createErrorResult } from '../../shared/errors.ts'

/** The places where a gateway keeps results. */
interface ResultPlaces {
  readonly store: ResultStore
  /** Results that all gateways with the same store can read. */
  readonly shared: SharedResults | undefined
  readonly threads: ReadingThreads
  onProblem(message: string): void
}

/** The folded results of a gateway. */
export class Results {
  readonly #places: ResultPlaces

  /** @param onFolder Called with the folder of the files, when there is one. */
  constructor(
    shared?: SharedResults,
    onProblem: (message: string) => void = () => undefined,
    onFolder?: (folder: string) => void,
  ) {
    this.#places = { store: new ResultStore(onFolder), shared, threads: new ReadingThreads(), onProblem }
  }

  /** The results of a preset's view. Client ids are unique within one view only. */
  createView(preset: string, limits: ResultLimits): ViewResults {
    return new ViewResults(preset, limits, this.#places)
  }

  async close(): Promise<void> {
    await Promise.all([this.#places.store.close(), this.#places.threads.close()])
  }
}

/** The form of a result's handle, on every gateway. */
const HANDLE = /^[0-9a-f]{24}$/

/** How large results may be. */
export interface ResultLimits {
  /** The most tokens of a result from a server, or from a tool that belongs to none. */
  getLimit(server: string | undefined): number
  /** The smallest of all limits; infinite if no result is folded. */
  getLeast(): number
}

/** The limits of a gateway as its configuration sets them at any time, for all servers and for each of them. */
export function createFoldLimits(
  getDefault: () => number | undefined,
  servers: ReadonlyMap<string, { readonly config: Pick<ServerConfig, 'foldResults'> }>,
): ResultLimits {
  const getLimit = (server?: string): number =>
    servers.get(server ?? '')?.config.foldResults ?? getDefault() ?? FOLD_TOKENS
  return {
    getLimit,
    // Every call asks for it.
    getLeast() {
      const usual = getLimit()
      let least = usual
      for (const { config } of servers.values()) least = Math.min(least, config.foldResults ?? usual)
      return least
    },
  }
}

interface FoldedCall {
  readonly server: string | undefined
  readonly isChecked: boolean
  readonly client: CallClient | undefined
}

const LIFETIME = `It is kept for ${KEPT_MS / 60_000} minutes after each use.`

/** Whether a result has enough characters to be too large. Most do not, so nothing is loaded for them. */
function mayExceed({ content, structuredContent }: CallResult, limit: number): boolean {
  let left = limit
  for (const { text, resource } of content) {
    if (typeof text === 'string') left -= text.length
    else if (isObject(resource) && typeof resource['text'] === 'string') left -= resource['text'].length
  }
  return left < 0 || !isSmall(structuredContent, limit)
}

/** The folded results of one view of a gateway. */
export class ViewResults {
  readonly #preset: string
  readonly #limits: ResultLimits
  readonly #places: ResultPlaces

  constructor(preset: string, limits: ResultLimits, places: ResultPlaces) {
    this.#preset = preset
    this.#limits = limits
    this.#places = places
  }

  get isFolding(): boolean {
    return this.#limits.getLeast() < Infinity
  }

  /** The tools that a client lists, with the one that reads results. It comes first, so that its position does not change when tools are added. */
  list(tools: readonly ListedTool[]): readonly ListedTool[] {
    if (!this.isFolding) return tools
    return [LISTING, ...tools]
  }

  /** Folds the result of a task, which a client checks like that of a call. */
  async foldTask(result: JsonObject, server: string, client: CallClient): Promise<JsonObject> {
    const { content } = result
    if (!Array.isArray(content)) return result
    const answer = { ...result, content: content as CallResult['content'] }
    if (!mayExceed(answer, this.#limits.getLeast())) return result
    return this.#fold(answer, { server, isChecked: true, client })
  }

  /** Drops the results of a client that has gone. */
  dropClient(client: CallClient): void {
    const owner = this.#toOwner(client)
    // Other gateways may still serve a client that has gone from this one.
    if (!owner.isShared && !this.#places.shared) this.#places.store.dropAll(owner)
  }

  /** The same on each gateway, for those clients that several gateways serve. */
  #toOwner(client: CallClient | undefined): ResultOwner {
    const isAnywhere = this.#places.shared !== undefined && client?.isShared === true
    const connection = isAnywhere ? undefined : (client?.connection ?? client?.id)
    const key = JSON.stringify([this.#preset, connection, client?.principal])
    return {
      key,
      isShared: client?.isShared === true && client.principal === undefined,
      user: client?.principal === undefined ? key : JSON.stringify({ principal: client.principal }),
    }
  }

  /** Folds a result if it is large. The client checks it if it belongs to a tool that declares what it returns. */
  async fold(
    result: CallResult,
    { tool, getEntry }: { readonly tool: string; readonly getEntry: () => CatalogEntry | undefined },
    context: CallContext,
  ): Promise<CallResult> {
    // Most results are small and skip all of this.
    if (!mayExceed(result, this.#limits.getLeast())) return result
    const entry = getEntry()
    // A meta tool has no output schema, so the client checks nothing.
    const { outputSchema } = entry?.name === tool ? getListing(entry) : {}
    // Legacy clients are not told of other schemas.
    const isTold = context.peer?.era === 'modern' || outputSchema?.['type'] === 'object'
    const isChecked = outputSchema !== undefined && isTold
    return this.#fold(result, { server: entry?.source, isChecked, client: context.client })
  }

  async #fold(result: CallResult, { server, isChecked, client }: FoldedCall): Promise<CallResult> {
    // Loaded when something is first folded.
    const { foldCallResult } = await import('foldout/results')
    const limit = this.#limits.getLimit(server)
    return foldCallResult(result, { limit, isChecked, lifetime: LIFETIME, keep: (text) => this.#keep(text, client) })
  }

  async #keep(text: string, client: CallClient | undefined): Promise<KeptText> {
    const { store, shared, onProblem } = this.#places
    const owner = this.#toOwner(client)
    const kept = await store.keep(owner, text)
    const outline = /^\s*[[{]/.test(text) ? await this.#outline(kept, owner) : undefined
    kept.isJson = outline !== undefined
    // Before the client has the handle, because its next request may reach another gateway.
    await shared
      ?.save(kept.handle, owner, { text, isJson: kept.isJson })
      .catch((error: Error) => onProblem(`A folded result can be read at this gateway only: ${error.message}`))
    return { handle: kept.handle, outline }
  }

  /** A result of a client: kept here, or taken over from another gateway. Otherwise what the model is told. */
  async #find(handle: string, client: CallClient | undefined): Promise<KeptResult | string> {
    const { store, shared } = this.#places
    const owner = this.#toOwner(client)
    const own = store.find(owner, handle)
    if (own) {
      if (shared) void ignore(shared.renew(handle), 'it is readable here for as long')
      return own
    }
    const missing = `There is no result '${handle.slice(0, 80)}' here. Results can be read for ${KEPT_MS / 60_000} minutes after each use. Call the tool again.`
    if (!shared || !HANDLE.test(handle)) return missing
    try {
      const found = await shared.find(handle, owner)
      if (!found) return missing
      if ('keptBy' in found)
        return `This result is too large for several gateways: only the one that answered can read it (${found.keptBy}), and this request reached another. Call the tool again for less, such as a part, a page or a filter.`
      const kept = await store.keep(owner, found.text, handle)
      kept.isJson = found.isJson
      return kept
    } catch (error) {
      return `This result cannot be read now: ${(error as Error).message} Try again, or call the tool again.`
    }
  }

  async #outline({ source, handle }: KeptResult, owner: ResultOwner): Promise<string | undefined> {
    if ('file' in source) {
      const reader = toReader(owner, handle)
      const answer = await this.#places.threads.run(source, { type: 'outline' }, { reader })
      if ('outline' in answer) return answer.outline
      return undefined
    }
    const { outlineText } = await import('foldout/results')
    return outlineText(source.text)
  }

  /** Answers the tool that reads results. */
  async read(args: unknown, { client, signal }: CallContext): Promise<CallResult> {
    const { formatReading, readResultArguments } = await import('foldout/results')
    const wanted = readResultArguments(args, Math.min(this.#limits.getLimit(undefined), FOLD_TOKENS))
    if ('fault' in wanted) return createErrorResult(wanted.fault)
    const kept = await this.#find(wanted.result, client)
    if (typeof kept === 'string') return createErrorResult(kept)
    const answer = await this.#places.threads.run(
      kept.source,
      { type: 'read', reading: wanted.reading, isJson: kept.isJson },
      { reader: toReader(this.#toOwner(client), kept.handle), signal },
    )
    signal?.throwIfAborted()
    if ('outline' in answer) return createErrorResult('The result could not be read.')
    if ('fault' in answer) return createErrorResult(answer.fault)
    return { content: [{ type: 'text', text: formatReading(answer, wanted.maxTokens) }] }
  }
}

/**
 * Who reads a result: all clients of a user together. Clients that cannot be told apart do not wait for each other, unless they read
 * the same result.
 */
function toReader({ user, isShared }: ResultOwner, handle: string): string {
  if (isShared) return handle
  return user
}
