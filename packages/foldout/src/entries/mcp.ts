/**
 * Tools from MCP servers, and catalogs and sections served over MCP.
 *
 * @module foldout/mcp
 */

export type { McpClient, McpRequestOptions } from '../mcp/client/client.ts'
export { requestFromMcp, type RequestFromMcpOptions } from '../mcp/client/request.ts'
export { toolsFromMcp, type ToolsFromMcpOptions } from '../mcp/client/tools-from-mcp.ts'
export { isUnsent } from '../mcp/client/unsent.ts'
export { getRefusal, type Refusal } from '../mcp/refusal.ts'
export type { ServedClient } from '../mcp/server/client.ts'
export type { McpConnection } from '../mcp/server/connection.ts'
export type { Authorization, Authorize } from '../mcp/server/http/authorize.ts'
export { listenForMcp, type HttpOptions, type ListenOptions, type ServedHttp } from '../mcp/server/http/http.ts'
export type {
  ClientChannel,
  FeatureContext,
  FeatureNotification,
  FeatureRequest,
  McpFeatures,
} from '../mcp/server/features.ts'
export { formatPage, type Page } from '../mcp/server/list.ts'
export { serveMcp, type ServedMcp } from '../mcp/server/serve-mcp.ts'
export type { HttpSessionOptions, ServeMcpOptions } from '../mcp/server/options.ts'
export type { StdioOptions } from '../mcp/server/stdio/stdio.ts'
