import type { McpSession } from 'foldout/mcp'
import { ANNOUNCE_MS, MAX_LISTED, MAX_LISTED_BYTES, MAX_PAGES } from './limits.ts'
import type { Listed } from '../model/snapshot.ts'
import { getErrorMessage } from '../../shared/errors.ts'

/** What a server has besides tools. */
export interface Lists {
  readonly resources: readonly Listed[]
  readonly templates: readonly Listed[]
  readonly prompts: readonly Listed[]
}

export const NO_LISTS: Lists = { resources: [], templates: [], prompts: [] }

/** Everything that a server lists besides tools. A list that fails is empty, so that the others still work. */
export async function readLists(
  session: McpSession,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<Lists> {
  const { resources, prompts } = session.server.capabilities
  const room: Room = { bytes: MAX_LISTED_BYTES, onFull: onError }
  const read = async (isThere: boolean, method: string, field: string): Promise<readonly Listed[]> => {
    if (!isThere) return []
    try {
      return await readPages(session, { method, field, signal, room })
    } catch (error) {
      signal.throwIfAborted()
      // Templates are optional, and some servers do not know the request for them.
      if (method !== 'resources/templates/list') onError(describeFailure(method, error))
      return []
    }
  }
  const [listed, templates, known] = await Promise.all([
    read(resources !== undefined, 'resources/list', 'resources'),
    read(resources !== undefined, 'resources/templates/list', 'resourceTemplates'),
    read(prompts !== undefined, 'prompts/list', 'prompts'),
  ])
  return { resources: listed, templates, prompts: known }
}

/** The server's own message may be as short as "Method not found". */
function describeFailure(method: string, error: unknown): Error {
  const why = getErrorMessage(error)
  return new Error(`${method} failed: ${why.replace(/\.$/, '')}. Its tools are not affected.`, { cause: error })
}

/** What the lists of a server may take together. */
interface Room {
  bytes: number
  onFull(note: Error): void
}

interface Reading {
  readonly method: string
  readonly field: string
  readonly signal: AbortSignal
  readonly room: Room
}

async function readPages(session: McpSession, { method, field, signal, room }: Reading): Promise<readonly Listed[]> {
  const found: Listed[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const page = await session.request(method, cursor === undefined ? {} : { cursor }, { signal })
    const items: readonly unknown[] = Array.isArray(page[field]) ? page[field] : []
    for (const item of items) {
      if (!isListed(item)) continue
      const size = countBytes(item)
      if (size === undefined) continue
      const isFull = size > room.bytes
      if (isFull || found.length >= MAX_LISTED) {
        room.onFull(describeRest(method, found.length, isFull))
        return found
      }
      room.bytes -= size
      found.push(item)
    }
    const next = page['nextCursor']
    if (typeof next !== 'string' || next === '' || cursors.has(next) || cursors.size >= MAX_PAGES) return found
    cursors.add(next)
    cursor = next
  }
}

function describeRest(method: string, count: number, isFull: boolean): Error {
  const reason = isFull ? `the lists of the server have more than ${MAX_LISTED_BYTES} bytes` : 'the list has more'
  return new Error(`${method}: only the first ${count} are used, because ${reason}. Its tools are not affected.`)
}

/** The size of an item as JSON; undefined if it is too deep to be written, so that no client could get it. */
function countBytes(item: Listed): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(item))
  } catch {
    return undefined
  }
}

function isListed(item: unknown): item is Listed {
  return typeof item === 'object' && item !== null && !Array.isArray(item)
}

/**
 * Passes announcements of a server on: the first at once, and then one of each kind per period at most, because a server may send
 * thousands. The last one is never lost.
 */
export class Announcements {
  readonly #pass: (method: string) => void
  readonly #waiting = new Set<string>()
  readonly #isOver: () => boolean
  #timer: NodeJS.Timeout | undefined

  constructor(pass: (method: string) => void, isOver: () => boolean) {
    this.#pass = pass
    this.#isOver = isOver
  }

  add(method: string): void {
    this.#waiting.add(method)
    if (!this.#timer) this.#flush()
  }

  #flush(): void {
    this.#timer = undefined
    if (this.#waiting.size === 0 || this.#isOver()) return
    const methods = [...this.#waiting]
    this.#waiting.clear()
    this.#timer = setTimeout(() => this.#flush(), ANNOUNCE_MS)
    this.#timer.unref()
    for (const method of methods) this.#pass(method)
  }
}
