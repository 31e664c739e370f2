import type { AnyTool } from '../../tools/tool.ts'
import {
  NO_USAGE,
  addUsage,
  type Evaluation,
  type EvaluationResult,
  type Message,
  type ToolCall,
  type ToolMessage,
  type Usage,
} from '../contract.ts'
import { createCutFailure, toResultFailure, toThrownFailure } from './failures.ts'
import { getCalls, replyReader, resultText, type Reply } from './replies.ts'
import type { ClaudeAgentSdk, SdkMessage, SdkQuery, SdkResultMessage, SdkSystemMessage } from './sdk.ts'
import { toolServer, type CallRequest, type ToolAnswer, type ToolServer } from './tool-server.ts'
import { createTurns, type Turn } from './turns.ts'
import { readModelUsage } from './usage.ts'

/** What an evaluation keeps from one query to the next. */
export interface Progress {
  readonly conversation: Message[]
  /** Every tool offered so far, by name. */
  readonly offered: Map<string, AnyTool>
  usage: Usage
}

export interface QuerySettings {
  readonly sdk: ClaudeAgentSdk
  readonly evaluation: Evaluation
  readonly progress: Progress
  /** Whether the calls of one reply are run as one, or each when the executable asks for it. */
  readonly runsTogether: boolean
  readonly relistTimeoutMs: number
  start(server: ToolServer, controller: AbortController): SdkQuery
  onInit(message: SdkSystemMessage): void
  /** Whether the executable can list tools again. */
  canRelist(): boolean
}

/** `restart`: there are tools that this query cannot offer any more. */
export type QueryEnd = EvaluationResult | { readonly type: 'restart' }

const QUIET_MS = 100
const LONGEST_INTERRUPT_MS = 1000
const LONGEST_EXIT_MS = 4000
const NOT_RUN = 'This call was not run, because another call of the same reply ended the turn.'

/** Runs one query of the SDK to its end. The executable is gone when it returns. */
export async function runQuery(settings: QuerySettings): Promise<QueryEnd> {
  const { evaluation, progress } = settings
  const { signal, emit } = evaluation
  const replies = replyReader()
  const turns = createTurns()
  const end = deferred<QueryEnd>()
  let queryUsage = NO_USAGE
  let failureReason: string | undefined
  // Asked for before the answer that lets the executable go on, which is the last moment at which nothing is sent yet.
  let isAllowed = true
  let isTextShown = false
  let isSent = false
  let isConcluded = false
  let quiet: NodeJS.Timeout | undefined

  const keep = async (message: Message): Promise<void> => {
    progress.conversation.push(message)
    await evaluation.record(message)
  }
  const finish = async (reply: Reply | undefined): Promise<void> => {
    if (reply === undefined) return
    const { message, usage } = reply
    isSent = false
    queryUsage = addUsage(queryUsage, usage)
    emit({ type: 'reply/received', message, usage })
    await keep(message)
    turns.add(message.toolCalls, true)
  }
  const allow = async (): Promise<void> => {
    await evaluation.beforeRequest()
    isAllowed = true
  }
  const sending = async (): Promise<void> => {
    if (!isAllowed) await evaluation.beforeRequest()
    isAllowed = false
    isSent = true
    emit({ type: 'request/sent', messages: progress.conversation.length, tools: [...progress.offered.keys()] })
  }

  const keepResult = async (turn: Turn, result: ToolMessage): Promise<void> => {
    if (turn.results.has(result.callId)) return
    turn.results.set(result.callId, result)
    if (turn.isMain) await keep(result)
  }
  /** Ends the query in the middle of a turn. Every call gets a result, as a conversation must not lack one. */
  const stop = async (turn: Turn, how: QueryEnd): Promise<void> => {
    for (const { id, name } of turn.calls) {
      await keepResult(turn, { role: 'tool', callId: id, name, text: NOT_RUN, isError: true })
    }
    end.resolve(how)
  }
  const offer = async (turn: Turn, added: readonly AnyTool[]): Promise<void> => {
    const names = added.map(({ name }) => name)
    for (const tool of added) progress.offered.set(tool.name, tool)
    await keep({ role: 'tools', names })
    if (settings.canRelist() && (await server.relist(settings.relistTimeoutMs))) return
    emit({
      type: 'warning',
      message: `The executable of the Claude Agent SDK did not list its tools again for ${names.join(', ')}. The conversation goes on in a new query that offers them.`,
    })
    await stop(turn, { type: 'restart' })
  }
  const run = async (turn: Turn, calls: readonly ToolCall[]): Promise<void> => {
    const outcome = await evaluation.callTools(calls)
    for (const result of outcome.results) await keepResult(turn, result)
    if (outcome.type === 'halt') return stop(turn, { type: 'halted', usage: NO_USAGE })
    if (outcome.added.length > 0) await offer(turn, outcome.added)
    if (end.isSettled()) return
    if (turn.calls.every(({ id, name }) => turn.results.has(id) || !progress.offered.has(name))) await allow()
  }
  const answer = async (request: CallRequest): Promise<ToolAnswer> => {
    const { turn, call } = await turns.find(request)
    if (settings.runsTogether && turn.isMain) {
      // Calls of tools that are not offered are answered by the executable.
      turn.running ??= run(
        turn,
        turn.calls.filter(({ name }) => progress.offered.has(name)),
      )
      await turn.running
    } else {
      await run(turn, [{ ...call, arguments: request.arguments }])
    }
    return turn.results.get(call.id) ?? { text: NOT_RUN, isError: true }
  }
  const server = toolServer(
    settings.sdk,
    () => progress.offered.values(),
    async (request) => {
      try {
        const result = await answer(request)
        // Once it has ended, an answer would only make the executable send another request.
        return end.isSettled() ? await new Promise<never>(() => {}) : result
      } catch (error) {
        end.reject(error)
        return new Promise<never>(() => {})
      }
    },
  )

  const take = async (message: SdkMessage): Promise<QueryEnd | undefined> => {
    if (message.type === 'assistant') {
      if (message.error !== undefined) failureReason = message.error
      else if (typeof message.parent_tool_use_id === 'string') turns.add(getCalls(message.message.content), false)
      else if (replies.blocks(message.message)) {
        clearTimeout(quiet)
        quiet = setTimeout(() => void finish(replies.end()).catch(end.reject), QUIET_MS)
      }
      return undefined
    }
    await finish(replies.end())
    if (message.type === 'result') return conclude(message)
    if (message.type === 'system') await takeSystem(message)
    else if (typeof message.parent_tool_use_id === 'string') return undefined
    else if (message.type === 'user') await takeResults(message.message.content)
    else if (message.type === 'stream_event') {
      const { event } = message
      if (event.type === 'message_start' && !isSent) await sending()
      if (event.delta?.type === 'text_delta' && event.delta.text) {
        isTextShown = true
        emit({ type: 'text/delta', text: event.delta.text })
      }
      if (message.abandoned_blocks !== undefined) {
        // The stream was cut off and the executable asks again; what was shown of it cannot be taken back.
        if (isTextShown) throw createCutFailure()
        replies.abandon()
      }
      await finish(replies.event(event))
      if (event.type === 'message_stop') isTextShown = false
    }
    return undefined
  }
  const takeSystem = async (message: SdkSystemMessage): Promise<void> => {
    if (message.subtype === 'init') settings.onInit(message)
    if (message.subtype === 'status' && message.status === 'requesting') await sending()
    if (message.subtype === 'api_retry') {
      const { attempt = 1, retry_delay_ms: delayMs = 0, error_status: status, error = 'unknown' } = message
      emit({ type: 'request/retried', attempt, delayMs, reason: status ? `${error} (status ${status})` : error })
    }
  }
  /** Results of the executable's own: of calls to its tools, or to tools that it does not have. */
  const takeResults = async (content: Extract<SdkMessage, { type: 'user' }>['message']['content']): Promise<void> => {
    const turn = turns.last
    if (typeof content === 'string' || turn === undefined) return
    for (const block of content) {
      const call = turn.calls.find(({ id }) => id === block.tool_use_id)
      if (block.type !== 'tool_result' || call === undefined) continue
      const text = resultText(block.content)
      await keepResult(turn, { role: 'tool', callId: call.id, name: call.name, text, isError: block.is_error === true })
    }
  }
  const conclude = (result: SdkResultMessage): QueryEnd => {
    isConcluded = true
    if (result.is_error || result.subtype !== 'success') throw toResultFailure(result, failureReason)
    const all = readModelUsage(result.modelUsage)
    if (all.inputTokens + all.outputTokens > 0) queryUsage = all
    const last = progress.conversation.at(-1)
    const text = last?.role === 'assistant' && last.text !== '' ? last.text : (result.result ?? '')
    return { type: 'final', text, usage: NO_USAGE }
  }

  const controller = new AbortController()
  const onAbort = (): void => end.reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', onAbort, { once: true })
  let query: SdkQuery | undefined
  try {
    query = settings.start(server, controller)
    read(query, take).then(end.resolve, end.reject)
    const how = await end.promise
    progress.usage = addUsage(progress.usage, queryUsage)
    return how.type === 'restart' ? how : { ...how, usage: progress.usage }
  } finally {
    signal.removeEventListener('abort', onAbort)
    clearTimeout(quiet)
    if (query !== undefined) await endQuery(query, !isConcluded)
    controller.abort()
  }
}

async function endQuery(query: SdkQuery, isBusy: boolean): Promise<void> {
  // An executable that only loses its input takes its calls for failed, and goes on asking the model.
  if (isBusy) await settled(query.interrupt(), LONGEST_INTERRUPT_MS)
  query.close()
  await settled(query.return(undefined), LONGEST_EXIT_MS)
}

/** Waits for a promise to end, one way or the other, but not for ever. */
async function settled(promise: Promise<unknown>, longestMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longestMs)
  })
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}

async function read(query: SdkQuery, take: (message: SdkMessage) => Promise<QueryEnd | undefined>): Promise<QueryEnd> {
  for (;;) {
    // Only what the SDK throws is a failure of its executable; what `take` throws comes from the caller.
    const next = await query.next().catch((error: unknown) => {
      throw toThrownFailure(error)
    })
    if (next.done === true) throw createCutFailure()
    const end = await take(next.value)
    if (end !== undefined) return end
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
  isSettled(): boolean
}

function deferred<T>(): Deferred<T> {
  let settled = false
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => {})
  return {
    promise,
    resolve: (value) => {
      settled = true
      settle?.resolve(value)
    },
    reject: (error) => {
      settled = true
      settle?.reject(error)
    },
    isSettled: () => settled,
  }
}
