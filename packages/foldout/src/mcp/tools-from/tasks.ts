import { ignore } from '../../core/promises.ts'
import type { CallPeer } from '../../catalog/tool.ts'
import { isObject } from 'foldout-shared/values'
import { RELATED_TASK, TASKS } from '../keys.ts'
import { asObject } from '../protocol/messages.ts'
import { LONGEST_POLL_MS, POLL_MS, SHORTEST_POLL_MS } from '../limits.ts'
import { askLegacy } from './questions.ts'
import { requestFromMcp } from './request.ts'
import type { McpSession } from '../client/session.ts'
import { isModernTask } from '../client/task-progress.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** How a call is sent to a legacy server as a task. */
export interface TaskChoice {
  readonly params: JsonObject
  /** Whether only Foldout waits for the task. */
  readonly isOurs: boolean
}

/**
 * Decides whether a call is sent as a task: because the client wants one, or because the server accepts nothing else.
 */
export function chooseTask(
  session: McpSession,
  execution: unknown,
  wanted: JsonObject | undefined,
): TaskChoice | undefined {
  const support = asObject(execution)['taskSupport']
  if (session.era === 'modern' || !hasTasks(session) || (support !== 'required' && support !== 'optional'))
    return undefined
  if (wanted) return { params: wanted, isOurs: false }
  if (support === 'required') return { params: {}, isOurs: true }
  return undefined
}

/** Whether a legacy server runs tools as tasks. */
function hasTasks(session: McpSession): boolean {
  const { tasks } = session.server.capabilities
  const tools = asObject(asObject(asObject(tasks)['requests'])['tools'])
  return isObject(tools['call'])
}

/** Whether the client behind a call waits for tasks of modern servers. */
export function takesTasks(peer: CallPeer | undefined): boolean {
  return peer?.era === 'modern' && isObject(getExtensions(peer)[TASKS])
}

/** Returns the same client, marked as one that waits for tasks. */
export function withTasks(peer: CallPeer): CallPeer {
  const extensions = { ...getExtensions(peer), [TASKS]: {} }
  return { ...peer, capabilities: { ...peer.capabilities, extensions } }
}

function getExtensions({ capabilities }: CallPeer): JsonObject {
  const { extensions } = capabilities
  return asObject(extensions)
}

const MISSING_CAPABILITY = -32_021

/** Whether a modern server rejected a call because it runs the tool only as a task. */
export function requiresTasks(error: unknown): boolean {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: unknown }
  const { extensions } = asObject(asObject(data)['requiredCapabilities'])
  return code === MISSING_CAPABILITY && isObject(extensions) && TASKS in extensions
}

export interface TaskWait {
  readonly peer: CallPeer | undefined
  /** Answers the questions of the task. */
  readonly ask: CallPeer['ask']
  readonly signal: AbortSignal
}

/** Waits until a task is done, and returns what the call would have returned. Cancels the task on abort. */
export async function waitForTask(session: McpSession, created: unknown, wait: TaskWait): Promise<unknown> {
  const task = isModernTask(created) || !isObject(created) ? created : created['task']
  // The server may have answered at once instead.
  if (!isObject(task) || typeof task['taskId'] !== 'string') return created
  const { taskId } = task
  const askServer: AskServer = (method, params = {}) =>
    requestFromMcp(
      session,
      method,
      { taskId, ...params },
      { signal: wait.signal, peer: wait.peer && withTasks(wait.peer) },
    )
  try {
    if (session.era === 'legacy') return await followLegacy(task, askServer, wait)
    return await followModern(task, askServer, wait)
  } catch (error) {
    if (wait.signal.aborted) void ignore(requestFromMcp(session, 'tasks/cancel', { taskId }), 'the task ends by itself')
    throw error
  }
}

type AskServer = (method: string, params?: JsonObject) => Promise<JsonObject>

/** A legacy server returns the result separately, and asks its questions when the result is requested. */
async function followLegacy(first: JsonObject, askServer: AskServer, { signal }: TaskWait): Promise<unknown> {
  for (let task = first; task['status'] === 'working'; task = await askServer('tasks/get'))
    await pause(task['pollInterval'], signal)
  return withoutTask(await askServer('tasks/result'))
}

/** The caller has no task that a result could belong to. */
function withoutTask({ _meta: meta, ...result }: JsonObject): JsonObject {
  if (!isObject(meta)) return result
  const { [RELATED_TASK]: _, ...others } = meta
  if (Object.keys(others).length > 0) return { ...result, _meta: others }
  return result
}

/** A modern server returns everything with the state of the task. */
async function followModern(first: JsonObject, askServer: AskServer, wait: TaskWait): Promise<unknown> {
  const answered = new Set<string>()
  for (let task = first; ; task = await askServer('tasks/get')) {
    const { status, result, error, statusMessage } = task
    if (status === 'completed' && isObject(result)) return result
    if (status === 'failed') throw toError(error)
    if (status === 'cancelled') throw toCanceledError(statusMessage)
    if (status === 'input_required') await answerTask(task, answered, askServer, wait)
    await pause(task['pollIntervalMs'], wait.signal)
  }
}

/** Sends the task's questions to the client, each one once. */
async function answerTask(
  { inputRequests }: JsonObject,
  answered: Set<string>,
  askServer: AskServer,
  { ask, signal }: TaskWait,
): Promise<void> {
  const questions = Object.entries(asObject(inputRequests))
  for (const [key, question] of questions) {
    if (answered.has(key)) continue
    answered.add(key)
    if (!ask) throw new Error('The task asks a question that the client does not support.')
    const answer = await askLegacy(ask, question, signal)
    await askServer('tasks/update', { inputResponses: Object.fromEntries([[key, answer]]) })
  }
}

function toCanceledError(reason: unknown): Error {
  const said = typeof reason === 'string' ? ` ${reason}` : ''
  return new Error(`The server cancelled the task.${said}`)
}

function toError(error: unknown): Error {
  const { code, message, data } = asObject(error)
  return Object.assign(new Error(typeof message === 'string' ? message : 'The task failed.'), {
    ...(typeof code === 'number' && { code }),
    ...(data !== undefined && { data }),
  })
}

/** Waits for as long as the server requests, within limits. */
function pause(wanted: unknown, signal: AbortSignal): Promise<void> {
  const ms = typeof wanted === 'number' && wanted >= 0 ? wanted : POLL_MS
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', stop)
        resolve()
      },
      Math.min(Math.max(ms, SHORTEST_POLL_MS), LONGEST_POLL_MS),
    )
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
