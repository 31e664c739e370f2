import { sha256Hex } from '../core/hash.ts'
import { notJson, toJson } from '../core/json/json.ts'
import { toWellFormed } from '../core/well-formed.ts'
import { TOOL_NAME_PATTERN, type AnyTool } from '../tools/tool.ts'
import type { ChatRequest, Message, ToolCall, ToolMessage } from './contract.ts'
import { MAX_ARGUMENTS_DEPTH, MAX_CALL_ID_CHARACTERS, MAX_WRITTEN_NAME_CHARACTERS } from './limits.ts'

/** A call as a model wrote it: its arguments as text, which may be anything. */
export interface WrittenCall {
  readonly id: string
  readonly name: string
  readonly text: string
  /** Whether the reply ended before the model was finished. */
  readonly isCut?: boolean
}

/**
 * Reads the name of a call. A model may write anything, such as `functions.look`, and a provider rejects each later
 * request that contains a name that it does not accept.
 */
export function readCallName(written: unknown): Pick<ToolCall, 'name' | 'writtenName'> {
  const name = typeof written === 'string' ? written : ''
  if (TOOL_NAME_PATTERN.test(name)) return { name }
  const accepted = name.slice(0, MAX_NAME_CHARACTERS).replace(/[^a-zA-Z0-9_-]/g, '_')
  return { name: accepted || NO_NAME, writtenName: name.slice(0, MAX_WRITTEN_NAME_CHARACTERS).toWellFormed() }
}

const MAX_NAME_CHARACTERS = 64
const NO_NAME = 'unnamed'

/** Reads a call whose arguments arrived as text. */
export function readToolCall({ id, name: written, text, isCut = false }: WrittenCall): ToolCall {
  const name = readCallName(written)
  if (text.trim() === '') {
    // Some models write nothing if a tool has no params. In a reply that was cut off, the arguments may not have
    // arrived.
    return isCut ? { id, ...name, malformed: text, isCutOff: true } : { id, ...name, arguments: {} }
  }
  try {
    return toToolCall({ id, name: written, input: JSON.parse(text), text })
  } catch {
    return { id, ...name, malformed: text.toWellFormed(), ...(isCut && { isCutOff: true }) }
  }
}

/** Creates a call whose arguments are already parsed. `text` is the model's original text, if known. */
export function toToolCall(call: {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly text?: string
}): ToolCall {
  const { id, input, text } = call
  const name = readCallName(call.name)
  if (isDeeperThan(input, MAX_ARGUMENTS_DEPTH)) {
    // Such arguments could be neither checked nor sent back: both recurse.
    const malformed = text?.toWellFormed() ?? `(nested more than ${MAX_ARGUMENTS_DEPTH} levels deep)`
    return { id, ...name, malformed }
  }
  if (input === undefined) return { id, ...name }
  const kept = notJson(input) === undefined ? input : toJson(input)
  if (kept !== undefined) return { id, ...name, arguments: toWellFormed(kept) }
  return { id, ...name, malformed: text?.toWellFormed() ?? '(arguments that JSON cannot represent)' }
}

/** Whether arrays and objects are nested deeper than a limit, without recursion. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((each) => typeof each === 'object' && each !== null)
    if (containers.length > 0 && depth === levels) return true
    level = containers.flatMap((each) => Object.values(each) as unknown[])
  }
  return false
}

/**
 * Creates a function that makes call ids unique. Results are matched to calls by id, but some servers send no id, or
 * the same ids in every turn. Such a call gets an id that is unique in its conversation.
 */
export function createCallIds(conversation: readonly Message[]): (id: unknown) => string {
  const taken = new Set<string>()
  for (const message of conversation) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls) taken.add(id)
  }
  let made = 0
  return (id) => {
    let unique = typeof id === 'string' && id.length <= MAX_CALL_ID_CHARACTERS ? id.toWellFormed() : ''
    while (unique === '' || taken.has(unique)) unique = `call_${conversation.length}_${made++}`
    taken.add(unique)
    return unique
  }
}

/** Ids that every provider accepts: OpenAI rejects longer ones, Anthropic other characters. */
const ACCEPTED_ID = /^[\w-]{1,40}$/

/** Converts a call id from another provider to one that every provider accepts. The same id always gives the same result. */
export function toAcceptedId(id: string): string {
  return ACCEPTED_ID.test(id) ? id : `call_${sha256Hex(id).slice(0, 32)}`
}

/** The tools that each `tools` message adds, by the message's position. Tools that are already offered are left out. */
export function getAddedTools({
  tools,
  addedTools,
  messages,
}: Pick<ChatRequest, 'tools' | 'addedTools' | 'messages'>): ReadonlyMap<number, readonly AnyTool[]> {
  const offered = new Set(tools.map(({ name }) => name))
  const byMessage = new Map<number, readonly AnyTool[]>()
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tools') continue
    const added = message.names.flatMap((name) => {
      const tool = addedTools.get(name)
      if (tool === undefined || offered.has(name)) return []
      offered.add(name)
      return [tool]
    })
    if (added.length > 0) byMessage.set(index, added)
    for (const name of message.removed ?? []) offered.delete(name)
  }
  return byMessage
}

/** Lists the tools that a conversation offers by now, by name. */
export function listOffered({
  tools,
  addedTools,
  messages,
}: Pick<ChatRequest, 'tools' | 'addedTools' | 'messages'>): readonly string[] {
  const offered = new Set(tools.map(({ name }) => name))
  for (const message of messages) {
    if (message.role !== 'tools') continue
    for (const name of message.names) if (addedTools.has(name)) offered.add(name)
    for (const name of message.removed ?? []) offered.delete(name)
  }
  return [...offered]
}

/** Formats a result for APIs that have no field for a failed call. */
export function toResultText({ text, isError }: ToolMessage): string {
  return isError && !/^error\b/i.test(text) ? `Error: ${text}` : text
}
