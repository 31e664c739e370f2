import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { describeIssues, fromJsonSchema, type JsonSchema } from '../../core/schema/schema.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/tool.ts'
import type { Catalog } from '../catalog.ts'
import { isUnknown } from '../unknown-tool.ts'
import type { CatalogEvent } from '../events.ts'
import { getListing } from '../entries/listing.ts'

/** What clients did with a catalog, in numbers and names: no queries, arguments or results are in it. Plain JSON. */
export interface CatalogRecording {
  readonly version: 1
  /** What each tool that was used costs in a request that lists it, by qualified name. */
  readonly tools: readonly { readonly name: string; readonly tokens: number }[]
  readonly clients: readonly RecordedClient[]
}

/** What one client did. `at` is a call's place among all calls of the client. */
export interface RecordedClient {
  readonly id: string
  readonly lists: readonly { readonly exposure: string; readonly tools: number; readonly tokens: number }[]
  readonly searches: readonly RecordedSearch[]
  readonly definitions: readonly { readonly at: number; readonly name: string; readonly tokens: number }[]
  readonly uses: readonly RecordedUse[]
}

/** A search that a client made. */
export interface RecordedSearch {
  readonly at: number
  /** Qualified names of the tools it showed. */
  readonly hits: readonly string[]
  /** Of the call and its answer. */
  readonly tokens: number
}

/** A tool that a client used. */
export interface RecordedUse {
  readonly at: number
  /** Qualified. */
  readonly name: string
  /** The meta tool it was called through, or `direct`. */
  readonly through: string
  readonly ok: boolean
  /** What calling it through a meta tool cost more than a direct call. */
  readonly wrappingTokens: number
}

/** How much a recorder keeps. */
export interface RecordCatalogOptions {
  /** How many clients are kept; the oldest are forgotten first. Default 1,000. */
  readonly maxClients?: number
}

/** Records what clients do with a catalog. */
export interface CatalogRecorder {
  /** All that happened so far. */
  recording(): CatalogRecording
  stop(): void
}

/** A client that makes more calls than this goes on as another: some have one id for many conversations, and never end. */
const MAX_CALLS = 1_000

type ClientDraft = {
  [Field in keyof RecordedClient]: RecordedClient[Field] extends readonly (infer Item)[] ? Item[] : string
}

/**
 * Records what clients do with a catalog, to learn from. It only listens.
 *
 * @example
 * const recorder = createCatalogRecorder(catalog)
 * const { core } = learnCore(recorder.recording())
 */
export function createCatalogRecorder(catalog: Catalog, options: RecordCatalogOptions = {}): CatalogRecorder {
  const { maxClients = 1_000 } = options
  const drafts: ClientDraft[] = []
  const current = new Map<string, ClientDraft>()
  const tokensByTool = new Map<string, number>()

  const createDraft = (id: string): ClientDraft => {
    const known = current.get(id)
    if (known && getCalls(known) < MAX_CALLS) return known
    const draft: ClientDraft = { id, lists: [], searches: [], definitions: [], uses: [] }
    current.set(id, draft)
    drafts.push(draft)
    if (drafts.length > maxClients) {
      const [oldest] = drafts.splice(0, 1)
      if (current.get(oldest!.id) === oldest) current.delete(oldest!.id)
    }
    return draft
  }

  const onEvent = (event: CatalogEvent): void => {
    if (event.type === 'catalog/changed' || event.type === 'exposure/chosen' || event.type === 'search/problem') return
    const draft = createDraft(event.client)
    const at = getCalls(draft)
    switch (event.type) {
      case 'tools/listed':
        draft.lists.push({ exposure: event.exposure, tools: event.tools.length, tokens: event.tokens })
        break
      case 'tools/searched':
        draft.searches.push({ at, hits: [...event.hits], tokens: event.tokens })
        break
      case 'tool/defined':
        draft.definitions.push({ at, name: event.name, tokens: event.tokens })
        break
      case 'tool/used': {
        const { name, through, ok, wrappingTokens } = event
        draft.uses.push({ at, name, through, ok, wrappingTokens })
        const found = catalog.resolve(name)
        if (!isUnknown(found)) tokensByTool.set(name, toolTokens(getListing(found), estimatedTokens))
      }
    }
  }

  return {
    // A copy, so that nobody holds what is still written to.
    recording: () =>
      structuredClone({
        version: 1,
        tools: Array.from(tokensByTool, ([name, tokens]) => ({ name, tokens })).sort((a, b) =>
          a.name < b.name ? -1 : 1,
        ),
        clients: drafts,
      }),
    stop: catalog.subscribe(onEvent),
  }
}

export function getCalls({
  searches,
  definitions,
  uses,
}: Pick<RecordedClient, 'searches' | 'definitions' | 'uses'>): number {
  return searches.length + definitions.length + uses.length
}

const text: JsonSchema = { type: 'string' }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const tokens: JsonSchema = { type: 'number', minimum: 0 }
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const record = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

const client = record({
  id: text,
  lists: list(record({ exposure: text, tools: count, tokens })),
  searches: list(record({ at: count, hits: list(text), tokens })),
  definitions: list(record({ at: count, name: text, tokens })),
  // Short names may cost more by themselves than in a text that holds them, by a token or two.
  uses: list(
    record({ at: count, name: text, through: text, ok: { type: 'boolean' }, wrappingTokens: { type: 'number' } }),
  ),
})
const recordingSchema = fromJsonSchema<CatalogRecording>(
  record({ version: { const: 1 }, tools: list(record({ name: text, tokens })), clients: list(client) }),
)

/**
 * Reads a recording that was written as JSON.
 *
 * @example
 * const recording = readCatalogRecording(JSON.parse(await readFile('use.json', 'utf8')))
 */
export function readCatalogRecording(json: unknown): CatalogRecording {
  const invalid = (fault: string): FoldoutError =>
    new FoldoutError(
      'catalog-recording-invalid',
      `This is not a recording of a catalog of version 1: ${fault}. Record it again with this version of Foldout.`,
    )
  if (!isPlainObject(json)) throw invalid('it is not an object')
  const checked = recordingSchema['~standard'].validate(json)
  if (checked instanceof Promise) throw invalid('it cannot be checked')
  if (checked.issues) throw invalid(describeIssues(checked.issues.slice(0, 1)))
  for (const [index, each] of checked.value.clients.entries()) {
    const places = [...each.searches, ...each.definitions, ...each.uses].map(({ at }) => at)
    const twice = places.find((at, i) => places.indexOf(at) !== i)
    if (twice !== undefined) throw invalid(`clients[${index}]: two calls are at ${twice}`)
  }
  return checked.value
}
