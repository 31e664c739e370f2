import type { Catalog } from '../catalog.ts'
import type { EntryCall, ExposureClient, ListedTool } from '../exposures/exposure.ts'
import type { CallContext, CallResult, CatalogEntry } from '../tool.ts'

/** A tool that an exposure has of its own, to find and run those of the catalog. */
export interface MetaTool {
  readonly listing: ListedTool
  call(args: Readonly<Record<string, unknown>>, context: CallContext): Promise<CallResult>
  /** The tool of the catalog that a call would run. */
  target?(args: Readonly<Record<string, unknown>>): EntryCall | undefined
}

/** What meta tools work with. */
export interface MetaScope {
  readonly catalog: Catalog
  readonly client: ExposureClient
  /** The tools that are listed from the start, which the model has before it. */
  readonly core?: () => readonly CatalogEntry[]
}
