import { cutWithCount } from '../../core/text.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import type { CallContext, CallInput, CallPeer, CallResult, ToolContent, ToolProgress } from '../../catalog/tool.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { MAX_DEPTH, MAX_TIMER_MS, PROGRESS_CHARACTERS, PROGRESS_META_BYTES } from '../limits.ts'
import { findSizeFault, isDeeperThan } from '../../core/json/measure.ts'
import { IDEMPOTENCY_KEY, PROTOCOL_PREFIX } from '../keys.ts'
import { ANY_RESULT, isModern, type McpClient, type McpRequestOptions } from './client.ts'
import { callFailure } from './failure.ts'
import { passMeta } from './meta.ts'
import { answerQuestions, isQuestion } from './questions.ts'
import { createFollower } from './signal.ts'
import { isModernTask } from './task-progress.ts'
import { chooseTask, requiresTasks, takesTasks, waitForTask, withTasks } from './tasks.ts'
import { callOnWire, markWanted, WireError, type Wanted } from './wire.ts'

export interface Upstream {
  readonly client: McpClient
  readonly server: string
  /** How long a call may go without an answer or progress. */
  readonly timeoutMs: number
  /** How long a call may take, whatever progress it reports. */
  readonly maxCallMs: number
  /** How many characters of each text in a result that is an error are passed on. */
  readonly maxErrorCharacters: number
}

/** The parts of a call to a server. */
export interface Callee {
  readonly name: string
  readonly inputSchema: unknown
  /** The tool's `execution` field, as the server sent it. */
  readonly execution: unknown
}

/** Runs a tool of a server. Rejects only if the call is aborted. */
export function callTool(
  upstream: Upstream,
  tool: Callee,
  args: Readonly<Record<string, unknown>>,
  context: CallContext,
): Promise<CallResult> {
  const { client } = upstream
  // Without a transport, the client says what is wrong.
  const isDirect =
    client.transport !== undefined && !isModern(client) && !chooseTask(client, tool.execution, context.task)
  return isDirect ? callDirectly(upstream, tool, args, context) : callByClient(upstream, tool, args, context)
}

async function callDirectly(
  { client, server, timeoutMs, maxCallMs, maxErrorCharacters }: Upstream,
  { name }: Callee,
  args: Readonly<Record<string, unknown>>,
  context: CallContext,
): Promise<CallResult> {
  const { signal, onProgress, peer } = context
  signal?.throwIfAborted()
  try {
    const report = onProgress && progressReporter(onProgress)
    const options = { signal, timeoutMs, maxMs: maxCallMs, onProgress: report }
    const { _meta: meta = {} } = passMeta(client, getMeta(context), peer)
    const answer = await callOnWire(client, { name, arguments: args, meta }, options)
    return getAnswer(answer, { server, maxErrorCharacters })
  } catch (error) {
    signal?.throwIfAborted()
    return callFailure(error, {
      server,
      tool: name,
      timeoutMs,
      maxCallMs,
      isOverdue: error instanceof WireError && error.code === 'OVERDUE',
      isPassedOn: peer !== undefined,
      hasBegun: false,
      isCutOff: client.transport === undefined,
    })
  }
}

async function callByClient(
  { client, server, timeoutMs, maxCallMs, maxErrorCharacters }: Upstream,
  tool: Callee,
  args: Readonly<Record<string, unknown>>,
  context: CallContext,
): Promise<CallResult> {
  const { signal, onProgress, peer } = context
  signal?.throwIfAborted()
  const own = createFollower(signal)
  let isOverdue = false
  let isCutOff = false
  let hasBegun = false
  const overdue = setTimeout(
    () => {
      isOverdue = true
      own.abort()
    },
    Math.min(maxCallMs, MAX_TIMER_MS),
  )
  const report = onProgress && progressReporter(onProgress)
  const isRead = client.transport !== undefined
  const task = chooseTask(client, tool.execution, context.task)
  const sendOnce = async (input: CallInput | undefined, as: CallPeer | undefined = peer): Promise<unknown> => {
    const wanted: Wanted = { onProgress: report }
    const request = {
      name: tool.name,
      arguments: args,
      ...(task ? { task: task.params } : {}),
      ...toFields(input),
      ...passMeta(client, getMeta(context), as),
    }
    const { params, release } = markWanted(client, request, wanted)
    try {
      const seen = await send(client, tool, params, {
        signal: own.signal,
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        ...(peer ? { allowInputRequired: true } : {}),
        // Requests progress from the server, which keeps a long call from timing out.
        onprogress: (progress) => (isRead ? undefined : report?.(progress)),
      })
      return wanted.result ?? seen
    } finally {
      isCutOff = wanted.isCutOff === true
      release()
    }
  }
  try {
    const input = isModern(client) ? peer?.input : undefined
    const first = await sendOnce(input).catch((error: unknown) => {
      // A modern server reports with an error that it runs the tool only as a task, which is then awaited here.
      if (!peer || !requiresTasks(error)) throw error
      return sendOnce(input, withTasks(peer))
    })
    hasBegun = true
    const answered = await answerQuestions(first, peer, own.signal, sendOnce)
    const isOurs = task?.isOurs === true || (isModernTask(answered) && !takesTasks(peer))
    const result = isOurs ? await waitForTask(client, answered, { peer, signal: own.signal }) : answered
    return getAnswer(result, { server, maxErrorCharacters })
  } catch (error) {
    signal?.throwIfAborted()
    return callFailure(error, {
      server,
      tool: tool.name,
      timeoutMs,
      maxCallMs,
      isOverdue,
      isPassedOn: peer !== undefined,
      hasBegun,
      isCutOff: isCutOff || (isRead && client.transport === undefined),
    })
  } finally {
    clearTimeout(overdue)
    own.release()
  }
}

async function send(
  client: McpClient,
  { name, inputSchema }: Callee,
  params: Readonly<Record<string, unknown>>,
  options: McpRequestOptions,
): Promise<unknown> {
  if (!isModern(client)) return client.request({ method: 'tools/call', params }, ANY_RESULT, options)
  // The client also sends the headers that the schema requires. The output schema is left out, because the client would
  // check the answer against it.
  return client.callTool(params, { ...options, toolDefinition: { name, inputSchema } })
}

/** What the protocol itself puts there is about this connection. */
function readProgressMeta(meta: unknown): Pick<ToolProgress, '_meta'> {
  if (!isPlainObject(meta) || findSizeFault(meta, PROGRESS_META)) return {}
  const own = Object.entries(meta).filter(([key]) => !key.startsWith(PROTOCOL_PREFIX))
  return own.length > 0 ? { _meta: Object.fromEntries(own) } : {}
}

const PROGRESS_META = { maxBytes: PROGRESS_META_BYTES, maxDepth: MAX_DEPTH }

function progressReporter(
  onProgress: NonNullable<CallContext['onProgress']>,
): (progress: Readonly<Record<string, unknown>>) => void {
  return ({ progress, total, message, _meta: meta }) => {
    if (typeof progress !== 'number') return
    try {
      onProgress({
        progress,
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message: cutWithCount(message, PROGRESS_CHARACTERS) } : {}),
        ...readProgressMeta(meta),
      })
    } catch {
      // A listener that fails does not stop the call.
    }
  }
}

/**
 * The idempotency key tells a server whether it has already run the call. A client behind the call repeats it only with
 * a key of its own, so one that sent no key needs none.
 */
function getMeta({ meta, idempotencyKey, peer }: CallContext): Readonly<Record<string, unknown>> {
  const isSent = idempotencyKey !== undefined && (!peer || meta?.[IDEMPOTENCY_KEY] !== undefined)
  // Copies that leave something out take long, and most calls have nothing to copy.
  if (!meta) return isSent ? { [IDEMPOTENCY_KEY]: idempotencyKey } : {}
  const { [IDEMPOTENCY_KEY]: _, ...given } = meta
  return isSent ? { ...given, [IDEMPOTENCY_KEY]: idempotencyKey } : given
}

/** Converts the answers to a server's questions to fields of the repeated request. */
function toFields(input: CallInput | undefined): Readonly<Record<string, unknown>> {
  if (!input) return {}
  return { inputResponses: input.responses, ...(input.state === undefined ? {} : { requestState: input.state }) }
}

/** Reads everything that the server sent. The content becomes a list even if the server sent something else. */
function getAnswer(
  result: unknown,
  { server, maxErrorCharacters }: Pick<Upstream, 'server' | 'maxErrorCharacters'>,
): CallResult {
  if (!isPlainObject(result)) return createErrorResult(`The server '${server}' sent an answer that is not an object.`)
  if (isDeeperThan(result, MAX_DEPTH))
    return createErrorResult(`The server '${server}' sent an answer that is nested deeper than ${MAX_DEPTH} levels.`)
  if (isQuestion(result) || isModernTask(result)) return { ...result, content: [] }
  const isCut = result['isError'] === true && maxErrorCharacters < Infinity
  if (!isCut && isPlainAnswer(result)) return result
  const { resultType: _era, content, ...rest } = result
  const { pieces, isError } = content === undefined ? readOther(rest) : { pieces: toContent(content) }
  const shown = isCut ? pieces.map((piece) => cutPiece(piece, maxErrorCharacters)) : pieces
  return { ...rest, ...(isError === true ? { isError } : {}), content: shown }
}

/** The fields that a result may have besides its content, or instead of it. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['_meta', 'isError', 'structuredContent', 'task'])

/** Reads a result without content, so that a model sees what is there. Old servers put the whole result into `toolResult`. */
function readOther(result: Readonly<Record<string, unknown>>): {
  readonly pieces: readonly ToolContent[]
  readonly isError?: unknown
} {
  const { toolResult } = result
  if (isPlainObject(toolResult) && Array.isArray(toolResult['content']))
    return { pieces: toContent(toolResult['content']), isError: toolResult['isError'] }
  if (toolResult !== undefined) return { pieces: toContent(toolResult) }
  const others = Object.entries(result).filter(([name]) => !KNOWN_FIELDS.has(name))
  return { pieces: others.length === 0 ? [] : toContent(JSON.stringify(Object.fromEntries(others))) }
}

/** An error is made to be read by a model, which has no use for megabytes of it. */
function cutPiece(piece: ToolContent, maxCharacters: number): ToolContent {
  const { text } = piece
  if (typeof text !== 'string' || text.length <= maxCharacters) return piece
  return { ...piece, text: cutWithCount(text, maxCharacters) }
}

/** Whether an answer is one already, so that it need not be copied. */
function isPlainAnswer(result: Readonly<Record<string, unknown>>): result is CallResult {
  const { content, resultType } = result
  return resultType === undefined && Array.isArray(content) && content.every(isContent)
}

function toContent(content: unknown): readonly ToolContent[] {
  if (content === undefined || content === null) return []
  return [content].flat().map((piece) => (isContent(piece) ? piece : { type: 'text', text: asText(piece) }))
}

function isContent(piece: unknown): piece is ToolContent {
  return isPlainObject(piece) && typeof piece['type'] === 'string'
}

function asText(piece: unknown): string {
  return typeof piece === 'string' ? piece : JSON.stringify(piece)
}
