import type { CallClient, CallContext, CallResult, ToolAnnotations } from 'foldout/catalog'
import type { JsonObject } from 'foldout-shared/values'
import type { AuditOutcome } from '../../policy/audit/audit-store.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Decision, ToolFacts, Who } from '../../policy/rules/rules.ts'
import type { OnTraffic } from '../../traffic/traffic.ts'
import type { CalledServer, ServerTool } from '../../servers/server-tool.ts'
import type { ToolCall } from '../../upstreams/upstream-options.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/**
 * A call of a server's tool, as a stage of your own sees it.
 *
 * @example
 * const describe = ({ client, path }: GatewayCall): string => `${client?.name ?? 'a client'} calls ${path}`
 */
export interface GatewayCall {
  readonly client: CallClient | undefined
  /** The preset that the client uses; empty if it uses none. */
  readonly preset: string
  /** `server/tool`, by the names in the configuration. */
  readonly path: string
  readonly annotations: ToolAnnotations | undefined
  /** All arguments, including those that the configuration sets. */
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * A stage of the calls of a gateway. It sees every call of a server's tool, and may change its arguments, answer it itself, or change
 * its result. It must call `next` at most once.
 *
 * @example
 * const hideNumbers: CallStage = (call, next) => {
 *   const text = JSON.stringify(call.arguments).replaceAll(/\d{16}/g, '[card]')
 *   return next({ ...call, arguments: JSON.parse(text) })
 * }
 */
export type CallStage = (call: GatewayCall, next: (call: GatewayCall) => Promise<CallResult>) => Promise<CallResult>

/** A call on its way through the stages. A stage that changes it passes a copy on. */
export interface Call extends GatewayCall {
  readonly scope: CallScope
  readonly who: Who
  readonly server: CalledServer
  readonly tool: ServerTool
  /** The tool as the rules see it. */
  readonly facts: ToolFacts
  /** The arguments as the client wrote them. */
  readonly given: JsonObject
  readonly context: CallContext
  /** Says why the call must not be sent, given the tool as the running server defines it. */
  readonly check: ToolCall['check']
  /** What the stages decided, for the logs. One for the whole call. */
  readonly record: CallRecord
}

/** What was decided about a call. */
export interface CallRecord {
  /** What the rules say. */
  decision: Decision
  /** How the call was stopped, if it was. */
  refusal: Extract<AuditOutcome, 'asked' | 'denied' | 'not approved' | 'over quota'> | undefined
  /** The arguments that the server would get. */
  arguments: JsonObject
}

/** What the calls of one preset have in common. */
export interface CallScope {
  readonly preset: string
  readonly policy: Pick<Policy, 'getRules' | 'approvals' | 'quotas' | 'audit' | 'secrets'>
  readonly onTraffic: OnTraffic | undefined
  /** Gives the resources that a result names the URIs that clients use. */
  nameResources(server: CalledServer, result: CallResult): CallResult
}

/** One stage of the calls of tools. */
export type Stage = (call: Call, next: Next) => Promise<CallResult>

/** The stages that follow. */
export type Next = (call: Call) => Promise<CallResult>

/** Refuses a call in words that a model understands. */
export function refuse({ path }: Pick<GatewayCall, 'path'>, why: string): CallResult {
  return createErrorResult(`Tool '${path}' was not run: ${why}`)
}

/** The size of a value as JSON. Infinite if it cannot be serialized: it is nested too deeply, or longer than a string can be. */
export function countBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '')
  } catch {
    return Infinity
  }
}

/** Joins stages into one function. The first stage is the outermost: it sees a call first, and its result last. */
export function compose<Item, Result>(
  stages: readonly ((item: Item, next: (item: Item) => Result) => Result)[],
  last: (item: Item) => Result,
): (item: Item) => Result {
  return stages.reduceRight<(item: Item) => Result>((next, stage) => (item) => stage(item, next), last)
}
