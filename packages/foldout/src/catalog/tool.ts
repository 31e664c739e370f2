import type { JsonSchema } from '../core/schema/schema.ts'
import type { CallResult } from '../tools/call-result.ts'
import type { AnyTool, ToolContext } from '../tools/tool.ts'

export type { CallResult, ToolContent } from '../tools/call-result.ts'

/** How far a call is, as MCP has it. */
export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What goes along with a call. Tools made with `defineTool` also get what a run gives them. */
export interface CallContext extends Partial<Omit<ToolContext, 'signal'>> {
  readonly signal?: AbortSignal
  /** Told how far a call is, if whoever asked wants to know. */
  readonly onProgress?: (progress: ToolProgress) => void
  /** The `_meta` of an MCP request, for the server the call goes to. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** What a tool says of itself to clients that ask before a call. Hints, as in MCP. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
  readonly [hint: string]: unknown
}

/** What is known of a tool beside its definition. */
export interface ToolMetadata {
  /** A word for a group of tools, by which a search can be narrowed. Default: the source's name. */
  readonly category?: string
  readonly tags?: readonly string[]
  /** One line of about 50 characters for lists. Default: the beginning of the description. */
  readonly shortDescription?: string
  /** Whether it is listed from the start, by exposures that list some tools and hide the others. */
  readonly core?: boolean
}

/** A tool as its source defines it: an MCP server's, or your own. */
export interface RawTool extends ToolMetadata {
  /** As its source knows it; a call is sent under this name. */
  readonly name: string
  /** What the tool comes from, such as the name of a server. Two sources may each have a tool of one name. */
  readonly source?: string
  readonly title?: string
  readonly description?: string
  /** Default: any object. */
  readonly inputSchema?: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  /** Pictures of it, as MCP has them, kept for clients. */
  readonly icons?: readonly unknown[]
  /** The definition's `_meta`, kept for clients. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Runs it with arguments that fit the schema. Without it the tool can be found, and a call says that it cannot be run. */
  readonly call?: (args: Readonly<Record<string, unknown>>, context: CallContext) => Promise<CallResult>
}

/** What a catalog takes. A tool made with `defineTool` may have more put to it: `{ ...tool, source: 'home', core: true }`. */
export type CatalogInput = RawTool | (AnyTool & ToolMetadata & Pick<RawTool, 'source'>)

/** A tool of a catalog. It has a name for each who speaks of it. */
export interface CatalogEntry {
  /** As a model sees it: short where that is unique, and fit for every provider. It depends on the other tools of the catalog. */
  readonly name: string
  /** `source/name`, or the name alone: one tool's for ever, whatever else is in the catalog. */
  readonly qualified: string
  /** As its source declares it, and is called upstream. */
  readonly declared: string
  readonly source: string | undefined
  readonly title: string | undefined
  /** Empty if it has none. */
  readonly description: string
  readonly shortDescription: string
  readonly category: string | undefined
  readonly tags: readonly string[]
  readonly core: boolean
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema | undefined
  readonly annotations: ToolAnnotations | undefined
  readonly icons: readonly unknown[] | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  /** What is wrong with its definition though it can be called, such as a schema that does not compile. */
  readonly problem: string | undefined
}

/** A definition that no tool could be made of. */
export interface BrokenTool {
  readonly source: string | undefined
  /** As far as it can be told. */
  readonly name: string
  readonly reason: string
}
