import { estimatedTokens } from '../../core/tokens/tokens.ts'
import { readArguments } from '../arguments.ts'
import { isUnknown, describeUnknownTool } from '../unknown-tool.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import type { EntryCall } from '../exposures/exposure.ts'
import { META_TOOL_NAMES } from '../names.ts'
import type { CallContext, CallResult } from '../tool.ts'
import type { MetaScope } from './meta-tool.ts'

interface Run {
  readonly name: unknown
  readonly args: unknown
  /** The meta tool it goes through, or nothing for a direct call. */
  readonly through?: string
  /** What to do about a name that no tool has. */
  readonly hint?: string
}

/** Runs a tool of the catalog for a client, unchanged in what it answers, and reports that it was used. */
export async function runTool(scope: MetaScope, run: Run, context: CallContext): Promise<CallResult> {
  const { catalog, client } = scope
  const { name, args, through, hint } = run
  if (typeof name !== 'string' || name === '') return createErrorResult("Say in 'name' which tool to run.")
  // Also where a server has a tool of that name, which models see under another one.
  if (through !== undefined && isMetaTool(name))
    return createErrorResult(`'${name}' is no tool of the catalog. Call it directly, not through ${through}.`)
  const found = catalog.resolve(name)
  if (isUnknown(found)) return createErrorResult(describeUnknownTool(found, hint))
  const started = performance.now()
  let ok = false
  try {
    const result = await catalog.call(found.name, args, context)
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
      wrappingTokens: through === undefined ? 0 : wrappingTokens(through, found.name),
    })
  }
}

function isMetaTool(name: string): boolean {
  return (META_TOOL_NAMES as readonly string[]).includes(name)
}

/** The tool and the arguments that a call comes down to, if there is such a tool and the arguments can be read. */
export function getTarget({ catalog }: MetaScope, name: unknown, args: unknown): EntryCall | undefined {
  if (typeof name !== 'string') return undefined
  const found = catalog.resolve(name)
  const read = readArguments(args)
  return isUnknown(found) || 'fault' in read ? undefined : { entry: found, arguments: read.args }
}

export const DISCOVER_AND_USE = 'discover_and_use_tool'

function wrappingTokens(through: string, name: string): number {
  const wrapper =
    through === DISCOVER_AND_USE ? { action: 'execute', tool_name: name, tool_args: {} } : { name, arguments: {} }
  return estimatedTokens.count(`${through}${JSON.stringify(wrapper)}`) - estimatedTokens.count(`${name}{}`)
}
