import type { JsonSchema } from '../core/schema/schema.ts'
import type { CallResult } from '../tools/call-result.ts'
import type { AnyTool, ToolAnnotations, ToolContext } from '../tools/tool.ts'
import type { LearnedOutput } from './learned-output.ts'
import type { Searchable } from './search/contract.ts'

export type { CallResult, ToolContent } from '../tools/call-result.ts'
export type { ToolAnnotations } from '../tools/tool.ts'

/**
 * The progress of a call, as in MCP.
 *
 * @example
 * ```ts
 * const showProgress = ({ progress, total, message }: ToolProgress): void => console.log(progress, total, message)
 * await catalog.call('send_mail', { to: 'ada@example.com' }, { onProgress: showProgress })
 * ```
 */
export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
  /** Further data of the server, passed on unchanged. */
  readonly _meta?: Readonly<Record<string, unknown>>
}

/**
 * The context of a call. A tool made with `defineTool` also receives the context of a run, such as its session.
 *
 * @example
 * ```ts
 * const context: CallContext = {
 *   signal: AbortSignal.timeout(10_000),
 *   onProgress: ({ progress, total }) => console.log(`${progress} of ${total}`),
 * }
 * await catalog.call('send_mail', { to: 'ada@example.com' }, context)
 * ```
 */
export interface CallContext extends Partial<Omit<ToolContext, 'signal'>> {
  readonly signal?: AbortSignal
  /** Called with the progress of the call. Absent if the caller did not ask for it. */
  readonly onProgress?: (progress: ToolProgress) => void
  /** The client that made the call, if it came over MCP. */
  readonly client?: CallClient
  /** The number of the client's request, if the server counts requests. A request may make several calls, or search. */
  readonly request?: number
  /** Sends questions and notifications to that client while the call runs. */
  readonly peer?: CallPeer
  /** The `_meta` of an MCP request, passed on to the server that runs the call. */
  readonly meta?: Readonly<Record<string, unknown>>
  /**
   * Present if a legacy client wants a task instead of the result. A tool that supports tasks returns a result with
   * `task`; others ignore it.
   */
  readonly task?: Readonly<Record<string, unknown>>
}

/**
 * The client of an MCP server that a call comes from.
 *
 * @example
 * ```ts
 * const callers: (string | undefined)[] = []
 * const whoami: RawTool = {
 *   name: 'whoami',
 *   description: 'Says who asks.',
 *   call: async (_args, { client }: { client?: CallClient }) => {
 *     callers.push(client?.principal)
 *     return { content: [] }
 *   },
 * }
 * ```
 */
export interface CallClient {
  /** Different for each connection. Requests without a connection share one. */
  readonly id: string
  /**
   * Identifies its connection among all others, including those to other machines; absent if its requests have none.
   */
  readonly connection?: string
  /** Whether other clients have the same id, because their requests have no connection. */
  readonly isShared?: boolean
  /** The client's own name. */
  readonly name: string | undefined
  readonly version: string | undefined
  /** The identity returned by the server's `authorize`. */
  readonly principal: string | undefined
}

/**
 * The client at the other end of an MCP request, for tools that send it questions or notifications while they run.
 *
 * @example
 * ```ts
 * const confirm: RawTool = {
 *   name: 'delete_all',
 *   description: 'Deletes everything, if the user agrees.',
 *   call: async (_args, { peer }: { peer?: CallPeer }) => {
 *     const question = { message: 'Really?', requestedSchema: { type: 'object', properties: {} } }
 *     const answer = await peer?.ask?.('elicitation/create', question)
 *     return { content: [{ type: 'text', text: answer?.['action'] === 'accept' ? 'Deleted.' : 'Left alone.' }] }
 *   },
 * }
 * ```
 */
export interface CallPeer {
  /** `legacy` before MCP 2026-07-28, `modern` since then. */
  readonly era: 'legacy' | 'modern'
  /** The capabilities that the client declares. */
  readonly capabilities: Readonly<Record<string, unknown>>
  /** The lowest level of log messages that the client wants. */
  readonly logLevel?: string
  /** The headers of its request, if it came over HTTP, including secrets. */
  readonly headers?: { get(name: string): string | null }
  /** Sends the client a notification related to its request. */
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>
  /**
   * Asks a legacy client: `sampling/createMessage`, `elicitation/create` or `roots/list`. A modern client is asked
   * through a result with `resultType: 'input_required'`, which it answers with another call that has `input`.
   */
  readonly ask?: (
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ) => Promise<Readonly<Record<string, unknown>>>
  /** A modern client's answers to the questions of an earlier result. */
  readonly input?: CallInput
}

/**
 * The answers of a modern client, and the state that came with the questions.
 *
 * @example
 * ```ts
 * const input: CallInput = { responses: { sure: { action: 'accept' } }, state: 'step-1' }
 * ```
 */
export interface CallInput {
  /** The answers by the names of the questions. Not checked. */
  readonly responses: Readonly<Record<string, unknown>>
  /** The state from the tool; clients may have changed it. */
  readonly state: string | undefined
}

/**
 * Information about a tool beyond its definition.
 *
 * @example
 * ```ts
 * const metadata: ToolMetadata = { category: 'home', tags: ['heating'], core: true }
 * createCatalog(tools, { metadata: { list_rooms: metadata } }).categories // => [ 'home' ]
 * ```
 */
export interface ToolMetadata {
  /** The name of a group of tools that a search can be limited to. Default: the source's name. */
  readonly category?: string
  readonly tags?: readonly string[]
  /** One line of about 50 characters for lists. Default: the beginning of the description. */
  readonly shortDescription?: string
  /** Whether exposures that hide most tools list this one from the start. */
  readonly core?: boolean
}

/**
 * A tool as its source defines it, such as an MCP server or your own code.
 *
 * @example
 * ```ts
 * const ping: RawTool = {
 *   name: 'ping',
 *   description: 'Checks whether a host answers.',
 *   inputSchema: { type: 'object', properties: { host: { type: 'string' } }, required: ['host'] },
 *   call: async ({ host }) => ({ content: [{ type: 'text', text: `${host} answers.` }] }),
 * }
 * const { content } = await createCatalog([ping]).call('ping', { host: 'localhost' })
 * content // => [ { type: 'text', text: 'localhost answers.' } ]
 * ```
 */
export interface RawTool extends ToolMetadata {
  /** The name that the source uses. Calls are sent under this name. */
  readonly name: string
  /** Where the tool comes from, such as the name of a server. Two sources may have tools of the same name. */
  readonly source?: string
  readonly title?: string
  readonly description?: string
  /** The schema of the arguments. Default: any object. */
  readonly inputSchema?: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  /** Icons, as in MCP, passed on to clients. */
  readonly icons?: readonly unknown[]
  /** How the tool can be run, as in MCP, passed on to clients. */
  readonly execution?: ToolExecution
  /** The definition's `_meta`, passed on to clients. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Other fields of the definition, passed on to clients. Clients ignore those that they do not know. */
  readonly extra?: Readonly<Record<string, unknown>>
  /**
   * Runs the tool with arguments that fit the schema. Without it, the tool can be found, but a call fails with an
   * explanation.
   */
  readonly call?: (args: Readonly<Record<string, unknown>>, context: CallContext) => Promise<CallResult>
  /**
   * Whether `call` ends by itself when its signal aborts. Otherwise, the catalog watches the signal, and stops waiting
   * for a call that ignores it.
   */
  readonly watchesSignal?: boolean
}

/**
 * How a tool can be run, as in MCP 2025-11-25: whether a call may, must or must not be a task, whose result is fetched
 * later.
 *
 * @example
 * ```ts
 * const execution: ToolExecution = { taskSupport: 'optional' }
 * ```
 */
export interface ToolExecution {
  readonly taskSupport?: 'required' | 'optional' | 'forbidden'
}

/**
 * A tool to put into a catalog. One made with `defineTool` can be extended: `{ ...tool, source: 'home', core: true }`.
 *
 * @example
 * ```ts
 * const input: CatalogInput = { ...setLight, source: 'home', category: 'light', core: true }
 * createCatalog([input]).categories // => [ 'light' ]
 * ```
 */
export type CatalogInput = RawTool | (AnyTool & ToolMetadata & Pick<RawTool, 'source'>)

/**
 * A tool of a catalog. It has three names: for models, for the catalog, and for its source.
 *
 * @example
 * ```ts
 * const [entry] = createCatalog([{ ...setLight, source: 'home' }]).tools
 * entry?.name // => 'set_light'
 * entry?.qualified // => 'home/set_light'
 * ```
 */
export interface CatalogEntry extends Searchable {
  readonly shortDescription: string
  readonly core: boolean
  readonly outputSchema: JsonSchema | undefined
  /** What was learned about its results, if it declares no output schema. */
  readonly learnedOutput?: LearnedOutput | undefined
  readonly annotations: ToolAnnotations | undefined
  readonly icons: readonly unknown[] | undefined
  readonly execution: ToolExecution | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly extra: Readonly<Record<string, unknown>> | undefined
  /** The fault in the definition of a tool that can still be called, such as a schema that does not compile. */
  readonly problem: string | undefined
}

/**
 * A definition that cannot be used.
 *
 * @example
 * ```ts
 * const { broken } = createCatalog([{ name: '', description: 'Has no name.' }])
 * const lines = broken.map(({ source, name, reason }: BrokenTool) => `${source ?? 'own'}/${name}: ${reason}`)
 * lines.length // => 1
 * ```
 */
export interface BrokenTool {
  readonly source: string | undefined
  /** The tool's name or title, if it has one; otherwise `?`. */
  readonly name: string
  readonly reason: string
}

/**
 * The tool of the catalog that a call ends up running, even if the call goes through a meta tool.
 *
 * @example
 * ```ts
 * const isHarmless = ({ entry }: EntryCall): boolean => entry.annotations?.readOnlyHint === true
 * const catalog = createCatalog(tools, { approve: isHarmless })
 * ```
 */
export interface EntryCall {
  readonly entry: CatalogEntry
  readonly arguments: Readonly<Record<string, unknown>>
}
