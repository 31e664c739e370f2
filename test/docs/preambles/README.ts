import type { RawTool } from 'foldout/catalog'
import type { McpClient } from 'foldout/mcp'

export declare const tools: readonly RawTool[]
export declare const client: McpClient
