import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { importPeer } from '../../core/peer.ts'
import type { UserBlock } from '../anthropic/input.ts'
import type { ModelUsage, ReportedUsage } from '../anthropic/usage.ts'

// The SDK's own types are not used: it is an optional peer of 400 MB, so only the parts that the adapter uses are
// declared here.

/**
 * The parts of `@anthropic-ai/claude-agent-sdk` and its peer `@modelcontextprotocol/sdk` that the adapter uses.
 *
 * @example
 * ```ts
 * import { query } from '@anthropic-ai/claude-agent-sdk'
 * import { Server } from '@modelcontextprotocol/sdk/server/index.js'
 * import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
 *
 * const sdk = { version: '0.3.325', query, Server, ListToolsRequestSchema, CallToolRequestSchema }
 * const adapter = claudeAgent({ sdk })
 * ```
 */
export interface ClaudeAgentSdk {
  /** The version of `@anthropic-ai/claude-agent-sdk`. */
  readonly version: string
  query(input: { readonly prompt: SdkPrompt; readonly options: Readonly<Record<string, unknown>> }): SdkQuery
  /** Its `setRequestHandler` is typed more strictly than the adapter needs, so it is not declared here. */
  readonly Server: new (info: ServerInfo, options: { readonly capabilities: object }) => NotifyingServer
  readonly ListToolsRequestSchema: unknown
  readonly CallToolRequestSchema: unknown
}

/** A string, or messages with other content. */
export type SdkPrompt = string | AsyncIterable<SdkPromptMessage>

export interface SdkPromptMessage {
  type: 'user'
  parent_tool_use_id: null
  message: { role: 'user'; content: UserBlock[] }
}

interface ServerInfo {
  readonly name: string
  readonly version: string
}

export interface SdkQuery {
  /** Delivers {@link SdkMessage}s, and other messages that are not read. */
  next(): Promise<IteratorResult<object, unknown>>
  /** Resolves once the executable has exited. */
  return(value: undefined): Promise<unknown>
  /** Stops the turn. */
  interrupt(): Promise<unknown>
  /** Ends the executable's input, and after two seconds the executable. */
  close(): void
}

/** The low-level `Server`: unlike `McpServer` it passes on JSON Schemas unchanged. */
export interface SdkServer extends NotifyingServer {
  setRequestHandler(schema: unknown, handler: (request: SdkRequest) => Promise<unknown>): void
}

interface NotifyingServer {
  sendToolListChanged(): Promise<void>
}

export interface SdkRequest {
  readonly params?: {
    readonly name?: string
    readonly arguments?: unknown
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

export type SdkUsage = ReportedUsage

export interface SdkBlock {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: unknown
  readonly is_error?: boolean
}

export interface SdkSystemMessage {
  readonly type: 'system'
  readonly subtype: string
  readonly session_id?: string
  readonly capabilities?: readonly string[]
  readonly status?: string | null
  readonly attempt?: number
  readonly retry_delay_ms?: number
  readonly error_status?: number | null
  readonly error?: string
}

export interface SdkStreamMessage {
  readonly type: 'stream_event'
  readonly parent_tool_use_id?: string | null
  /** Present on the last event of a stream that was cut off: the blocks that the executable has discarded. */
  readonly abandoned_blocks?: unknown
  readonly event: {
    readonly type: string
    readonly message?: { readonly id: string; readonly usage?: SdkUsage }
    readonly index?: number
    readonly content_block?: SdkBlock
    readonly delta?: {
      readonly type?: string
      readonly text?: string
      readonly thinking?: string
      readonly partial_json?: string
      readonly stop_reason?: string | null
    }
    readonly usage?: SdkUsage
  }
}

export interface SdkAssistantMessage {
  readonly type: 'assistant'
  readonly parent_tool_use_id?: string | null
  /** Why there is no reply; in that case, the content is the executable's own text. */
  readonly error?: string
  readonly message: { readonly id: string; readonly content: readonly SdkBlock[]; readonly usage?: SdkUsage }
}

export interface SdkUserMessage {
  readonly type: 'user'
  readonly parent_tool_use_id?: string | null
  readonly message: { readonly content: string | readonly SdkBlock[] }
}

export interface SdkResultMessage {
  readonly type: 'result'
  readonly subtype: string
  readonly is_error: boolean
  readonly result?: string
  readonly structured_output?: unknown
  readonly errors?: readonly string[]
  readonly api_error_status?: number | null
  readonly modelUsage?: Readonly<Record<string, ModelUsage>>
  readonly total_cost_usd?: number
}

export type SdkMessage = SdkSystemMessage | SdkStreamMessage | SdkAssistantMessage | SdkUserMessage | SdkResultMessage

const AGENT_SDK = '@anthropic-ai/claude-agent-sdk'
const MCP_SDK = '@modelcontextprotocol/sdk'

export async function loadSdk(): Promise<ClaudeAgentSdk> {
  const load = async (peer: string, path = peer): Promise<Partial<ClaudeAgentSdk>> =>
    importPeer(peer, async () => (await import(path)) as Partial<ClaudeAgentSdk>)
  const { query } = await load(AGENT_SDK)
  const { Server } = await load(MCP_SDK, `${MCP_SDK}/server/index.js`)
  const { ListToolsRequestSchema, CallToolRequestSchema } = await load(MCP_SDK, `${MCP_SDK}/types.js`)
  if (!query || !Server) {
    throw new FoldoutError(
      'peer-broken',
      `The packages '${AGENT_SDK}' and '${MCP_SDK}' are not the packages that this adapter knows. Install them again: npm install ${AGENT_SDK} ${MCP_SDK}`,
    )
  }
  return { version: getInstalledVersion() ?? '0.0.0', query, Server, ListToolsRequestSchema, CallToolRequestSchema }
}

/**
 * Returns the version of the installed SDK, or `undefined` if it is not installed. The SDK does not export its
 * package.json.
 */
export function getInstalledVersion(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(AGENT_SDK)
    const manifest: unknown = JSON.parse(readFileSync(join(dirname(entry), 'package.json'), 'utf8'))
    if (isObject(manifest) && typeof manifest['version'] === 'string') return manifest['version']
    return undefined
  } catch {
    return undefined
  }
}

/**
 * Announced in `system/init`: the executable lists an in-process server's tools again when it is notified of a change.
 */
export const LIST_CHANGED_CAPABILITY = 'sdk_mcp_tools_list_changed'

/** The first version whose executable announces {@link LIST_CHANGED_CAPABILITY}. */
const FIRST_WITH_LIST_CHANGED = [0, 3, 286]

export function canListToolsAgain(version: string | undefined): boolean {
  if (version === undefined) return false
  const parts = version.split(/[.+-]/, 3).map(Number)
  for (const [index, least] of FIRST_WITH_LIST_CHANGED.entries()) {
    const part = parts[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}
