import type { RawTool } from '../../catalog/tool.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { callTool, type Upstream } from './call.ts'
import { serverName, type McpClient } from './client.ts'
import { listTools } from './list.ts'
import { watchTools } from './watch.ts'

export interface ToolsFromMcpOptions {
  /** Under which name the tools stand in the catalog. Default: the server's own, without words such as `mcp` and `server`. */
  readonly server?: string
  /** Given all tools of the server whenever they have become others. Several changes at once are one. */
  readonly onChange?: (tools: readonly RawTool[]) => void
  /** Told when the list could not be asked for again. The last one stays. */
  readonly onError?: (error: unknown) => void
  /** How long a call may go without an answer or progress before it is cancelled. Default: ten minutes. */
  readonly timeoutMs?: number
  /** Ends the listing, and the waiting for changes. */
  readonly signal?: AbortSignal
}

const CALL_TIMEOUT_MS = 600_000
const LIST_TIMEOUT_MS = 60_000

/**
 * The tools of an MCP server, for `createCatalog`. `client` is a connected one of the official SDK. Definitions that break the
 * protocol's schema are given as they are, and the catalog says what is wrong with them.
 */
export async function toolsFromMcp(client: McpClient, options: ToolsFromMcpOptions = {}): Promise<readonly RawTool[]> {
  const { server = serverName(client), timeoutMs = CALL_TIMEOUT_MS, signal } = options
  signal?.throwIfAborted()
  if (!client.getServerCapabilities()?.tools) return []
  const upstream: Upstream = { client, server, timeoutMs }
  const list = async (): Promise<Listed> => {
    const timeout = Math.min(timeoutMs, LIST_TIMEOUT_MS)
    const { definitions, ttlMs } = await listTools(client, server, { timeout, ...(signal ? { signal } : {}) })
    const tools = Object.freeze(definitions.map((definition) => readDefinition(definition, upstream)))
    return { tools, ttlMs, fingerprint: JSON.stringify(definitions) }
  }
  const { onChange } = options
  return onChange ? listAndWatch(client, list, { ...options, onChange }) : (await list()).tools
}

async function listAndWatch(
  client: McpClient,
  list: () => Promise<Listed>,
  { onChange, onError, signal }: ToolsFromMcpOptions & Required<Pick<ToolsFromMcpOptions, 'onChange'>>,
): Promise<readonly RawTool[]> {
  let known: Listed
  const failed = (error: unknown): void => {
    try {
      if (!signal?.aborted) onError?.(error)
    } catch {
      // There is nobody left to tell.
    }
  }
  const refresh = async (): Promise<number> => {
    try {
      const now = await list()
      const isNew = now.fingerprint !== known.fingerprint
      known = now
      if (isNew && !signal?.aborted) onChange(now.tools)
    } catch (error) {
      failed(error)
    }
    return known.ttlMs
  }
  const watch = await watchTools({ client, refresh, onError: failed, signal })
  try {
    known = await list()
    watch.start(known.ttlMs)
    return known.tools
  } catch (error) {
    watch.stop()
    throw error
  }
}

interface Listed {
  readonly tools: readonly RawTool[]
  readonly ttlMs: number
  /** Equal for equal lists. */
  readonly fingerprint: string
}

/** A tool of whatever the server wrote. It is the catalog that judges it. */
function readDefinition(definition: unknown, upstream: Upstream): RawTool {
  const source = upstream.server
  // Without a name, it is listed as broken under the text it has in place of one.
  if (!isPlainObject(definition)) return { name: '', source, title: JSON.stringify(definition).slice(0, 60) }
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta: meta } = definition
  const known = { name, title, description, inputSchema, outputSchema, annotations, icons, meta }
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
  const call: NonNullable<RawTool['call']> = (args, context) =>
    callTool(upstream, { name: String(name), inputSchema }, args, context)
  return Object.freeze({ ...given, source, call }) as unknown as RawTool
}
