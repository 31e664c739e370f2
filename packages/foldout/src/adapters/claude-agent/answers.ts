import type { AnyTool } from '../../tools/tool.ts'
import { NO_USAGE, type ToolCall, type ToolMessage } from '../contract.ts'
import { toOwnArguments } from '../tool-keys.ts'
import { keepMessage, type QueryEnd, type QueryState } from './query-state.ts'
import { getResultText } from './replies.ts'
import type { SdkUserMessage } from './sdk.ts'
import { createToolServer, type CallRequest, type ToolAnswer, type ToolServer } from './tool-server.ts'
import type { Turn } from './turns.ts'

const NOT_RUN = 'This call was not run, because another call of the same reply ended the turn.'

/** Creates the server that runs calls for the executable. */
export function createAnsweringServer(query: QueryState): ToolServer {
  const { settings, end } = query
  const server = createToolServer(
    settings.sdk,
    () => settings.progress.offered.values(),
    async (request) => {
      try {
        const tool = settings.progress.offered.get(request.name)
        const own = { ...request, arguments: toOwnArguments(request.arguments, tool) }
        const result = await answerCall(query, server, own)
        // Once the query has ended, an answer would only make the executable send another request.
        if (!end.isSettled()) return result
      } catch (error) {
        end.reject(error)
      }
      return new Promise<never>(() => {})
    },
  )
  return server
}

async function answerCall(query: QueryState, server: ToolServer, request: CallRequest): Promise<ToolAnswer> {
  const { offered } = query.settings.progress
  const { turn, call } = await query.turns.find(request)
  if (query.settings.runsTogether && turn.isMain) {
    // The executable answers calls of tools that are not offered.
    turn.running ??= runCalls(
      query,
      server,
      turn,
      turn.calls.filter(({ name }) => offered.has(name)),
    )
    await turn.running
  } else {
    await runCalls(query, server, turn, [{ ...call, arguments: request.arguments }])
  }
  return turn.results.get(call.id) ?? { text: NOT_RUN, isError: true }
}

async function runCalls(query: QueryState, server: ToolServer, turn: Turn, calls: readonly ToolCall[]): Promise<void> {
  const { evaluation, progress } = query.settings
  const outcome = await evaluation.callTools(calls)
  for (const result of outcome.results) await keepResult(query, turn, result)
  if (outcome.type === 'halt') {
    const isOurs = (name: string): boolean => outcome.isPaused === true && progress.offered.has(name)
    return stopQuery(query, turn, { type: 'halted', usage: NO_USAGE }, isOurs)
  }
  if (outcome.added.length > 0) await offerTools(query, server, turn, outcome.added)
  if (query.end.isSettled()) return
  const isAnswered = turn.calls.every(({ id, name }) => turn.results.has(id) || !progress.offered.has(name))
  if (!isAnswered) return
  await evaluation.beforeRequest()
  query.isAllowed = true
}

/** Adds tools to the query, or ends it so the next one offers them. */
async function offerTools(query: QueryState, server: ToolServer, turn: Turn, added: readonly AnyTool[]): Promise<void> {
  const { settings } = query
  const names = added.map(({ name }) => name)
  for (const tool of added) settings.progress.offered.set(tool.name, tool)
  await keepMessage(query, { role: 'tools', names })
  if (settings.canRelist() && (await server.relist(settings.relistTimeoutMs))) return
  settings.evaluation.emit({
    type: 'warning',
    message: `The executable of the Claude Agent SDK did not list its tools again for ${names.join(', ')}. The conversation continues in a new query that offers them.`,
  })
  await stopQuery(query, turn, { type: 'restart' })
}

/**
 * Ends the query in the middle of a turn. Every call gets a result, because a conversation requires one for each,
 * except for calls that are postponed.
 */
async function stopQuery(
  query: QueryState,
  turn: Turn,
  how: QueryEnd,
  isLeft: (name: string) => boolean = () => false,
): Promise<void> {
  for (const { id, name } of turn.calls) {
    if (isLeft(name)) continue
    await keepResult(query, turn, { role: 'tool', callId: id, name, text: NOT_RUN, isError: true })
  }
  query.end.resolve(how)
}

async function keepResult(query: QueryState, turn: Turn, result: ToolMessage): Promise<void> {
  if (turn.results.has(result.callId)) return
  turn.results.set(result.callId, result)
  if (turn.isMain) await keepMessage(query, result)
}

/** Records the executable's own results, for calls of its own tools and of tools that do not exist. */
export async function takeResults(query: QueryState, content: SdkUserMessage['message']['content']): Promise<void> {
  const turn = query.turns.last
  if (typeof content === 'string' || turn === undefined) return
  for (const { type, tool_use_id: id, content: result, is_error: isError } of content) {
    const call = type === 'tool_result' && id !== undefined ? turn.byId.get(id) : undefined
    if (call === undefined) continue
    const text = getResultText(result)
    await keepResult(query, turn, { role: 'tool', callId: call.id, name: call.name, text, isError: isError === true })
  }
}
