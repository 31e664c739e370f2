import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { isObject } from 'foldout-shared/values'
import { shorten, toOwnText } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { Catalog } from '../contract.ts'
import type { ExposureClient, ListedTool } from '../exposure.ts'
import type { CallContext, CallResult, EntryCall, CatalogEntry } from '../tool.ts'

/**
 * The arguments of a call, as the model wrote them.
 *
 * @example
 * ```ts
 * const readQuery = ({ query }: GivenArguments): string => (typeof query === 'string' ? query : '')
 * readQuery({ query: 'mail' }) // => 'mail'
 * ```
 */
export type GivenArguments = Readonly<Record<string, unknown>>

/**
 * A tool that an exposure adds to let models find and run the tools of the catalog.
 *
 * @example
 * ```ts
 * const countTools: MetaTool = {
 *   listing: { name: 'count_tools', description: 'Counts the tools.', inputSchema: { type: 'object' } },
 *   call: async () => ({ content: [{ type: 'text', text: `${catalog.tools.length} tools` }] }),
 * }
 * ```
 */
export interface MetaTool {
  readonly listing: ListedTool
  /** Whether it accepts arguments that its schema does not list, such as those of the tool that it runs. */
  readonly takesOtherArguments?: boolean
  call(args: GivenArguments, context: CallContext): Promise<CallResult>
  /** Finds the tool of the catalog that a call would run. */
  target?(args: GivenArguments): EntryCall | undefined
}

/**
 * The context of a meta tool.
 *
 * @example
 * ```ts
 * const scope: MetaScope = { catalog, client }
 * const answer = await runTool(scope, { name: 'send_mail', args: { to: 'ada@example.com' } }, {})
 * ```
 */
export interface MetaScope {
  readonly catalog: Catalog
  readonly client: ExposureClient
  /** The tools that are listed from the start, so the model already knows them. */
  readonly core?: () => CoreTools
}

/** Reads a string argument; `undefined` if it is missing. Some models send `null` or `""` instead. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return value
  return undefined
}

/**
 * Describes an argument that the meta tool does not have, if there is one. A search is never rejected because of it.
 */
export function describeUnknownArgument(
  { listing, takesOtherArguments }: MetaTool,
  args: GivenArguments,
): string | undefined {
  if (takesOtherArguments === true) return undefined
  const { properties } = listing.inputSchema
  const known = isObject(properties) ? Object.keys(properties) : []
  const isSearch = known.includes('query') && readText(args['query']) !== undefined
  if (isSearch) return undefined
  const unknown = Object.keys(args).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  const verb = known.length === 1 ? 'is' : 'are'
  return `there is no argument '${toVisibleText(shorten(unknown))}'; there ${verb}: ${known.join(', ')}`
}

/** How many characters of a model's text are counted exactly. */
const MAX_COUNTED_CHARACTERS = 10_000

/** Estimates the tokens of a model's text. A long text is estimated from its beginning, because counting all of it takes seconds. */
export function estimateGivenTokens(text: string): number {
  if (text.length <= MAX_COUNTED_CHARACTERS) return estimatedTokens.count(text)
  const start = toOwnText(text.slice(0, MAX_COUNTED_CHARACTERS))
  return Math.round((estimatedTokens.count(start) * text.length) / MAX_COUNTED_CHARACTERS)
}

/** The tools of a catalog that are listed from the start, sorted by name. */
export interface CoreTools {
  readonly entries: readonly CatalogEntry[]
  has(entry: CatalogEntry): boolean
}
