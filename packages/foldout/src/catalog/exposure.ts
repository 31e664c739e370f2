import type { JsonSchema } from '../core/schema/schema.ts'
import type { Catalog } from './contract.ts'
import type { CallContext, CallResult, ToolAnnotations, ToolExecution, EntryCall } from './tool.ts'

/**
 * A tool as a client lists it.
 *
 * @example
 * ```ts
 * const listed: readonly ListedTool[] = all().expose(catalog, { id: 'chat-1', takesListChanges: true }).list()
 * listed.map(({ name }) => name) // => [ 'list_rooms', 'send_mail', 'set_light' ]
 * ```
 */
export interface ListedTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly unknown[]
  readonly execution?: ToolExecution
  readonly meta?: Readonly<Record<string, unknown>>
  /** Other fields of the definition. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * The reader of a catalog: a client of an MCP server, or a section of a prompt.
 *
 * @example
 * ```ts
 * const client: ExposureClient = { id: 'chat-1', takesListChanges: true }
 * hybrid().expose(catalog, client).choice.exposure // => 'hybrid'
 * ```
 */
export interface ExposureClient {
  /** Identifies the client in events. */
  readonly id: string
  /** Whether the list may change while the client is connected. In MCP 2026-07-28 and later it may not. */
  readonly takesListChanges: boolean
  /** Qualified names of tools that were already added to the client's list, such as earlier in a resumed conversation. */
  readonly joined?: readonly string[]
  /**
   * A memory of the client that outlives the exposed catalog, such as across several machines. Default: only `joined`.
   */
  readonly memory?: ExposureMemory
}

/**
 * The memory of an exposure about one client. Read it whenever it is needed: another machine that serves the same
 * client may have changed it.
 *
 * @example
 * ```ts
 * const memory: ExposureMemory = createExposureMemory()
 * memory.join('home/send_mail')
 * memory.joined // => [ 'home/send_mail' ]
 * ```
 */
export interface ExposureMemory {
  /** Qualified names of the tools that were added to the client's list, in the order of their addition. */
  readonly joined: readonly string[]
  /** Adds a tool by its qualified name. */
  join(tool: string): void
}

/**
 * Creates a memory that lives as long as the process.
 *
 * @example
 * ```ts
 * const memory = createExposureMemory(['home/send_mail'])
 * twoPhase().expose(catalog, { id: 'chat-1', takesListChanges: true, memory })
 * ```
 */
export function createExposureMemory(joined: readonly string[] = []): ExposureMemory {
  const tools = new Set(joined)
  return {
    get joined() {
      return [...tools]
    },
    join: (tool) => void tools.add(tool),
  }
}

/**
 * A catalog as one client sees it.
 *
 * @example
 * ```ts
 * const exposed: ExposedCatalog = hybrid().expose(catalog, { id: 'chat-1', takesListChanges: true })
 * exposed.list().map(({ name }) => name) // => [ 'search_tools', 'use_tool' ]
 * const { content } = await exposed.call('search_tools', { query: 'mail' }, {})
 * ```
 */
export interface ExposedCatalog {
  /**
   * Which exposure the client gets and why. Both may change for an exposure that decides for each client, such as
   * `auto()`.
   */
  readonly choice: { readonly exposure: string; readonly reason: string }
  /** Tells a model how to find and call tools, in under 150 tokens. */
  readonly instructions: string
  /** The tools to list now, sorted by name. Tools that were added for this client come last, in the order of their addition. */
  list(): readonly ListedTool[]
  /** Reports that the client received the list. `tools` is what it got if that differs from {@link list}. */
  listed(tools?: readonly ListedTool[]): void
  /** Runs a tool by its name, listed or hidden. Rejects only if the signal is aborted. */
  call(name: string, args: unknown, context: CallContext): Promise<CallResult>
  /**
   * Finds the tool that a call would end up running, for approval, policies and recordings; `undefined` for a search.
   */
  target(name: string, args: unknown): EntryCall | undefined
  /** Calls a listener whenever the list may have changed. Returns a function that stops it. */
  onListChanged(listener: () => void): () => void
  /** Reads the client's memory again, because another machine has changed it. */
  refresh?(): void
}

/**
 * How a catalog is shown to a model: which tools are listed, and how the others are reached.
 *
 * @example
 * ```ts
 * const exposure: Exposure = hybrid({ core: ['send_mail'] })
 * const section = catalogSection(catalog, { expose: exposure })
 * ```
 */
export interface Exposure {
  readonly name: string
  /** The name of a meta tool that adds what it finds to the conversation, if there is one. */
  readonly searchTool?: string
  /** Throws if the options do not fit the catalog. A server or section calls it once, before the first client. */
  check?(catalog: Catalog): void
  expose(catalog: Catalog, client: ExposureClient): ExposedCatalog
}
