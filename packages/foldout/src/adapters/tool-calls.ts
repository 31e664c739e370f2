import { notJson, toJson } from '../core/json/json.ts'
import type { AnyTool } from '../tools/tool.ts'
import type { ChatRequest } from './chat.ts'
import type { Message, ToolCall, ToolMessage } from './contract.ts'
import { MAX_ARGUMENTS_DEPTH } from './limits.ts'

/** A call as a model wrote it: its arguments as text, which may be anything. */
export interface WrittenCall {
  readonly id: string
  readonly name: string
  readonly text: string
  /** Whether the reply ended before the model was finished. */
  readonly isCut?: boolean
}

/** Reads a call whose arguments arrived as text. */
export function readToolCall({ id, name, text, isCut = false }: WrittenCall): ToolCall {
  if (text.trim() === '') {
    // Some models write nothing if a tool has no params. In a reply that was cut off, the arguments may not have
    // arrived.
    return isCut ? { id, name, malformed: text } : { id, name, arguments: {} }
  }
  try {
    return toToolCall({ id, name, input: JSON.parse(text), text })
  } catch {
    return { id, name, malformed: text }
  }
}

/** Creates a call whose arguments are already parsed. `text` is the model's original text, if known. */
export function toToolCall(call: {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly text?: string
}): ToolCall {
  const { id, name, input, text } = call
  if (isDeeperThan(input, MAX_ARGUMENTS_DEPTH)) {
    // Such arguments could be neither checked nor sent back: both recurse.
    const malformed = text ?? `(nested more than ${MAX_ARGUMENTS_DEPTH} levels deep)`
    return { id, name, malformed }
  }
  if (input === undefined) return { id, name }
  if (notJson(input) === undefined) return { id, name, arguments: input }
  const kept = toJson(input)
  if (kept !== undefined) return { id, name, arguments: kept }
  return { id, name, malformed: text ?? '(arguments that JSON cannot represent)' }
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
    let unique = typeof id === 'string' ? id : ''
    while (unique === '' || taken.has(unique)) unique = `call_${conversation.length}_${made++}`
    taken.add(unique)
    return unique
  }
}

/** The tools that each `tools` message adds, by the message's position. Tools that are already offered are left out. */
export function getAddedTools({ tools, addedTools, messages }: ChatRequest): ReadonlyMap<number, readonly AnyTool[]> {
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
  }
  return byMessage
}

/** Formats a result for APIs that have no field for a failed call. */
export function toResultText({ text, isError }: ToolMessage): string {
  return isError && !/^error\b/i.test(text) ? `Error: ${text}` : text
}
