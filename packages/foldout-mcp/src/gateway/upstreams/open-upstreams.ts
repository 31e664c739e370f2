import type { RawTool } from 'foldout/catalog'
import { toolsFromMcp } from 'foldout/mcp'
import type { ServerConfig } from '../config/config.ts'
import { createAttempt, type Attempt } from './connect.ts'
import { CLOSE_TIMEOUT_MS, MOST_STARTING } from './limits.ts'
import { killRemaining, listDescendants } from './processes.ts'

export interface UpstreamOptions {
  /** How long each server may take to start and to list its tools. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** The version of this program, which servers are told. */
  readonly version: string
  /** Called with the progress of each server. */
  readonly onProgress?: (state: UpstreamState) => void
}

/** A server with its tools, or with the reason why it failed. */
export type UpstreamState =
  | { readonly name: string; readonly tools: readonly RawTool[] }
  | { readonly name: string; readonly error: string }

export interface Upstreams {
  /** In the order of the configuration. */
  readonly states: readonly UpstreamState[]
  /** Ends every connection and every process that was started. */
  close(): Promise<void>
}

/** Connects to all servers concurrently. A server that fails or hangs does not affect the others. */
export async function openUpstreams(servers: readonly ServerConfig[], options: UpstreamOptions): Promise<Upstreams> {
  const attempts = new Set<Attempt>()
  const open = async (server: ServerConfig): Promise<UpstreamState> => {
    const state = await openOne(server, options, attempts)
    options.onProgress?.(state)
    return state
  }
  const states = await mapSome(servers, MOST_STARTING, open)
  return { states, close: () => closeAll(attempts) }
}

async function openOne(server: ServerConfig, options: UpstreamOptions, attempts: Set<Attempt>): Promise<UpstreamState> {
  const { name } = server
  const { timeoutMs } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  const attempt = createAttempt(server, { ...options, signal })
  attempts.add(attempt)
  try {
    const list = async (): Promise<readonly RawTool[]> => {
      signal.throwIfAborted()
      const client = await attempt.connect()
      return toolsFromMcp(client, { server: name, timeoutMs, signal })
    }
    return { name, tools: await untilAborted(list(), signal) }
  } catch (error) {
    if (timeout.aborted) return { name, error: `It gave no answer within ${timeoutMs / 1_000} seconds.` }
    return { name, error: describeFailure(error, attempt.getComplaint()) }
  }
}

function describeFailure(error: unknown, complaint: string): string {
  const message = error instanceof Error ? getRootMessage(error) : String(error)
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return `Its command was not found: ${message}`
  return complaint === '' ? message : `${message}\n${complaint}`
}

/** The message "fetch failed" says nothing; its cause says, for example, that nothing listens on the port. */
function getRootMessage(error: Error): string {
  const seen = new Set([error])
  for (const { cause } of seen) if (cause instanceof Error) seen.add(cause)
  return [...seen].at(-1)?.message || error.message
}

/** Stops waiting on abort, because some code waits without observing a signal. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
    // It may still reject after the wait is over.
    work.catch(() => {})
  }
}

async function closeAll(attempts: Set<Attempt>): Promise<void> {
  // Listed before closing: once a parent has ended, its children cannot be identified.
  const before = await listDescendants().catch(() => [])
  const closing = Promise.all([...attempts].map((attempt) => attempt.close()))
  attempts.clear()
  await Promise.race([closing, wait(CLOSE_TIMEOUT_MS)])
  const since = await listDescendants().catch(() => [])
  await killRemaining([...before, ...since]).catch(() => {})
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref())
}

/** Maps items with a limited number at a time, and keeps their order. */
async function mapSome<Item, Result>(
  items: readonly Item[],
  most: number,
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  const work = async (): Promise<void> => {
    for (const [i, item] of queue) results[i] = await map(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work))
  return results
}
