import type { JsonSchema } from '../../core/schema/schema.ts'
import type { Catalog } from '../catalog.ts'
import type { CallContext, CallResult, CatalogEntry, ToolAnnotations } from '../tool.ts'

/** A tool as a client lists it. */
export interface ListedTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly unknown[]
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Who a catalog is put in front of: a client of an MCP server, or a section of a prompt. */
export interface ExposureClient {
  /** By which its events belong together. */
  readonly id: string
  /** Whether the list may grow while it is connected. It may not in MCP 2026-07-28 and later. */
  readonly takesListChanges: boolean
  /** Tools that have joined its list already, by qualified name: of a conversation that goes on, say. */
  readonly joined?: readonly string[]
}

/** A tool of the catalog that a call is for, whichever tool it goes through. */
export interface EntryCall {
  readonly entry: CatalogEntry
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A catalog as one client sees it. */
export interface ExposedCatalog {
  /** Which exposure it is and why: they differ for one that decides for each client. */
  readonly choice: { readonly exposure: string; readonly reason: string }
  /** Explains the flow to a model, in under 150 tokens. */
  readonly instructions: string
  /** The tools to list now: by name, those that joined for this client behind the others in the order in which they did. */
  list(): readonly ListedTool[]
  /** Says that the client was given the list. */
  listed(): void
  /** Runs a listed tool, or a hidden one under its own name. Never rejects but for an aborted signal. */
  call(name: string, args: unknown, context: CallContext): Promise<CallResult>
  /** What a call would run in the end, for approval, policy and records; nothing for a search. */
  target(name: string, args: unknown): EntryCall | undefined
  /** Called when the list may have become another. */
  onListChanged(listener: () => void): () => void
}

/** How a catalog is put in front of a model. A value that you pass in; a new one is one file. */
export interface Exposure {
  readonly name: string
  /** Throws where its options do not fit the catalog. Called once, by whoever puts the catalog in front of clients. */
  check?(catalog: Catalog): void
  expose(catalog: Catalog, client: ExposureClient): ExposedCatalog
}
