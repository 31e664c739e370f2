import { cutWithCount } from '../../core/text.ts'
import { createErrorResult } from '../../tools/call-result.ts'
import type { CallContext, CallInput, CallPeer, CallResult, ToolContent, ToolProgress } from '../../catalog/tool.ts'
import { isObject } from 'foldout-shared/values'
import { MAX_DEPTH, PROGRESS_CHARACTERS, PROGRESS_META_BYTES } from '../limits.ts'
import { findSizeFault, isDeeperThan } from '../../core/json/measure.ts'
import { IDEMPOTENCY_KEY, PROTOCOL_PREFIX, RELATED_TASK } from '../keys.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { toParamHeaders } from '../protocol/headers.ts'
import { callFailure } from './failure.ts'
import { passMeta } from './meta.ts'
import { answerQuestions, isQuestion } from './questions.ts'
import type { McpSession } from '../client/session.ts'
import { createDeadline } from '../client/signal.ts'
import { isModernTask } from '../client/task-progress.ts'
import { chooseTask, requiresTasks, takesTasks, waitForTask, withTasks, type TaskChoice } from './tasks.ts'

export interface Upstream {
  readonly session: McpSession
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
export async function callTool(
  upstream: Upstream,
  tool: Callee,
  args: Readonly<Record<string, unknown>>,
  context: CallContext,
): Promise<CallResult> {
  const { signal } = context
  signal?.throwIfAborted()
  const call = new UpstreamCall(upstream, tool, args, context)
  try {
    return getAnswer(await call.run(), upstream)
  } catch (error) {
    signal?.throwIfAborted()
    return call.describeFailure(error)
  }
}

/** A call, in as many rounds as the server needs. */
class UpstreamCall {
  readonly #upstream: Upstream
  readonly #tool: Callee
  readonly #args: Readonly<Record<string, unknown>>
  readonly #context: CallContext
  readonly #task: TaskChoice | undefined
  readonly #onProgress: (progress: Readonly<Record<string, unknown>>) => void
  readonly #start = performance.now()
  /** Whether the server has answered, if only with questions or a task. */
  #hasBegun = false

  constructor(upstream: Upstream, tool: Callee, args: Readonly<Record<string, unknown>>, context: CallContext) {
    this.#upstream = upstream
    this.#tool = tool
    this.#args = args
    this.#context = context
    this.#task = chooseTask(upstream.session, tool.execution, context.task)
    this.#onProgress = createProgressReporter(context.onProgress, this.#task?.isOurs === false)
  }

  async run(): Promise<unknown> {
    const first = await this.#sendFirst()
    this.#hasBegun = true
    const isOver = !isQuestion(first) && !isModernTask(first) && this.#task?.isOurs !== true
    if (isOver) return first
    return this.#continue(first)
  }

  describeFailure(error: unknown): CallResult {
    const { session, server, timeoutMs, maxCallMs } = this.#upstream
    return callFailure(error, {
      server,
      tool: this.#tool.name,
      timeoutMs,
      maxCallMs,
      isOverdue: error instanceof ProtocolError && error.code === 'OVERDUE',
      isPassedOn: this.#context.peer !== undefined,
      hasBegun: this.#hasBegun,
      isCutOff: !session.isConnected,
    })
  }

  async #sendFirst(): Promise<unknown> {
    const { peer, signal } = this.#context
    const input = (this.#upstream.session.era === 'modern' && peer?.input) || undefined
    try {
      return await this.#send(input, peer, signal)
    } catch (error) {
      // A modern server reports with an error that it runs the tool only as a task, which is then awaited here.
      if (!peer || !requiresTasks(error)) throw error
      return this.#send(input, withTasks(peer), signal)
    }
  }

  /** Answers the server's questions, and waits for its task. */
  async #continue(first: unknown): Promise<unknown> {
    const { session, maxCallMs } = this.#upstream
    const { peer } = this.#context
    const deadline = createDeadline(this.#context.signal, maxCallMs - (performance.now() - this.#start))
    const { signal } = deadline
    const ask = peer ? peer.ask : session.ask
    try {
      const answered = await answerQuestions(first, ask, signal, (input) => this.#send(input, peer, signal))
      const isOurs = this.#task?.isOurs === true || (isModernTask(answered) && !takesTasks(peer))
      if (!isOurs) return answered
      return await waitForTask(session, answered, { peer, ask, signal })
    } finally {
      deadline.release()
    }
  }

  #send(input: CallInput | undefined, peer: CallPeer | undefined, signal: AbortSignal | undefined): Promise<unknown> {
    const { session, timeoutMs, maxCallMs } = this.#upstream
    const { name, inputSchema } = this.#tool
    const params = {
      name,
      arguments: this.#args,
      ...(this.#task && { task: this.#task.params }),
      ...toFields(input),
      ...passMeta(session, getMeta(this.#context), peer),
    }
    return session.request('tools/call', params, {
      signal,
      timeoutMs,
      maxMs: maxCallMs - (performance.now() - this.#start),
      // Keeps a long call from timing out.
      onProgress: this.#onProgress,
      ...(session.era === 'modern' && { headers: toParamHeaders(inputSchema, this.#args) }),
      keepsQuestions: peer !== undefined,
    })
  }
}

/** What the protocol itself puts there is about this connection, except for the mark of a task that the client waits for. */
function readProgressMeta(meta: unknown, isOfTask: boolean): Pick<ToolProgress, '_meta'> {
  if (!isObject(meta) || findSizeFault(meta, PROGRESS_META)) return {}
  const own = Object.entries(meta).filter(
    ([key]) => !key.startsWith(PROTOCOL_PREFIX) || (isOfTask && key === RELATED_TASK),
  )
  if (own.length > 0) return { _meta: Object.fromEntries(own) }
  return {}
}

const PROGRESS_META = { maxBytes: PROGRESS_META_BYTES, maxDepth: MAX_DEPTH }

function createProgressReporter(
  onProgress: CallContext['onProgress'],
  isOfTask: boolean,
): (progress: Readonly<Record<string, unknown>>) => void {
  return ({ progress, total, message, _meta: meta }) => {
    if (!onProgress || typeof progress !== 'number') return
    try {
      onProgress({
        progress,
        ...(typeof total === 'number' && { total }),
        ...(typeof message === 'string' && { message: cutWithCount(message, PROGRESS_CHARACTERS) }),
        ...readProgressMeta(meta, isOfTask),
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
  if (!meta) {
    if (isSent) return { [IDEMPOTENCY_KEY]: idempotencyKey }
    return {}
  }
  const { [IDEMPOTENCY_KEY]: _, ...given } = meta
  if (isSent) return { ...given, [IDEMPOTENCY_KEY]: idempotencyKey }
  return given
}

/** Converts the answers to a server's questions to fields of the repeated request. */
function toFields(input: CallInput | undefined): Readonly<Record<string, unknown>> {
  if (!input) return {}
  return { inputResponses: input.responses, ...(input.state !== undefined && { requestState: input.state }) }
}

/** Reads everything that the server sent. The content becomes a list even if the server sent something else. */
function getAnswer(
  result: unknown,
  { server, maxErrorCharacters }: Pick<Upstream, 'server' | 'maxErrorCharacters'>,
): CallResult {
  if (!isObject(result)) return createErrorResult(`The server '${server}' sent an answer that is not an object.`)
  if (isDeeperThan(result, MAX_DEPTH))
    return createErrorResult(`The server '${server}' sent an answer that is nested deeper than ${MAX_DEPTH} levels.`)
  if (isQuestion(result) || isModernTask(result)) return { ...result, content: [] }
  const isCut = result['isError'] === true && maxErrorCharacters < Infinity
  if (!isCut && isPlainAnswer(result)) return result
  const { resultType: _era, content, ...rest } = result
  const { pieces, isError } = content === undefined ? readOther(rest) : { pieces: toContent(content) }
  const shown = isCut ? pieces.map((piece) => cutPiece(piece, maxErrorCharacters)) : pieces
  return { ...rest, ...(isError === true && { isError }), content: shown }
}

/** The fields that a result may have besides its content, or instead of it. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['_meta', 'isError', 'structuredContent', 'task'])

/** Reads a result without content, so that a model sees what is there. Old servers put the whole result into `toolResult`. */
function readOther(result: Readonly<Record<string, unknown>>): {
  readonly pieces: readonly ToolContent[]
  readonly isError?: unknown
} {
  const { toolResult } = result
  if (isObject(toolResult) && Array.isArray(toolResult['content']))
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
  return isObject(piece) && typeof piece['type'] === 'string'
}

function asText(piece: unknown): string {
  if (typeof piece === 'string') return piece
  return JSON.stringify(piece)
}
