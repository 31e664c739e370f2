import { randomUUID } from 'node:crypto'
import type { CallClient } from 'foldout/catalog'
import { isObject, type JsonObject } from 'foldout-shared/values'
import { MAX_TASKS, TASK_MS } from './limits.ts'

/** A task of a server, as one client knows it. */
export interface KnownTask {
  /** The id that the client sees. It is unguessable. */
  readonly id: string
  /** The id that the server gave it. */
  readonly own: string
  /** The process or connection that works on it. */
  readonly place: object
  /** The task's owner: a principal or a connection. */
  readonly owner: string
  /** The connection that started it. */
  readonly client: string | undefined
  readonly startedAt: number
  /** As the server last described it, with the client's id. */
  state: JsonObject
}

/** A server's question as the client gets it. */
export interface TranslatedQuestion {
  readonly params: JsonObject
  /** The owner of the task that it belongs to, if it belongs to one. */
  readonly owner?: string
}

/** The key that holds the task's id in messages that belong to it. */
const RELATED = 'io.modelcontextprotocol/related-task'
const DONE: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/** The tasks of a server. Several clients share it, and each knows its own tasks only. */
export class Tasks {
  readonly #tasks = new Map<string, KnownTask>()
  readonly #mark: string | undefined
  /** By the process or connection, and the id that it gave. Two processes of a server may give the same. */
  readonly #byOwn = new WeakMap<object, Map<string, KnownTask>>()

  /** @param mark Tells this gateway from those that clients may ask for the same task. */
  constructor(mark?: string) {
    this.#mark = mark
  }

  /** Whether the server still works on one. */
  get isRunning(): boolean {
    const oldest = Date.now() - TASK_MS
    return [...this.#tasks.values()].some(({ state, startedAt }) => !DONE.has(state['status']) && startedAt > oldest)
  }

  /** Replaces the id in a result that may start a task with the one for the client. */
  begin<Result extends JsonObject>(result: Result, client: CallClient | undefined, place: object): Result {
    const isModern = result['resultType'] === 'task'
    const task = isModern ? result : result['task']
    if (!isObject(task) || typeof task['taskId'] !== 'string') return result
    const { id } = this.#add(task['taskId'], task, client, place)
    if (isModern) return { ...result, taskId: id }
    return { ...result, task: { ...task, taskId: id } }
  }

  find(id: string, client: CallClient): KnownTask | undefined {
    const task = this.#tasks.get(id)
    if (task?.owner === toOwner(client)) return task
    return undefined
  }

  list(client: CallClient): readonly KnownTask[] {
    const owner = toOwner(client)
    return [...this.#tasks.values()].filter((task) => task.owner === owner)
  }

  /** Replaces the id in the server's description of a task with the client's. */
  translate(task: KnownTask, message: JsonObject): JsonObject {
    const { taskId, _meta: meta, status } = message
    const translated = { ...message, ...(taskId === task.own && { taskId: task.id }) }
    if (typeof status === 'string') task.state = { ...task.state, ...translated }
    if (!isObject(meta) || !isObject(meta[RELATED])) return translated
    return { ...translated, _meta: { ...meta, [RELATED]: { ...meta[RELATED], taskId: task.id } } }
  }

  /** Finds the task that a process's message is about, by the process's id for it. */
  findOwn(id: unknown, place: object): KnownTask | undefined {
    return this.#byOwn.get(place)?.get(String(id))
  }

  /** Replaces the task id in a process's question with the client's, if it belongs to a task. */
  translateQuestion(params: JsonObject, place: object): TranslatedQuestion {
    const meta = isObject(params['_meta']) ? params['_meta'] : {}
    const related = meta[RELATED]
    const task = isObject(related) ? this.findOwn(related['taskId'], place) : undefined
    if (task) return { params: this.translate(task, params), owner: task.owner }
    return { params }
  }

  #add(own: string, state: JsonObject, client: CallClient | undefined, place: object): KnownTask {
    const [oldest] = this.#tasks.values()
    if (oldest && this.#tasks.size >= MAX_TASKS) this.#tasks.delete(oldest.id)
    const id = this.#mark === undefined ? randomUUID() : `${randomUUID()}-${this.#mark}`
    const task = {
      id,
      own,
      place,
      owner: toOwner(client),
      client: client?.id,
      startedAt: Date.now(),
      state: { ...state, taskId: id },
    }
    this.#tasks.set(id, task)
    const known = this.#byOwn.get(place) ?? new Map<string, KnownTask>()
    this.#byOwn.set(place, known)
    const [first] = known.keys()
    if (first !== undefined && known.size >= MAX_TASKS) known.delete(first)
    known.set(own, task)
    return task
  }
}

/** A principal keeps its tasks when it reconnects. */
export function toOwner(client: CallClient | undefined): string {
  if (client?.principal === undefined) return `client ${client?.id}`
  return `principal ${client.principal}`
}

/** The mark of the gateway that gave a task its id. */
export function readMark(id: string): string | undefined {
  return /^[0-9a-f-]{36}-([0-9a-f]{8})$/.exec(id)?.[1]
}
