import type { CallClient } from 'foldout/catalog'
import type { FeatureContext } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { GatewayServer } from '../../servers/server.ts'
import { TASKS_PER_PAGE } from '../../upstreams/asking/limits.ts'
import type { GatewayRegister } from '../../store/contract/gateway-store.ts'
import { readMark, type KnownTask } from '../../upstreams/asking/tasks.ts'
import { forward } from './forward.ts'

/** The extension of modern servers and clients. */
const TASKS = 'io.modelcontextprotocol/tasks'
/** The capabilities of legacy servers for tasks of tools. */
const LEGACY = { list: {}, cancel: {}, requests: { tools: { call: {} } } }

/** The task capabilities a client gets: those of the servers of its era. */
export function getTaskCapabilities(
  servers: readonly GatewayServer[],
  era: 'legacy' | 'modern',
): Readonly<Record<string, object>> {
  const able = servers.filter(({ snapshot }) => snapshot?.era === era)
  if (era === 'legacy') {
    if (able.some(({ snapshot }) => 'tasks' in (snapshot?.capabilities ?? {}))) return { tasks: LEGACY }
    return {}
  }
  const hasTasks = able.some(({ snapshot }) => {
    const extensions = snapshot?.capabilities['extensions']
    return isObject(extensions) && TASKS in extensions
  })
  if (hasTasks) return { extensions: { [TASKS]: {} } }
  return {}
}

export const TASK_METHODS: readonly string[] = [
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
]

/** Folds a large result of a task. */
export type FoldTask = (result: JsonObject, server: GatewayServer, client: CallClient) => Promise<JsonObject>

interface Found {
  readonly server: GatewayServer
  readonly task: KnownTask
}

/** Answers a client's request about its tasks; undefined if there is no such task. */
export async function answerTask(
  servers: readonly GatewayServer[],
  method: string,
  params: JsonObject,
  context: FeatureContext,
  fold: FoldTask,
): Promise<JsonObject | undefined> {
  const ask = async ({ server, task }: Found, asked: string, fields: JsonObject): Promise<JsonObject> =>
    server.tasks.translate(task, await forward(server, asked, { ...fields, taskId: task.own }, context, task.place))
  if (method === 'tasks/list') return listTasks(servers, params, context, (found) => ask(found, 'tasks/get', {}))
  const found = findTask(servers, String(params['taskId']), context)
  if (!found) return undefined
  const answer = await ask(found, method, params)
  if (method === 'tasks/result') return fold(answer, found.server, context.client)
  // Modern servers return the result together with the state.
  const { result } = answer
  if (isObject(result)) return { ...answer, result: await fold(result, found.server, context.client) }
  return answer
}

function findTask(servers: readonly GatewayServer[], id: string, { client }: FeatureContext): Found | undefined {
  for (const server of servers) {
    const task = server.tasks.find(id, client)
    if (task) return { server, task }
  }
  return undefined
}

/** The current tasks of a client. A server's list covers all its clients, so each task is requested separately. */
async function listTasks(
  servers: readonly GatewayServer[],
  { cursor }: JsonObject,
  { client }: FeatureContext,
  refresh: (found: Found) => Promise<JsonObject>,
): Promise<JsonObject | undefined> {
  const all = servers.flatMap((server) => server.tasks.list(client).map((task) => ({ server, task })))
  const last = cursor === undefined ? -1 : all.findIndex(({ task }) => task.id === cursor)
  if (cursor !== undefined && last === -1) return undefined
  const page = all.slice(last + 1, last + 1 + TASKS_PER_PAGE)
  const states = await Promise.all(
    page.map((found) => ignore(refresh(found), 'a server that is down has no state to tell')),
  )
  const tasks = page.flatMap(({ task }, i) => (states[i] ? [task.state] : []))
  const end = page.at(-1)
  const isMore = last + 1 + page.length < all.length
  return { tasks, ...(isMore && end && { nextCursor: end.task.id }) }
}

/** Says why there is no such task here. A task lives in a process that one gateway has started, so others cannot answer for it. */
export async function explainMissing(id: string, gateways: GatewayRegister): Promise<string> {
  const missing = `There is no task '${id.slice(0, 80)}'.`
  const mark = readMark(id)
  if (mark === undefined || mark === gateways.mark) return missing
  const known = await gateways.list().catch(() => [])
  // A gateway that serves over HTTP and standard input has a row for each.
  const rows = known.filter(({ name, state }) => name.startsWith(mark) && state !== 'gone')
  const found = rows.find(({ url }) => url !== undefined) ?? rows[0]
  if (!found) return `${missing} The gateway that began it has gone, and the task with it.`
  const { host, pid, url } = found
  return `The task '${id}' runs at another gateway, which alone can answer for it: process ${pid} on ${host}${url === undefined ? '' : `, ${url}`}. Send requests of clients that use tasks to one gateway.`
}
