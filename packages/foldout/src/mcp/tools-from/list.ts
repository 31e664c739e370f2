import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { countLeastBytes } from '../../core/json/measure.ts'
import { cutWithCount, shorten } from '../../core/text.ts'
import { ERROR_DATA_CHARACTERS, MAX_PAGES } from '../limits.ts'
import type { McpRequestOptions, McpSession } from '../client/session.ts'

export interface ToolList {
  /** The definitions as the server sent them, including invalid ones. */
  readonly definitions: readonly unknown[]
  /** How long the list stays valid, according to the server. */
  readonly ttlMs: number
  /** Which limit the server's list exceeds, if any. The rest of the list is left out. */
  readonly cut: 'tools' | 'bytes' | undefined
}

export interface ListOptions extends Pick<McpRequestOptions, 'signal' | 'timeoutMs'> {
  readonly maxTools: number
  readonly maxBytes: number
}

/** Lists every page of a server's tools. */
export async function listTools(
  session: McpSession,
  server: string,
  { maxTools, maxBytes, ...options }: ListOptions,
): Promise<ToolList> {
  const definitions: unknown[] = []
  const cursors = new Set<string>()
  let ttlMs = Infinity
  let readSoFar = 0
  let bytes = 0
  for (let cursor: string | undefined; ;) {
    const page = await requestPage(session, server, cursor, options)
    const { tools, nextCursor } = page
    if (!Array.isArray(tools))
      throw new FoldoutError('mcp-list', `The MCP server '${server}' answered a request for its tools without a list.`)
    readSoFar += tools.length
    ttlMs = Math.min(ttlMs, typeof page['ttlMs'] === 'number' ? page['ttlMs'] : 0)
    for (const definition of (tools as readonly unknown[]).slice(0, maxTools - definitions.length)) {
      bytes += countLeastBytes(definition)
      if (bytes > maxBytes) return { definitions, ttlMs, cut: 'bytes' }
      definitions.push(definition)
    }
    // Some servers end with an empty cursor, or with null.
    const isLast = typeof nextCursor !== 'string' || nextCursor === ''
    const isFull = definitions.length >= maxTools
    if (isFull && (!isLast || readSoFar > maxTools)) return { definitions, ttlMs, cut: 'tools' }
    if (isLast) return { definitions, ttlMs, cut: undefined }
    if (cursors.has(nextCursor) || cursors.size >= MAX_PAGES) throw endless(server, nextCursor, cursors)
    cursors.add(nextCursor)
    cursor = nextCursor
  }
}

async function requestPage(
  session: McpSession,
  server: string,
  cursor: string | undefined,
  options: Pick<McpRequestOptions, 'signal' | 'timeoutMs'>,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await session.request('tools/list', cursor === undefined ? {} : { cursor }, options)
  } catch (error) {
    options.signal?.throwIfAborted()
    const text = cutWithCount(getErrorMessage(error), ERROR_DATA_CHARACTERS)
    throw new FoldoutError('mcp-list', `The MCP server '${server}' did not list its tools: ${text}`, { cause: error })
  }
}

function endless(server: string, cursor: string, { size }: ReadonlySet<string>): FoldoutError {
  const what = size >= MAX_PAGES ? `has more than ${MAX_PAGES} pages` : `leads back to the cursor '${shorten(cursor)}'`
  return new FoldoutError(
    'mcp-list',
    `The tool list of the MCP server '${server}' has no end: it ${what}. Fix the server's pagination.`,
  )
}
