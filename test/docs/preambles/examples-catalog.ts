import type { Embed, Explanation, ExposureClient } from 'foldout/catalog'
import type { McpClient } from 'foldout/mcp'
import type { OpenAI } from 'openai'

export declare const openai: OpenAI
/** One client that stands for both kinds: of an exposure, and of an MCP server. */
export declare const client: ExposureClient & McpClient
export declare const explanation: Explanation
export declare const myModel: { readonly embed: Embed }
