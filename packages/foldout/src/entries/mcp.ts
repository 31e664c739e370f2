/**
 * Tools from MCP servers, and catalogs and sections served over MCP.
 *
 * @module foldout/mcp
 */

export type { McpClient } from '../mcp/client/client.ts'
export { connectToMcp, type ConnectToMcpOptions } from '../mcp/client/connect.ts'
export { requestFromMcp, type RequestFromMcpOptions } from '../mcp/tools-from/request.ts'
export type { McpRequestOptions, McpServerDescription, McpSession, McpSubscription } from '../mcp/client/session.ts'
export { toolsFromMcp, type ToolsFromMcpOptions } from '../mcp/tools-from/tools-from-mcp.ts'
export { isUnsent } from '../mcp/tools-from/unsent.ts'
export type { McpReceiver, McpTransport, SendOptions } from '../mcp/protocol/transport.ts'
export { createHttpTransport } from '../mcp/transports/http-client/http-transport.ts'
export type {
  FetchLike,
  HttpTransportOptions,
  McpAuthorization,
  McpLoss,
} from '../mcp/transports/http-client/requests.ts'
export { createSseTransport } from '../mcp/transports/http-client/sse-transport.ts'
export { getRefusal, type Refusal } from '../mcp/refusal.ts'
export type { ServedClient } from '../mcp/serve/contract/client.ts'
export type { McpConnection } from '../mcp/serve/connection.ts'
export type { Authorization, Authorize } from '../mcp/serve/contract/authorize.ts'
export { listenForMcp, type HttpOptions, type ListenOptions, type ServedHttp } from '../mcp/transports/http/listen.ts'
export type {
  ClientChannel,
  FeatureContext,
  FeatureNotification,
  FeatureRequest,
  McpFeatures,
} from '../mcp/serve/contract/features.ts'
export { formatPage, type Page } from '../mcp/serve/views/list.ts'
export type { SdkTransport } from '../mcp/serve/sdk-transport.ts'
export { serveSkills, type ServedSkills } from '../mcp/skills/served-skills.ts'
export { skillsFromMcp, type SkillsFromMcpOptions } from '../mcp/skills/skills-from-mcp.ts'
export { skillsFromSections } from '../mcp/skills/skills-from-sections.ts'
export { serveMcp, type ServedMcp } from '../mcp/serve/serve-mcp.ts'
export type { HttpSessionOptions, ServeMcpOptions } from '../mcp/serve/contract/options.ts'
export type { ResultFolding, ResultStore } from '../mcp/serve/contract/result-store.ts'
export type { StdioOptions } from '../mcp/serve/stdio.ts'
