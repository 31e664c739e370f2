import { checkNumber } from '../../core/check-number.ts'
import type { RawTool } from '../../catalog/tool.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import {
  CALL_MS,
  CALL_SILENCE_MS,
  ERROR_RESULT_CHARACTERS,
  LIST_TIMEOUT_MS,
  MAX_DEPTH,
  MAX_TOOLS,
  MAX_TOOLS_BYTES,
} from '../limits.ts'
import { formatBytes, isDeeperThan } from '../../core/json/measure.ts'
import { callTool, type Upstream } from './call.ts'
import type { McpClient } from '../client/client.ts'
import { listTools } from './list.ts'
import { toSession } from '../client/sdk-session.ts'
import { getServerName, type McpSession } from '../client/session.ts'
import { watchTools } from './watch.ts'

/**
 * Options of `toolsFromMcp`.
 *
 * @example
 * const tools = await toolsFromMcp(client, { server: 'github', onChange: (now) => catalog.replace('github', now) })
 */
export interface ToolsFromMcpOptions {
  /**
   * The source name of the tools in the catalog. Default: the server's own name, without words such as `mcp` and
   * `server`.
   */
  readonly server?: string
  /** Called with all tools of the server whenever they have changed. Several changes at once are reported together. */
  readonly onChange?: (tools: readonly RawTool[]) => void
  /**
   * Called if the list could not be requested again, in which case the last one is kept, and if it was longer than
   * `maxTools`, or larger than 32 MiB.
   */
  readonly onError?: (error: unknown) => void
  /** How long a call may go without an answer or progress before it is cancelled. Default: ten minutes. */
  readonly timeoutMs?: number
  /** How long a call may take in total, whatever progress it reports, before it is cancelled. Default: one hour. */
  readonly maxCallMs?: number
  /**
   * The maximum number of tools from the server. The rest of a longer list is left out, and `onError` is called.
   * Default 10,000.
   */
  readonly maxTools?: number
  /**
   * The maximum length of each text in a result that is an error, in characters. Such results are read by a model as
   * they are. Pass `Infinity` if large results are handled otherwise. Default 100,000.
   */
  readonly maxErrorCharacters?: number
  /** Ends the listing, and stops watching for changes. */
  readonly signal?: AbortSignal
}

/**
 * Lists the tools of an MCP server, for `createCatalog`. `client` is a session of `connectToMcp`, or a connected client of
 * the official SDK. Definitions that violate the protocol's schema are passed on unchanged, and the catalog reports their
 * faults; but a client of the SDK refuses results of servers of MCP 2026-07-28 and later that violate it.
 *
 * @example
 * const catalog = createCatalog(await toolsFromMcp(client))
 */
export async function toolsFromMcp(
  client: McpClient | McpSession,
  options: ToolsFromMcpOptions = {},
): Promise<readonly RawTool[]> {
  for (const name of ['timeoutMs', 'maxCallMs', 'maxTools', 'maxErrorCharacters'] as const)
    checkNumber(name, options[name], { code: 'mcp-options', least: 1 })
  const session = toSession(client)
  const { server = getServerName(session), signal } = options
  const { timeoutMs = CALL_SILENCE_MS, maxCallMs = CALL_MS, maxTools = MAX_TOOLS } = options
  const { maxErrorCharacters = ERROR_RESULT_CHARACTERS } = options
  signal?.throwIfAborted()
  if (!session.server.capabilities['tools']) return []
  const upstream: Upstream = { session, server, timeoutMs, maxCallMs, maxErrorCharacters }
  const list = async (): Promise<Listed> => {
    const listMs = Math.min(timeoutMs, LIST_TIMEOUT_MS)
    const request = { timeoutMs: listMs, maxTools, maxBytes: MAX_TOOLS_BYTES, ...(signal && { signal }) }
    const { definitions, ttlMs, cut } = await listTools(session, server, request)
    if (cut === 'tools') warn(options, tooMany(server, maxTools))
    if (cut === 'bytes') warn(options, tooLarge(server, definitions.length))
    const shallow = definitions.map(dropDepth)
    const tools = Object.freeze(shallow.map((definition) => readDefinition(definition, upstream)))
    return { tools, ttlMs, fingerprint: JSON.stringify(shallow) }
  }
  const { onChange } = options
  if (onChange) return listAndWatch(session, list, { ...options, onChange })
  return (await list()).tools
}

function tooMany(server: string, maxTools: number): FoldoutError {
  return new FoldoutError(
    'mcp-list',
    `The MCP server '${server}' has more than ${maxTools} tools, and only the first ${maxTools} are used. Choose fewer in the settings of the server. Code that calls toolsFromMcp can allow more with maxTools.`,
  )
}

function tooLarge(server: string, count: number): FoldoutError {
  const size = formatBytes(MAX_TOOLS_BYTES)
  return new FoldoutError(
    'mcp-list',
    `The tool list of the MCP server '${server}' is larger than ${size}, and only the first ${count} of its tools are used. Shorten the descriptions and schemas of its tools, or choose fewer in the settings of the server.`,
  )
}

/** Reports a note that must not get lost: without an `onError`, it becomes a process warning. */
function warn({ onError }: ToolsFromMcpOptions, note: FoldoutError): void {
  if (!onError) return process.emitWarning(note.message, { code: note.code })
  try {
    onError(note)
  } catch {
    // A listener that fails does not stop the listing.
  }
}

/**
 * Removes the fields of a definition that are nested too deeply to be serialized or compared. The catalog reports what
 * is missing.
 */
function dropDepth(definition: unknown): unknown {
  if (!isDeeperThan(definition, MAX_DEPTH)) return definition
  if (!isObject(definition)) return null
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => !isDeeperThan(value, MAX_DEPTH - 1)))
}

async function listAndWatch(
  session: McpSession,
  list: () => Promise<Listed>,
  { onChange, onError, signal }: ToolsFromMcpOptions & Required<Pick<ToolsFromMcpOptions, 'onChange'>>,
): Promise<readonly RawTool[]> {
  let known: Listed
  const reportError = (error: unknown): void => {
    try {
      if (!signal?.aborted) onError?.(error)
    } catch {
      // A listener that fails does not stop the watch.
    }
  }
  const refresh = async (): Promise<number> => {
    try {
      const now = await list()
      const isNew = now.fingerprint !== known.fingerprint
      known = now
      if (isNew && !signal?.aborted) onChange(now.tools)
    } catch (error) {
      reportError(error)
    }
    return known.ttlMs
  }
  const watch = await watchTools({ session, refresh, onError: reportError, signal })
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
  /** A text that is equal for equal lists. */
  readonly fingerprint: string
}

/** Converts a definition as the server sent it. The catalog decides whether it can be used. */
function readDefinition(definition: unknown, upstream: Upstream): RawTool {
  const source = upstream.server
  // Without a name, the tool is listed as broken under its JSON.
  if (!isObject(definition)) return { name: '', source, title: JSON.stringify(definition).slice(0, 60) }
  const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, _meta, ...others } =
    definition
  const extra = Object.keys(others).length > 0 ? others : undefined
  const known = {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    icons,
    execution,
    meta: _meta,
    extra,
  }
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
  const call: NonNullable<RawTool['call']> = (args, context) =>
    callTool(upstream, { name: String(name), inputSchema, execution }, args, context)
  return Object.freeze({ ...given, source, call }) as unknown as RawTool
}
