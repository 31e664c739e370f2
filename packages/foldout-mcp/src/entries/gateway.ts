/**
 * The gateway: every MCP server you have, behind a handful of tools.
 *
 * @module foldout-mcp
 */

export {
  defineGateway,
  type AuditDefinition,
  type ExposureName,
  type GatewayDefinition,
  type HttpDefinition,
  type ParameterOverride,
  type PinMode,
  type PresetDefinition,
  type QuotaDefinition,
  type QuotaSubject,
  type ServerAuthDefinition,
  type RuleAnnotation,
  type RuleDefinition,
  type ServerDefinition,
  type ServerToolOverride,
  type StoreDefinition,
  type TokenDefinition,
} from '../gateway/config/definition.ts'
export { UsageError, type GatewayConfig } from '../gateway/config/config.ts'
export { readGatewayConfig } from '../gateway/config/read-config.ts'
export type { GatewayEvent, ToolChange } from '../gateway/model/events.ts'
export type { CallStage, GatewayCall } from '../gateway/calls/call/call.ts'
export {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type ServerStatus,
  type ViewChoice,
  type WaitingCall,
  type WaitingCalls,
} from '../gateway/gateway.ts'
export type { UpstreamState } from '../gateway/model/server-state.ts'
export type { Traffic } from '../gateway/traffic/traffic.ts'
