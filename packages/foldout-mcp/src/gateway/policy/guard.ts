import { CallTimeout } from './call-limits.ts'
import { listModelNames, type CallClient, type CallContext, type CallResult, type RawTool } from 'foldout/catalog'
import { getRequest, type OnTraffic, type Traffic } from '../traffic/traffic.ts'
import type { AuditOutcome } from './audit/audit-store.ts'
import type { AuditedCall } from './audit/audit.ts'
import type { Policy } from './policy.ts'
import { withRecheck, type Recheck } from './recheck.ts'
import { NOBODY, type Decision, type ToolFacts, type Who } from './rules.ts'

/** A tool of a server, as the rules see it. */
export interface GuardedServer {
  readonly name: string
  /** The server's own name for a tool that clients see under this name. */
  findOwnName(tool: string): string | undefined
  /** The arguments with which a tool runs, including those that the configuration sets. */
  completeArguments(tool: string, args: Arguments): Arguments
  /** The hash of the tool's current definition. */
  hashTool(tool: string): string | undefined
}

/** The tools of a server for the clients of a preset. */
export interface Guard {
  /** The tools that are not denied to a client or, without one, to everyone. */
  filter(server: GuardedServer, tools: readonly RawTool[], who: Who): readonly RawTool[]
  /** Wraps the tools so that each call is checked before it runs, and logged. */
  protect(server: GuardedServer, tools: readonly RawTool[]): readonly RawTool[]
  /** Whether a tool is denied to a client. */
  denies(server: GuardedServer, tool: RawTool, who: Who): boolean
}

export function createGuard(policy: Policy, preset: string, onTraffic?: OnTraffic): Guard {
  const getFacts = (server: GuardedServer, { name, annotations }: RawTool): ToolFacts => {
    let names: readonly string[] | undefined
    return {
      preset,
      server: server.name,
      // Many catalogs are large, and few have rules that name tools.
      get names() {
        return (names ??= listToolNames(server, name))
      },
      annotations,
    }
  }
  const denies: Guard['denies'] = (server, tool, who) =>
    policy.getRules(preset).decide(who, getFacts(server, tool)).action === 'deny'
  return {
    denies,
    filter: (server, tools, who) => tools.filter((tool) => !denies(server, tool, who)),
    protect(server, tools) {
      return tools.map((tool) => {
        const { call } = tool
        if (!call) return tool
        const facts = getFacts(server, tool)
        const check: NonNullable<RawTool['call']> = (args, context) => {
          const who = toWho(context)
          const rules = policy.getRules(preset)
          const isPlain = !policy.audit && !policy.quotas.counts(who, facts)
          // Most gateways have no rules, and skip all of this.
          if (isPlain && rules.isEmpty) return call(args, context)
          const decision = rules.decide(who, facts)
          const decideAgain: DecideAgain = ({ annotations }) =>
            policy.getRules(preset).decide(who, { ...facts, annotations })
          if (isPlain && decision.action === 'allow')
            return call(
              args,
              withRecheck(context, (now) => explainChange(decision, decideAgain(now))),
            )
          const takeQuota = (): Promise<string | undefined> => policy.quotas.take(who, facts)
          const checked = { policy, preset, server, tool: tool.name, decision, decideAgain, takeQuota, call, onTraffic }
          return callChecked(checked, args, context)
        }
        return { ...tool, call: check }
      })
    },
  }
}

/**
 * Every name that a person may use for a tool: the server's own, the one that the configuration gives it, and those
 * under which clients may see it.
 */
export function listToolNames(server: Pick<GuardedServer, 'name' | 'findOwnName'>, tool: string): readonly string[] {
  const own = server.findOwnName(tool) ?? tool
  return [...new Set([own, tool, ...listModelNames(server.name, tool)])]
}

export function toWho({ client }: { readonly client?: Pick<CallClient, 'name' | 'principal'> }): Who {
  return client ? { client: client.name, user: client.principal } : NOBODY
}

/** A client as the audit log names it. */
export function describeClient(client: CallClient | undefined): AuditedCall['client'] {
  return client && { id: client.id, name: client.name, user: client.principal }
}

/** Decides about a call whose tool turns out to be defined differently. */
type DecideAgain = (tool: Parameters<Recheck>[0]) => Decision

interface CheckedCall {
  readonly policy: Policy
  readonly preset: string
  readonly server: GuardedServer
  readonly tool: string
  readonly decision: Decision
  readonly decideAgain: DecideAgain
  /** Counts the call. Returns why it must not run, if a quota is used up. */
  readonly takeQuota: () => Promise<string | undefined>
  readonly call: NonNullable<RawTool['call']>
  readonly onTraffic: OnTraffic | undefined
}

type Arguments = Readonly<Record<string, unknown>>

async function callChecked(checked: CheckedCall, args: Arguments, context: CallContext): Promise<CallResult> {
  const { audit } = checked.policy
  const start = performance.now()
  const seen: Seen = { hasRun: false, isOverQuota: false }
  try {
    seen.result = await decideAndCall(checked, args, context, seen)
    return seen.result
  } finally {
    const { client } = context
    const { preset, onTraffic } = checked
    const rule = seen.rule ?? checked.decision
    const tool = `${checked.server.name}/${checked.tool}`
    const decision = getDecision(rule, seen)
    const complete = checked.server.completeArguments(checked.tool, args)
    if (decision) onTraffic?.({ type: 'decision', preset, tool, arguments: complete, decision, request: getRequest() })
    audit?.note({
      client: describeClient(client),
      preset,
      tool,
      arguments: complete,
      outcome: getOutcome(rule, seen, context),
      durationMs: Math.round(performance.now() - start),
      bytes: countBytes(seen.result),
    })
  }
}

/** How a call ended. */
interface Seen {
  hasRun: boolean
  isOverQuota: boolean
  /** The decision about what the tool turned out to be, if it stopped the call. */
  rule?: Decision
  result?: CallResult
}

async function decideAndCall(
  { policy, preset, server, tool, decision, decideAgain, takeQuota, call }: CheckedCall,
  args: Arguments,
  context: CallContext,
  seen: Seen,
): Promise<CallResult> {
  const path = `${server.name}/${tool}`
  const recheck: Recheck = (now) => {
    const rule = decideAgain(now)
    const why = explainChange(decision, rule)
    if (why !== undefined) Object.assign(seen, { hasRun: false, rule })
    return why
  }
  const run = async (approved: CallContext): Promise<CallResult> => {
    const refusal = await takeQuota()
    if (refusal !== undefined) {
      seen.isOverQuota = true
      return createRefusal(path, refusal)
    }
    seen.hasRun = true
    return call(args, withRecheck(approved, recheck))
  }
  if (decision.action === 'allow') return run(context)
  if (decision.action === 'deny') {
    return createRefusal(path, `a rule denies it. ${decision.reason ?? ''}`.trim())
  }
  const request = {
    preset,
    tool: path,
    // The user approves what will run, not only what the model wrote.
    arguments: server.completeArguments(tool, args),
    reason: decision.reason,
    getDefinition: () => server.hashTool(tool),
  }
  return policy.approvals.run(request, context, run)
}

/** Why a call must not be sent, because of what the tool turned out to be. */
function explainChange(before: Decision, now: Decision): string | undefined {
  if (now.action === 'allow') return undefined
  const again = 'List or search the tools again'
  if (now.action === 'deny')
    return `its definition has changed since it was listed, and a rule denies it now. ${again}.`
  if (before.action === 'ask')
    return `its definition has changed since the user approved the call. ${again}, then repeat the call, so that the user can approve it with the new definition.`
  return `its definition has changed since it was listed, and the user has to approve it now. ${again}, then repeat the call.`
}

/** What a rule or a quota decided; undefined for a call that was simply allowed. */
function getDecision({ action }: Decision, { hasRun, isOverQuota, result }: Seen): CallDecision | undefined {
  if (isOverQuota) return 'over quota'
  if (action === 'allow') return undefined
  if (action === 'deny') return 'denied'
  if (hasRun) return 'approved'
  return result?.['resultType'] === 'input_required' ? 'asked' : 'not approved'
}

type CallDecision = Extract<Traffic, { type: 'decision' }>['decision']

function getOutcome(
  { action }: Decision,
  { hasRun, isOverQuota, result }: Seen,
  { signal }: CallContext,
): AuditOutcome {
  if (isOverQuota) return 'over quota'
  if (result?.['resultType'] === 'input_required') return 'asked'
  if (!hasRun && action !== 'allow') return action === 'deny' ? 'denied' : 'not approved'
  if (!result) return getInterruption(signal)
  return result.isError === true ? 'error' : 'ok'
}

function getInterruption(signal: AbortSignal | undefined): AuditOutcome {
  if (!signal?.aborted) return 'error'
  return signal.reason instanceof CallTimeout ? 'timed out' : 'cancelled'
}

function createRefusal(path: string, why: string): CallResult {
  return { content: [{ type: 'text', text: `Tool '${path}' was not run: ${why}` }], isError: true }
}

/** The size of a result as JSON. */
export function countBytes(result: CallResult | undefined): number {
  try {
    return result === undefined ? 0 : Buffer.byteLength(JSON.stringify(result))
  } catch {
    return 0
  }
}
