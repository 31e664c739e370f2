import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { describeIssues, fromJsonSchema, type JsonSchema, type StandardSchemaV1 } from '../../core/schema/schema.ts'
import { shorten } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/definition.ts'
import type { Catalog } from '../contract.ts'
import { isUnknown } from '../unknown-tool.ts'
import type { CatalogEvent } from '../events.ts'
import { getListing } from '../listing.ts'

/**
 * A record of what clients did with a catalog, in numbers and names. It contains no queries, arguments or results.
 * Plain JSON.
 *
 * @example
 * ```ts
 * const recording: CatalogRecording = createCatalogRecorder(catalog).recording()
 * const { core } = learnCore(recording, { max: 5 })
 * ```
 */
export interface CatalogRecording {
  readonly version: 1
  /** How many tokens each tool that was used costs in a request that lists it, by qualified name. */
  readonly tools: readonly { readonly name: string; readonly tokens: number }[]
  readonly clients: readonly RecordedClient[]
}

/**
 * The actions of one client. `at` is the index of a call among all calls of the client.
 *
 * @example
 * ```ts
 * const countFailures = ({ uses }: RecordedClient): number => uses.filter(({ ok }) => !ok).length
 * const { clients } = createCatalogRecorder(catalog).recording()
 * clients.map(countFailures) // => []
 * ```
 */
export interface RecordedClient {
  readonly id: string
  readonly lists: readonly { readonly exposure: string; readonly tools: number; readonly tokens: number }[]
  readonly searches: readonly RecordedSearch[]
  readonly definitions: readonly { readonly at: number; readonly name: string; readonly tokens: number }[]
  readonly uses: readonly RecordedUse[]
}

/**
 * A search that a client made.
 *
 * @example
 * ```ts
 * const foundNothing = ({ hits }: RecordedSearch): boolean => hits.length === 0
 * foundNothing({ at: 0, hits: ['send_mail'], tokens: 40 }) // => false
 * ```
 */
export interface RecordedSearch {
  readonly at: number
  /** Qualified names of the tools it showed. */
  readonly hits: readonly string[]
  /** Tokens of the call and its answer. */
  readonly tokens: number
}

/**
 * A tool that a client used.
 *
 * @example
 * ```ts
 * const wasSearchedFor = ({ through }: RecordedUse): boolean => through === 'use_tool'
 * wasSearchedFor({ at: 1, name: 'send_mail', through: 'use_tool', ok: true, wrappingTokens: 12 }) // => true
 * ```
 */
export interface RecordedUse {
  readonly at: number
  /** The qualified name. */
  readonly name: string
  /** The meta tool that the call went through, or `direct`. */
  readonly through: string
  readonly ok: boolean
  /** How many tokens the call cost beyond a direct one, because it went through a meta tool. */
  readonly wrappingTokens: number
}

/**
 * Options of {@link createCatalogRecorder}.
 *
 * @example
 * ```ts
 * const options: RecordCatalogOptions = { maxClients: 500 }
 * const recorder = createCatalogRecorder(catalog, options)
 * ```
 */
export interface RecordCatalogOptions {
  /** How many clients are kept; the oldest are forgotten first. Default 1,000. */
  readonly maxClients?: number
}

/**
 * Records what clients do with a catalog.
 *
 * @example
 * ```ts
 * const recorder: CatalogRecorder = createCatalogRecorder(catalog)
 * await writeFile('use.json', JSON.stringify(recorder.recording()))
 * recorder.stop()
 * ```
 */
export interface CatalogRecorder {
  /** Returns a copy of everything recorded so far. */
  recording(): CatalogRecording
  /** Stops recording. */
  stop(): void
}

/**
 * After this many calls, a client is recorded as a new one: some clients never disconnect and use one id for many
 * conversations.
 */
const MAX_CALLS = 1_000

type ClientDraft = {
  [Field in keyof RecordedClient]: RecordedClient[Field] extends readonly (infer Item)[] ? Item[] : string
}

/**
 * Records what clients do with a catalog, as input for `learnCore`. It only listens.
 *
 * @example
 * const recorder = createCatalogRecorder(catalog)
 * const { core } = learnCore(recorder.recording())
 */
export function createCatalogRecorder(catalog: Catalog, options: RecordCatalogOptions = {}): CatalogRecorder {
  checkNumbers({ maxClients: options.maxClients }, { code: 'learn-core-options', least: 1 })
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
      const oldest = drafts.shift()
      if (oldest && current.get(oldest.id) === oldest) current.delete(oldest.id)
    }
    return draft
  }

  const onEvent = (event: CatalogEvent): void => {
    if (!('client' in event) || event.type === 'exposure/chosen') return
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
    // A copy, because recording continues.
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
  // May be negative: a short name by itself can cost a token or two more than inside a longer text.
  uses: list(
    record({ at: count, name: text, through: text, ok: { type: 'boolean' }, wrappingTokens: { type: 'number' } }),
  ),
})
type UncheckedItems = { readonly [Field in 'tools' | 'clients']: readonly unknown[] }
const recordingSchema = fromJsonSchema<UncheckedItems>(
  record({ version: { const: 1 }, tools: { type: 'array' }, clients: { type: 'array' } }),
)
const toolSchema = fromJsonSchema<CatalogRecording['tools'][number]>(record({ name: text, tokens }))
const clientSchema = fromJsonSchema<RecordedClient>(client)

/**
 * Checks a recording that was written as JSON, and returns it. Throws `catalog-recording-invalid` if it is not one.
 *
 * @example
 * const recording = readCatalogRecording(JSON.parse(await readFile('use.json', 'utf8')))
 */
export function readCatalogRecording(json: unknown): CatalogRecording {
  const { tools, clients } = check(recordingSchema, json, [])
  // One by one, so reading stops at the first fault.
  return {
    version: 1,
    tools: tools.map((each, at) => check(toolSchema, each, ['tools', at])),
    clients: clients.map((each, at) => readClient(each, at)),
  }
}

function readClient(json: unknown, at: number): RecordedClient {
  const checked = check(clientSchema, json, ['clients', at])
  const taken = new Set<number>()
  for (const calls of [checked.searches, checked.definitions, checked.uses]) {
    for (const call of calls) {
      if (taken.has(call.at)) throw createFault(`clients[${at}]: two calls are at ${call.at}`)
      taken.add(call.at)
    }
  }
  return checked
}

function check<Value>(
  schema: StandardSchemaV1<unknown, Value>,
  json: unknown,
  place: readonly [] | readonly [field: string, index: number],
): Value {
  const [field, index] = place
  if (!isObject(json)) throw createFault(`${field === undefined ? 'it' : `${field}[${index}]`} is not an object`)
  const checked = schema['~standard'].validate(json)
  if (checked instanceof Promise) throw createFault('it cannot be checked')
  if (!checked.issues) return checked.value
  const [issue = { message: 'has a fault' }] = checked.issues
  throw createFault(describeIssues([{ ...issue, path: [...place, ...(issue.path ?? [])] }]))
}

/** The maximum length of a fault's description, which may quote the file. */
const MAX_FAULT = 300

function createFault(fault: string): FoldoutError {
  return new FoldoutError(
    'catalog-recording-invalid',
    `This is not a catalog recording of version 1: ${shorten(fault, MAX_FAULT)}. Record it again with this version of Foldout.`,
  )
}
