import {
  changeExposed,
  getListing,
  type CallClient,
  type CallContext,
  type CallResult,
  type CatalogEntry,
  type Exposure,
} from 'foldout/catalog'
import type { JsonObject } from '../fields.ts'
import { foldResult, mayExceed, type TakenText } from './fold.ts'
import { FOLD_TOKENS, KEPT_MS } from './limits.ts'
import { createError, formatAnswer, LISTING, READ_RESULT, readArguments } from './read-result.ts'
import { ResultStore, type ResultOwner } from './store.ts'
import { outlineJson } from './thread/outline.ts'
import { ReadingThreads } from './thread/threads.ts'
import { loadCounter } from './tokens.ts'

/** The folded results of a gateway. */
export class Results {
  readonly #store = new ResultStore()
  readonly #threads = new ReadingThreads()
  #views = 0

  /** The results of one view. Client ids are unique within one view only. */
  createView(limits: ResultLimits): ViewResults {
    return new ViewResults(`${++this.#views}`, limits, this.#store, this.#threads)
  }

  async close(): Promise<void> {
    await Promise.all([this.#store.close(), this.#threads.close()])
  }
}

/** How large results may be. */
export interface ResultLimits {
  /** The most tokens of a result from a server, or from a tool that belongs to none. */
  getLimit(server: string | undefined): number
  /** The smallest of all limits; infinite if no result is folded. */
  getLeast(): number
}

/** The folded results of one view of a gateway. */
export class ViewResults {
  readonly #view: string
  readonly #limits: ResultLimits
  readonly #store: ResultStore
  readonly #threads: ReadingThreads

  constructor(view: string, limits: ResultLimits, store: ResultStore, threads: ReadingThreads) {
    this.#view = view
    this.#limits = limits
    this.#store = store
    this.#threads = threads
  }

  /** The same exposure, with large results folded, and with the tool that reads them. */
  expose(exposure: Exposure): Exposure {
    return {
      ...exposure,
      expose: (catalog, client) => {
        const inner = exposure.expose(catalog, client)
        const isFolding = (): boolean => this.#limits.getLeast() < Infinity
        return changeExposed(inner, {
          // First in the list, so that its position does not change when tools are added.
          list: () => (isFolding() ? [LISTING, ...inner.list()] : inner.list()),
          call: async (name, args, context) => {
            if (name === READ_RESULT && isFolding()) return this.#read(args, context)
            const result = await inner.call(name, args, context)
            // Most results are small and skip all of this.
            if (!mayExceed(result, this.#limits.getLeast())) return result
            return this.#fold(result, name, inner.target(name, args)?.entry, context)
          },
        })
      },
    }
  }

  /** Folds the result of a task, which a client checks like that of a call. */
  async foldTask(result: JsonObject, server: string, client: CallClient): Promise<JsonObject> {
    const { content } = result
    if (!Array.isArray(content)) return result
    const answer = { ...result, content: content as CallResult['content'] }
    if (!mayExceed(answer, this.#limits.getLeast())) return result
    return foldResult(answer, {
      limit: this.#limits.getLimit(server),
      isChecked: true,
      keep: (text) => this.#keep(text, client),
    })
  }

  /** Drops the results of a client that has gone. */
  dropClient(client: CallClient): void {
    const owner = this.#toOwner(client)
    if (!owner.isShared) this.#store.dropAll(owner)
  }

  #toOwner(client: CallClient | undefined): ResultOwner {
    return {
      key: JSON.stringify([this.#view, client?.id, client?.principal]),
      isShared: client?.isShared === true && client.principal === undefined,
    }
  }

  async #fold(
    result: CallResult,
    name: string,
    entry: CatalogEntry | undefined,
    context: CallContext,
  ): Promise<CallResult> {
    return foldResult(result, {
      limit: this.#limits.getLimit(entry?.source),
      // A meta tool has no output schema, so the client checks nothing.
      isChecked: entry !== undefined && entry.name === name && getListing(entry).outputSchema !== undefined,
      keep: (text) => this.#keep(text, context.client),
    })
  }

  async #keep(text: string, client: CallClient | undefined): Promise<TakenText> {
    const kept = await this.#store.keep(this.#toOwner(client), text)
    const outline = /^\s*[[{]/.test(text) ? await this.#outline(kept.source) : undefined
    kept.isJson = outline !== undefined
    return { handle: kept.handle, outline }
  }

  async #outline(source: Parameters<ReadingThreads['run']>[0]): Promise<string | undefined> {
    if ('file' in source) {
      const answer = await this.#threads.run(source, { type: 'outline' })
      return 'outline' in answer ? answer.outline : undefined
    }
    try {
      return outlineJson(JSON.parse(source.text))
    } catch {
      return undefined
    }
  }

  async #read(args: unknown, { client, signal }: CallContext): Promise<CallResult> {
    const wanted = readArguments(args, Math.min(this.#limits.getLimit(undefined), FOLD_TOKENS))
    if ('fault' in wanted) return createError(wanted.fault)
    const kept = this.#store.find(this.#toOwner(client), wanted.result)
    if (!kept)
      return createError(
        `There is no result '${wanted.result.slice(0, 80)}' here. Results can be read for ${KEPT_MS / 60_000} minutes after each use. Call the tool again.`,
      )
    const { path, unit } = wanted.reading
    if (!kept.isJson && (path !== undefined || unit === 'items'))
      return createError('This result is text, not JSON. Read it with grep, or by lines or characters.')
    const answer = await this.#threads.run(
      kept.source,
      { type: 'read', reading: wanted.reading, isJson: kept.isJson },
      signal,
    )
    signal?.throwIfAborted()
    if ('outline' in answer) return createError('The result could not be read.')
    return formatAnswer(answer, wanted.maxTokens, await loadCounter())
  }
}
