import type { AssistantMessage, Message, ToolMessage, ToolsMessage } from '../../adapters/contract.ts'
import { isObject } from 'foldout-shared/values'
import { createStub, describeFolded } from '../../results/describe-folded.ts'
import { outlineText } from '../../results/read-part.ts'
import { READ_RESULT } from '../../results/read-result.ts'

/**
 * A result that requests no longer send whole. `'large'`: folded as it arrived, with its beginning. `'old'`: folded
 * later, to one line. `'closed'`: the text of a section that was closed since. `'kept'`: never folded, because an agent
 * of its own has written it.
 *
 * @example
 * ```ts
 * const { state } = await runAgent(bound, { adapter })
 * const folded: readonly FoldedResult[] = state.folded
 * folded.length // => 0
 * ```
 */
export interface FoldedResult {
  readonly callId: string
  readonly form: 'large' | 'old' | 'closed' | 'kept'
}

/**
 * What stands for the older turns of a conversation in its requests.
 *
 * @example
 * ```ts
 * const { state } = await runAgent(bound, { adapter })
 * const summary: ConversationSummary | null = state.summary
 * summary // => null
 * ```
 */
export interface ConversationSummary {
  /** How many messages of the conversation it replaces. */
  readonly count: number
  readonly messages: readonly Message[]
}

/** The records by which a conversation is sent. */
export interface FoldRecords {
  readonly folded: readonly FoldedResult[]
  readonly summary: ConversationSummary | null
}

/** A message of a conversation, and what requests send for it. */
export interface ProjectedMessage {
  readonly message: Message
  /** Undefined if requests leave it out. */
  readonly sent: Message | undefined
  /** Makes the one line that would stand for it, if it is a result that is longer so far. */
  readonly getStub: ((isClosed: boolean) => ToolMessage) | undefined
}

/**
 * Projects the messages of a conversation one after another. Only the conversation and the fold records matter, so every
 * process sends the same bytes.
 */
export interface Projector {
  project(message: Message): ProjectedMessage
}

export interface ProjectorOptions {
  readonly records: FoldRecords
  /** The tools that were removed, each with the position of the last message that did. Empty if the provider removes tools. */
  readonly removed: ReadonlyMap<string, number>
}

export function createProjector({ records, removed }: ProjectorOptions): Projector {
  const forms = getForms(records.folded)
  const readings = new Map<string, string>()
  let position = 0
  let results = 0
  return {
    project(message) {
      const at = position++
      if (message.role === 'assistant') collectReadings(message, readings)
      if (message.role === 'tools') return { message, sent: withoutRemoved(message, at, removed), getStub: undefined }
      if (message.role !== 'tool') return { message, sent: message, getStub: undefined }
      results++
      const handle = readings.get(message.callId) ?? toHandle(results)
      const form = forms.get(message.callId) ?? 'kept'
      const sent = form === 'kept' ? message : foldMessage(message, handle, form)
      if (form === 'old' || form === 'closed') return { message, sent, getStub: undefined }
      return { message, sent, getStub: (isClosed) => foldMessage(message, handle, isClosed ? 'closed' : 'old') }
    },
  }
}

/** Remembers which result each call of `read_result` reads. What it returns is no result with a handle of its own. */
function collectReadings({ toolCalls }: AssistantMessage, readings: Map<string, string>): void {
  for (const { id, name, arguments: args } of toolCalls) {
    const result = name === READ_RESULT && isObject(args) ? args['result'] : undefined
    if (typeof result === 'string') readings.set(id, result.slice(0, MAX_HANDLE))
  }
}

/** The longest handle that is repeated to the model. */
const MAX_HANDLE = 20

function withoutRemoved(
  message: ToolsMessage,
  at: number,
  removed: ReadonlyMap<string, number>,
): ToolsMessage | undefined {
  if (removed.size === 0) return message
  const names = message.names.filter((name) => (removed.get(name) ?? -1) < at)
  if (names.length === 0) return undefined
  if (names.length === message.names.length && !message.removed) return message
  return { role: 'tools', names }
}

/** Finds the last message that removes each tool, by position. */
export function findRemoved(messages: Iterable<Message>): ReadonlyMap<string, number> {
  const removed = new Map<string, number>()
  let at = 0
  for (const message of messages) {
    if (message.role === 'tools') for (const name of message.removed ?? []) removed.set(name, at)
    at++
  }
  return removed
}

/** Projects results that are about to follow a conversation with this many results. */
export function projectResults(
  results: readonly ToolMessage[],
  before: number,
  folded: readonly FoldedResult[],
): readonly ToolMessage[] {
  if (folded.length === 0) return results
  const forms = getForms(folded)
  return results.map((result, index) => {
    const form = forms.get(result.callId) ?? 'kept'
    if (form === 'kept') return result
    return foldMessage(result, toHandle(before + index + 1), form)
  })
}

/** The records are looked at with every reply, and change only with a fold. */
const formsOf = new WeakMap<readonly FoldedResult[], ReadonlyMap<string, FoldedResult['form']>>()

/** Returns the form of each folded result, by call. */
export function getForms(folded: readonly FoldedResult[]): ReadonlyMap<string, FoldedResult['form']> {
  const forms = formsOf.get(folded) ?? new Map(folded.map(({ callId, form }) => [callId, form]))
  formsOf.set(folded, forms)
  return forms
}

/** The folded form of a message is needed for every request, and never changes. */
const known = new WeakMap<ToolMessage, Map<string, ToolMessage>>()

/** Replaces the text of a result by what stands for it. */
function foldMessage(message: ToolMessage, handle: string, form: Exclude<FoldedResult['form'], 'kept'>): ToolMessage {
  const forms = known.get(message) ?? new Map<string, ToolMessage>()
  known.set(message, forms)
  const key = `${handle} ${form}`
  const made = forms.get(key) ?? { ...message, text: describe(message, handle, form) }
  forms.set(key, made)
  return made
}

function describe({ name, text }: ToolMessage, handle: string, form: Exclude<FoldedResult['form'], 'kept'>): string {
  if (form === 'closed') return `[${name} succeeded. The section was closed since; open it again if you need it.]`
  if (form === 'large') return describeFolded({ text, handle, outline: outlineText(text) })
  if (name === READ_RESULT) return `[Part of ${handle}, left out. read_result("${handle}") reads it again.]`
  return createStub(name, text, handle)
}

/** The name of a result for `read_result`: its number in the conversation, which never changes. */
export function toHandle(number: number): string {
  return `r${number}`
}

/** Adds fold records; a later one of the same result replaces the earlier one. */
export function mergeFolded(before: readonly FoldedResult[], now: readonly FoldedResult[]): readonly FoldedResult[] {
  return [...new Map([...before, ...now].map((one) => [one.callId, one])).values()]
}
