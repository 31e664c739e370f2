/**
 * The gateway: every MCP server you have, behind a handful of tools.
 *
 * @module foldout-mcp
 */

export {
  defineGateway,
  type ExposureName,
  type GatewayDefinition,
  type ParameterOverride,
  type PresetDefinition,
  type ServerDefinition,
  type ServerToolOverride,
} from '../gateway/config/definition.ts'
export { UsageError, type GatewayConfig } from '../gateway/config/config.ts'
export { readGatewayConfig } from '../gateway/config/read-config.ts'
export type { GatewayEvent, ToolChange } from '../gateway/events.ts'
export {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type ServerStatus,
  type ViewChoice,
} from '../gateway/gateway.ts'
export type { UpstreamState } from '../gateway/upstreams/upstream.ts'
export type { Traffic } from '../gateway/traffic/traffic.ts'
