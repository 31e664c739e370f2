import { isObject } from 'foldout-shared/values'
import { RELATED_TASK } from '../keys.ts'
import { MAX_TASK_LISTENERS } from '../limits.ts'

type JsonObject = Readonly<Record<string, unknown>>
type Listen = (progress: JsonObject) => void

const DONE: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/**
 * The progress of tasks. A call that began a task has been answered, but its progress token stays valid until the task
 * is done.
 */
export class TaskProgress {
  /** By the progress tokens, which are the ids of the calls. */
  readonly #listeners = new Map<number, { readonly taskId: string; readonly listen: Listen }>()

  /** Keeps listening if the result of a call is a task. */
  follow(id: unknown, result: JsonObject, listen: Listen | undefined): void {
    const task = isModernTask(result) ? result : result['task']
    if (!listen || !isObject(task) || typeof task['taskId'] !== 'string') return
    const [oldest] = this.#listeners.keys()
    if (oldest !== undefined && this.#listeners.size >= MAX_TASK_LISTENERS) this.#listeners.delete(oldest)
    this.#listeners.set(Number(id), { taskId: task['taskId'], listen })
  }

  /** Passes a report on, marked with its task: the call may have been answered here, and not yet where the report goes. */
  hear(token: number, progress: JsonObject): void {
    const found = this.#listeners.get(token)
    if (!found) return
    const meta = isObject(progress['_meta']) ? progress['_meta'] : {}
    found.listen({ ...progress, _meta: { ...meta, [RELATED_TASK]: { taskId: found.taskId } } })
  }

  /** Reads whether a message says that a task is done. */
  read({ method, params, result }: JsonObject): void {
    if (this.#listeners.size === 0) return
    const done = readDone(method === 'notifications/tasks/status' ? params : result)
    if (done === undefined) return
    for (const [token, { taskId }] of this.#listeners) if (taskId === done) this.#listeners.delete(token)
  }
}

/** Whether a modern server returned a task instead of a result. */
export function isModernTask(result: unknown): boolean {
  return isObject(result) && result['resultType'] === 'task'
}

/** The id of the task that has ended, according to its state or its result. */
function readDone(message: unknown): unknown {
  if (!isObject(message)) return undefined
  if (DONE.has(message['status'])) return message['taskId']
  const meta = message['_meta']
  const related = isObject(meta) ? meta[RELATED_TASK] : undefined
  if (isObject(related)) return related['taskId']
  return undefined
}
