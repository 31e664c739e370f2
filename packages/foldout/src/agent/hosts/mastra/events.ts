import type { ExecutionContext } from '@mastra/core/tools'
import { isObject } from 'foldout-shared/values'
import { ignore } from '../../../core/promises.ts'
import type { Event } from '../../../session/event.ts'
import type { ToolImage } from '../../../tools/result.ts'
import type { MastraStep } from './stages.ts'

/** The result of a call as Mastra keeps it in the thread: what the model reads, and what the call changed. */
export interface KeptResult {
  readonly text: string
  readonly images: readonly ToolImage[]
  readonly foldout: { readonly callId: string; readonly events: readonly Event[] }
}

/** The events of each call, in order. */
export type EventsByCall = ReadonlyMap<string, readonly Event[]>

/** The key of the events in the metadata of a thread. */
const KEY = 'foldout'

/** Finds the events of calls in messages, after those that are known already. */
export function collectEvents(known: EventsByCall, messages: unknown): EventsByCall {
  const found = new Map(known)
  for (const { foldout } of findResults(messages)) {
    if (!found.has(foldout.callId)) found.set(foldout.callId, foldout.events)
  }
  return found
}

/** Finds results in messages of any version: their parts differ, but each has the result somewhere. */
function findResults(messages: unknown): readonly KeptResult[] {
  const results: KeptResult[] = []
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value: messages, depth: 0 }]
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { value, depth } = next
    if (isKeptResult(value)) results.push(value)
    else if (typeof value === 'object' && value !== null && depth < MAX_RESULT_DEPTH) {
      for (const inner of Object.values(value)) waiting.push({ value: inner, depth: depth + 1 })
    }
  }
  return results
}

/** How deep in a list of messages a result may be. */
const MAX_RESULT_DEPTH = 6

function isKeptResult(value: unknown): value is KeptResult {
  if (!isObject(value) || !isObject(value[KEY])) return false
  const { callId, events } = value[KEY]
  return typeof callId === 'string' && Array.isArray(events)
}

/** Keeps what was opened for the last message of the user in that message, which Mastra keeps in the thread. */
export function keepAhead(messages: readonly unknown[], events: readonly Event[]): void {
  const last = messages.findLast((message) => isObject(message) && message['role'] === 'user')
  const content = isObject(last) ? last['content'] : undefined
  if (events.length === 0 || !isObject(last) || !isObject(content)) return
  const metadata = isObject(content['metadata']) ? content['metadata'] : {}
  content['metadata'] = { ...metadata, [KEY]: { callId: `ahead-${String(last['id'])}`, events } }
}

/** Reads the events from the metadata of a thread. */
export function readMetadata(metadata: unknown): EventsByCall {
  const kept = isObject(metadata) ? metadata[KEY] : undefined
  const found = new Map<string, readonly Event[]>()
  for (const entry of Array.isArray(kept) ? (kept as readonly unknown[]) : []) {
    if (!isObject(entry) || typeof entry['callId'] !== 'string' || !Array.isArray(entry['events'])) continue
    found.set(entry['callId'], entry['events'] as readonly Event[])
  }
  return found
}

export function writeMetadata(metadata: unknown, events: EventsByCall): Record<string, unknown> {
  const kept = [...events].map(([callId, list]) => ({ callId, events: list }))
  return { ...(isObject(metadata) ? metadata : {}), [KEY]: kept }
}

/**
 * Finds the events of a conversation: those that earlier runs have left in the thread, because a request may not have
 * their messages any more, and those of this run.
 */
export function findEvents({
  messages,
  requestContext,
}: Pick<MastraStep, 'messages' | 'requestContext'>): EventsByCall {
  const context = requestContext as { get?(key: string): unknown } | undefined
  const memory = context?.get?.('MastraMemory')
  const thread = isObject(memory) ? memory['thread'] : undefined
  return collectEvents(readMetadata(isObject(thread) ? thread['metadata'] : undefined), messages)
}

/** Reads the events of a conversation where only a call is known. */
export async function readThread({ memory, agent }: ExecutionContext): Promise<EventsByCall> {
  const { threadId, messages } = agent ?? {}
  const thread = threadId === undefined ? undefined : await memory?.getThreadById({ threadId })
  return collectEvents(readMetadata(thread?.metadata), messages)
}

/** The last write to each memory: calls that run together must not overwrite each other's. */
const writes = new WeakMap<object, Promise<void>>()

/** Keeps the events of calls in the thread, if the agent has memory. */
export async function addToThread({ memory, agent }: ExecutionContext, events: EventsByCall): Promise<void> {
  const threadId = agent?.threadId
  if (memory === undefined || threadId === undefined || [...events.values()].flat().length === 0) return
  const write = async (): Promise<void> => {
    const thread = await memory.getThreadById({ threadId })
    if (!thread) return
    const all = new Map([...readMetadata(thread.metadata), ...events])
    const metadata = writeMetadata(thread.metadata, all)
    await memory.updateThread({ id: threadId, title: thread.title ?? '', metadata })
  }
  const written = (writes.get(memory) ?? Promise.resolve()).then(write)
  writes.set(memory, ignore(written, 'its own call is told'))
  await written
}
