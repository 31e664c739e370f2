import { deferPattern } from '../../core/defer-pattern.ts'
import { isObject } from 'foldout-shared/values'
import { untilAborted } from '../../core/abort.ts'
import { ignore } from '../../core/promises.ts'
import { shorten } from '../../core/text.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import { readArguments } from '../entries/arguments.ts'
import type { Catalog } from '../contract.ts'
import { isMetaToolName } from '../names.ts'
import type { CallContext, CallResult, CatalogEntry, EntryCall } from '../tool.ts'
import { markFoundNothing } from '../found-nothing.ts'
import { describeUnknownTool, isUnknown, type UnknownTool } from '../unknown-tool.ts'
import { isForModels } from '../entries/audience.ts'
import { readText, type GivenArguments, type MetaScope } from './meta-tool.ts'

const getOthers = deferPattern(String.raw`[^\p{L}\p{N}]+`, 'gu')

export const USE_TOOL = 'use_tool'
export const DISCOVER_AND_USE = 'discover_and_use_tool'

/**
 * A tool to run and its arguments, as the model wrote them.
 *
 * @example
 * ```ts
 * const call: InnerCall = { name: 'send_mail', args: '{"to":"ada@example.com"}' }
 * getTarget({ catalog, client }, call)?.arguments // => { to: 'ada@example.com' }
 * ```
 */
export interface InnerCall {
  readonly name: unknown
  readonly args: unknown
  /** Names of arguments that were given next to the tool's arguments instead of inside them. */
  readonly beside?: readonly string[]
  /** Whether `args` come from fields next to the tool's name, because the field for arguments was empty. */
  readonly isLifted?: boolean
}

/** The fields of the meta tools that run other tools. */
const FIELDS = {
  [USE_TOOL]: { name: 'name', otherNames: ['tool_name', 'tool'], args: 'arguments', own: [] },
  [DISCOVER_AND_USE]: {
    name: 'tool_name',
    otherNames: ['name', 'tool'],
    args: 'tool_args',
    own: ['action', 'query', 'category', 'limit', 'detail'],
  },
} as const

/**
 * Reads which tool a meta tool should run, and with which arguments. Small models put the tool's arguments next to its name; if no
 * other arguments are given, those are used.
 */
export function readInnerCall(through: keyof typeof FIELDS, args: GivenArguments): InnerCall {
  const fields = FIELDS[through]
  const field = findNameField(fields, args)
  const { [field]: name, [fields.args]: given } = args
  const own: readonly string[] = fields.own
  const isKnown = (key: string): boolean =>
    key === field || key === fields.args || key === fields.name || own.includes(key)
  const beside = Object.keys(args).filter((key) => !isKnown(key))
  if (beside.length === 0) return { name, args: given }
  if (isNothing(given)) return { name, args: Object.fromEntries(beside.map((key) => [key, args[key]])), isLifted: true }
  return { name, args: given, beside }
}

/** Models confuse the fields of the meta tools that they know. */
function findNameField({ name, otherNames }: (typeof FIELDS)[keyof typeof FIELDS], args: GivenArguments): string {
  const isGiven = (field: string): boolean => readText(args[field]) !== undefined
  if (isGiven(name)) return name
  return otherNames.find(isGiven) ?? name
}

/** Other names for the field with the arguments, unless the tool has a param of that name itself. */
const WRAPPERS: ReadonlySet<string> = new Set(['args', 'arguments', 'input', 'parameters', 'params', 'tool_args'])

/** Returns the arguments that a call means. */
function getMeant({ args, isLifted }: InnerCall, { inputSchema }: CatalogEntry): unknown {
  const [field, ...others] = isLifted && isObject(args) ? Object.entries(args) : []
  if (!field || others.length > 0 || !WRAPPERS.has(field[0])) return args
  const { properties } = inputSchema
  if (isObject(properties) && Object.hasOwn(properties, field[0])) return args
  return field[1]
}

function isNothing(given: unknown): boolean {
  if (given === undefined || given === null) return true
  if (typeof given === 'string') return ['', '{}'].includes(given.trim())
  return isObject(given) && Object.keys(given).length === 0
}

/**
 * A tool to run for a client.
 *
 * @example
 * ```ts
 * const run: ToolRun = { name: 'send_mail', args: { to: 'ada@example.com' }, through: 'run' }
 * const { content } = await runTool({ catalog, client }, run, {})
 * ```
 */
export interface ToolRun extends InnerCall {
  /** The meta tool that the call goes through; absent for a direct call. */
  readonly through?: string
  /** Tells a model what to do after it called an unknown name. */
  readonly hint?: string
}

/**
 * Runs a tool of the catalog for a client, returns its result unchanged, and reports the use.
 *
 * @example
 * const answer = await runTool({ catalog, client }, { name: 'send_mail', args: { to: 'ada@example.com' }, through: 'run' }, {})
 */
export async function runTool(scope: MetaScope, run: ToolRun, context: CallContext): Promise<CallResult> {
  const { catalog, client } = scope
  const { through, hint, beside } = run
  const name = readText(run.name)
  if (name === undefined)
    return createErrorResult(`Say in '${through === DISCOVER_AND_USE ? 'tool_name' : 'name'}' which tool to run.`)
  // Even if a server has a tool of that name, which models see under another name.
  if (through !== undefined && isMetaToolName(name))
    return createErrorResult(`'${name}' is called directly, not through ${through}.`)
  const found = catalog.resolve(name)
  if (isUnknown(found)) return answerUnknown(catalog, found, { hint, signal: context.signal, arguments: run.args })
  if (through !== undefined && !isForModels(found))
    return createErrorResult(`Tool '${found.name}' is only for the pages of its server. Use another tool.`)
  if (through !== undefined && beside) return createErrorResult(describeBeside(through, beside))
  const started = performance.now()
  let ok = false
  try {
    const result = await catalog.call(found.name, getMeant(run, found), context)
    ok = result.isError !== true
    return result
  } finally {
    catalog.report({
      type: 'tool/used',
      client: client.id,
      name: found.qualified,
      through: through ?? 'direct',
      ok,
      durationMs: Math.round(performance.now() - started),
      wrappingTokens: through === undefined ? 0 : getWrappingTokens(through, found),
      request: context.request,
    })
  }
}

/** How many tools that may be meant are named. */
const MOST_MEANT = 3
/** Others are named if they score at least this share of the best. */
const NEAREST_SHARE = 0.6

interface UnknownContext {
  readonly hint?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** As the model wrote them. */
  readonly arguments?: unknown
}

/** Answers a call of an unknown name. If no name is spelled like it, the answer names the tools that come nearest in meaning. */
export async function answerUnknown(
  catalog: Catalog,
  found: UnknownTool,
  { hint, signal, arguments: args }: UnknownContext,
): Promise<CallResult> {
  const missing = { name: found.unknown, arguments: args, isPart: false }
  const words = found.unknown.replaceAll(getOthers(), ' ').trim()
  if (found.isAmbiguous || found.near.length > 0 || words === '')
    return markFoundNothing(createErrorResult(describeUnknownTool(found, hint)), missing)
  const searching = untilAborted(signal, () => catalog.search(words, { limit: MOST_MEANT }))
  const outcome = await ignore(searching, 'the name is unknown whether or not a search fails')
  const hits = outcome?.fit === 'good' ? outcome.hits : []
  const least = NEAREST_SHARE * (hits[0]?.score ?? 0)
  const near = hits.filter(({ score }) => score >= least).map(({ tool }) => tool.name)
  signal?.throwIfAborted()
  return markFoundNothing(createErrorResult(describeUnknownTool({ ...found, near }, hint)), missing)
}

function describeBeside(through: string, beside: readonly string[]): string {
  const field = through === DISCOVER_AND_USE ? 'tool_args' : 'arguments'
  const names = beside.slice(0, 3).map((name) => `'${toVisibleText(shorten(name))}'`)
  return `Wrong arguments for tool '${through}': there is no argument ${names.join(', ')}. Put all arguments of the tool into '${field}'. Nothing was run.`
}

/**
 * Gets the tool and the arguments that a call would run; `undefined` if there is no such tool or the arguments cannot be read.
 *
 * @example
 * const target = getTarget({ catalog, client }, { name: 'send_mail', args: '{"to":"ada@example.com"}' })
 */
export function getTarget({ catalog }: MetaScope, call: InnerCall): EntryCall | undefined {
  if (typeof call.name !== 'string') return undefined
  const found = catalog.resolve(call.name)
  if (isUnknown(found)) return undefined
  const read = readArguments(getMeant(call, found), found.inputSchema)
  if ('fault' in read) return undefined
  return { entry: found, arguments: read.args }
}

/** By the tool and what it is called through, because counting takes as long as a tenth of a small call. */
const wrappingTokens = new WeakMap<CatalogEntry, Map<string, number>>()

function getWrappingTokens(through: string, entry: CatalogEntry): number {
  const counts = wrappingTokens.get(entry) ?? new Map<string, number>()
  wrappingTokens.set(entry, counts)
  const tokens = counts.get(through) ?? countWrappingTokens(through, entry.name)
  counts.set(through, tokens)
  return tokens
}

function countWrappingTokens(through: string, name: string): number {
  const wrapper =
    through === DISCOVER_AND_USE ? { action: 'execute', tool_name: name, tool_args: {} } : { name, arguments: {} }
  return estimatedTokens.count(`${through}${JSON.stringify(wrapper)}`) - estimatedTokens.count(`${name}{}`)
}
