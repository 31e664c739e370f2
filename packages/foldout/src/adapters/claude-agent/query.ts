import { ignore } from '../../core/promises.ts'
import { readQueryUsage } from '../anthropic/usage.ts'
import type { AssistantMessage } from '../contract.ts'
import { NO_USAGE, addUsage, hasUsage, subtractUsage, type Usage } from '../usage/usage.ts'
import { createAnsweringServer, takeResults } from './answers.ts'
import { createCutFailure, toResultFailure, toThrownFailure } from './failures.ts'
import { hasOutputCall, isOutputTool, withoutOutputCall } from './output.ts'
import { createQueryState, keepMessage, type QueryEnd, type QuerySettings, type QueryState } from './query-state.ts'
import { getCalls, toMessage, type Reply } from './replies.ts'
import type {
  SdkAssistantMessage,
  SdkMessage,
  SdkQuery,
  SdkResultMessage,
  SdkStreamMessage,
  SdkSystemMessage,
} from './sdk.ts'
import { withOwnKeys } from '../tool-keys.ts'
import { withSession } from './sessions.ts'

const QUIET_MS = 100
const LONGEST_INTERRUPT_MS = 1000
const LONGEST_EXIT_MS = 4000

/**
 * Runs one query of the SDK to its end. When it returns, the executable has exited, unless the signal aborted: in that
 * case, it returns at once, and the executable is ended in the background.
 */
export async function runQuery(settings: QuerySettings): Promise<QueryEnd> {
  const { evaluation, progress } = settings
  const { signal } = evaluation
  const query = createQueryState(settings)
  const controller = new AbortController()
  const onAbort = (): void => query.end.reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', onAbort, { once: true })
  let running: SdkQuery | undefined
  try {
    running = settings.start(createAnsweringServer(query), controller)
    readMessages(query, running).then(query.end.resolve, query.end.reject)
    const how = await query.end.promise
    progress.usage = addUsage(progress.usage, query.usage)
    if (how.type === 'restart') return how
    return { ...how, usage: progress.usage }
  } finally {
    signal.removeEventListener('abort', onAbort)
    clearTimeout(query.quiet)
    const ended = endQuery(running, !query.isConcluded).finally(() => controller.abort())
    if (!signal.aborted) await ended
  }
}

async function endQuery(query: SdkQuery | undefined, isBusy: boolean): Promise<void> {
  if (query === undefined) return
  // An executable that only loses its input treats its calls as failed, and continues to send requests to the model.
  if (isBusy) await settle(() => query.interrupt(), LONGEST_INTERRUPT_MS)
  query.close()
  await settle(() => query.return(undefined), LONGEST_EXIT_MS)
}

/** Waits until work has succeeded or failed, up to a limit. */
async function settle(work: () => Promise<unknown>, longestMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longestMs)
  })
  await Promise.race([ignore(work(), 'the query has ended'), late])
  clearTimeout(timer)
}

/** Reads the executable's messages until one ends the query. */
async function readMessages(query: QueryState, running: SdkQuery): Promise<QueryEnd> {
  for (;;) {
    // Only errors that the SDK throws are failures of its executable; errors that `take` throws come from the caller.
    const next = await running.next().catch((error: unknown) => {
      throw toThrownFailure(error)
    })
    // If the query has already ended, this error is ignored.
    if (next.done === true || query.end.isSettled()) throw createCutFailure()
    const end = await take(query, next.value as SdkMessage)
    if (end !== undefined) return end
  }
}

async function take(query: QueryState, message: SdkMessage): Promise<QueryEnd | undefined> {
  if (message.type === 'assistant') {
    takeBlocks(query, message)
    return undefined
  }
  await finish(query, query.replies.end())
  if (message.type === 'result') return conclude(query, message)
  if (message.type === 'system') await takeSystem(query, message)
  else if (typeof message.parent_tool_use_id === 'string') return undefined
  else if (message.type === 'user') await takeResults(query, message.message.content)
  else if (message.type === 'stream_event') await takeStreamed(query, message)
  return undefined
}

function takeBlocks(query: QueryState, { error, parent_tool_use_id: parent, message }: SdkAssistantMessage): void {
  if (error !== undefined) {
    query.failureReason = error
    return
  }
  if (typeof parent === 'string') {
    const { toolCalls } = withOwnKeys(toMessage(message.content), query.settings.progress.offered)
    query.turns.add(toolCalls, false)
    return
  }
  if (!query.replies.blocks(message)) return
  clearTimeout(query.quiet)
  query.quiet = setTimeout(() => void finish(query, query.replies.end()).catch(query.end.reject), QUIET_MS)
}

async function takeStreamed(query: QueryState, message: SdkStreamMessage): Promise<void> {
  const { event } = message
  if (event.type === 'message_start' && !query.isSent) await beginRequest(query)
  tellDelta(query, event)
  if (message.abandoned_blocks !== undefined) {
    // The stream was cut off and the executable sends the request again, but text that was shown cannot be taken back.
    const usage = query.replies.abandon()
    countLost(query, usage)
    if (query.isTextShown) throw createCutFailure()
  }
  await finish(query, query.replies.event(event))
  if (event.type === 'message_stop') query.isTextShown = false
}

function tellDelta(query: QueryState, { type, index, content_block: block, delta }: SdkStreamMessage['event']): void {
  const { evaluation, hasOutput } = query.settings
  if (type === 'message_start') query.streamedCalls.clear()
  if (type === 'content_block_start' && index !== undefined && block !== undefined) {
    // The structured answer is not a call for anyone else.
    const call = getCalls([block]).find(({ name }) => !(hasOutput && isOutputTool(name)))
    if (call) query.streamedCalls.set(index, call)
  }
  if (delta?.type === 'text_delta' && delta.text) {
    query.isTextShown = true
    evaluation.emit({ type: 'text/delta', text: delta.text })
  }
  if (delta?.type === 'thinking_delta' && delta.thinking)
    evaluation.emit({ type: 'reasoning/delta', text: delta.thinking })
  const call = index === undefined ? undefined : query.streamedCalls.get(index)
  if (delta?.type === 'input_json_delta' && delta.partial_json && call)
    evaluation.emit({ type: 'call/delta', callId: call.id, name: call.name, text: delta.partial_json })
}

async function takeSystem(query: QueryState, message: SdkSystemMessage): Promise<void> {
  const { settings } = query
  if (message.subtype === 'init') {
    query.session = message.session_id
    settings.onInit(message)
  }
  if (message.subtype === 'status' && message.status === 'requesting') await beginRequest(query)
  if (message.subtype === 'api_retry') {
    const { attempt = 1, retry_delay_ms: delayMs = 0, error_status: status, error = 'unknown' } = message
    const reason = status ? `${error} (status ${status})` : error
    settings.evaluation.emit({ type: 'request/retried', attempt, delayMs, reason })
  }
}

async function beginRequest(query: QueryState): Promise<void> {
  const { evaluation, progress } = query.settings
  if (!query.isAllowed) await evaluation.beforeRequest()
  query.isAllowed = false
  query.isSent = true
  const tools = [...progress.offered.keys()]
  evaluation.emit({ type: 'request/sent', messages: progress.conversation.length, tools })
}

/** Handles a complete reply. */
async function finish(query: QueryState, reply: Reply | undefined): Promise<void> {
  if (reply === undefined) return
  const { usage } = reply
  const own = withOwnKeys(reply.message, query.settings.progress.offered)
  const isOutput = query.settings.hasOutput && hasOutputCall(own)
  const message = toKept(query, isOutput ? withoutOutputCall(own) : own)
  query.isSent = false
  query.usage = addUsage(query.usage, usage)
  query.settings.evaluation.emit({ type: 'reply/received', message, usage })
  // The answer itself comes with the result of the query.
  if (!isOutput || message.toolCalls.length > 0) await keepMessage(query, message)
  query.turns.add(message.toolCalls, true)
}

/** Adds the session to a reply that may be the last one. */
function toKept({ session, settings }: QueryState, message: AssistantMessage): AssistantMessage {
  if (!settings.keepsSession || session === undefined || message.toolCalls.length > 0) return message
  return withSession(message, session, settings.progress.conversation)
}

/** Counts what was paid for replies that cannot be used. */
function countLost(query: QueryState, usage: Usage): void {
  if (!hasUsage(usage)) return
  query.usage = addUsage(query.usage, usage)
  query.settings.evaluation.emit({ type: 'reply/lost', usage })
}

async function conclude(query: QueryState, result: SdkResultMessage): Promise<QueryEnd> {
  const { settings } = query
  query.isConcluded = true
  // A model that did not use the structured form may have answered in text, which is checked like any other answer.
  const isUnstructured = result.subtype === 'error_max_structured_output_retries'
  // The totals of a resumed session include its earlier turns.
  const all = settings.isResumed ? NO_USAGE : readQueryUsage(result)
  if (!isUnstructured && (result.is_error || result.subtype !== 'success')) {
    countLost(query, subtractUsage(all, query.usage))
    throw toResultFailure(result, query.failureReason)
  }
  if (all.inputTokens + all.outputTokens > 0) query.usage = all
  if (result.structured_output !== undefined && settings.hasOutput) {
    const text = JSON.stringify(result.structured_output)
    settings.evaluation.emit({ type: 'text/delta', text })
    await keepMessage(query, toKept(query, { role: 'assistant', text, toolCalls: [] }))
    return { type: 'final', text, usage: NO_USAGE }
  }
  const last = settings.progress.conversation.at(-1)
  const text = last?.role === 'assistant' && last.text !== '' ? last.text : (result.result ?? '')
  return { type: 'final', text, usage: NO_USAGE }
}
