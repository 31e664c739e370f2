import type { CallContext, CallResult } from 'foldout/catalog'
import type { RuleDefinition } from '../../config/definition.ts'
import type { AuditedCall } from '../../policy/audit/audit.ts'
import { ALLOWED, createFacts, createRules, NOBODY } from '../../policy/rules/rules.ts'
import { createSecrets, type Secrets } from '../../policy/secrets/secrets.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import type { ServerTool } from '../../servers/server-tool.ts'
import type { CalledServer, Comparison } from '../../servers/server-tool.ts'
import type { Call, CallScope } from './call.ts'

/** What a call of a test meets. */
export interface Meeting {
  readonly rules?: readonly RuleDefinition[]
  readonly context?: CallContext
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly limits?: Partial<ServerTool['limits']>
  readonly policy?: Partial<CallScope['policy']>
  /** How the running server's tool differs. */
  readonly comparison?: Comparison
  /** The answer of the server, if it is asked. */
  readonly answer?: () => Promise<CallResult>
  readonly secrets?: Secrets
}

/** A call of `bank/pay` by nobody, without a process. */
export interface CallInTest {
  readonly call: Call
  readonly audited: AuditedCall[]
  readonly traffic: Traffic[]
  /** The arguments that the server got, for each call that reached it. */
  readonly sent: Readonly<Record<string, unknown>>[]
}

export const PAID: CallResult = { content: [{ type: 'text', text: 'Paid.' }] }

export function createCall(meeting: Meeting = {}): CallInTest {
  const { rules = [], context = {}, arguments: args = { amount: 3 }, secrets = createSecrets() } = meeting
  const { comparison = { isHeld: false, changed: undefined }, answer = async () => PAID } = meeting
  const audited: AuditedCall[] = []
  const traffic: Traffic[] = []
  const sent: Readonly<Record<string, unknown>>[] = []
  const tool = createTool(meeting.limits)
  const server: CalledServer = {
    name: 'bank',
    known: { hashTool: () => 'hash', compare: () => comparison },
    async send(call) {
      const why = call.check({ name: call.tool, description: '' })
      if (why !== undefined) return { content: [{ type: 'text', text: why }], isError: true }
      sent.push(call.args)
      return answer()
    },
  }
  const scope: CallScope = {
    preset: 'work',
    policy: {
      getRules: () => createRules(rules),
      approvals: { run: async (_request, given, run) => run(given) },
      quotas: {
        counts: () => false,
        take: async () => undefined,
        update: () => undefined,
        close: async () => undefined,
      },
      audit: { note: (call) => void audited.push(call), close: async () => undefined },
      secrets,
      ...meeting.policy,
    },
    onTraffic: (one) => traffic.push(one),
    nameResources: (_server, result) => result,
  }
  const call: Call = {
    scope,
    preset: scope.preset,
    client: context.client,
    path: 'bank/pay',
    annotations: undefined,
    who: NOBODY,
    server,
    tool,
    facts: createFacts(scope.preset, server.name, tool),
    given: args,
    arguments: args,
    context,
    check: () => 'it was not checked',
    record: { decision: ALLOWED, refusal: undefined, arguments: args },
  }
  return { call, audited, traffic, sent }
}

export function createTool(limits: Partial<ServerTool['limits']> = {}): ServerTool {
  const definition = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } }
  return {
    definition,
    shown: definition,
    complete: (args) => args,
    limits: { timeoutMs: undefined, turns: undefined, maxResultBytes: Infinity, ...limits },
  }
}

export function readText({ content }: CallResult): string {
  return content.map(({ text }) => String(text)).join('\n')
}
