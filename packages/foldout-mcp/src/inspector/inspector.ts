import * as v from 'valibot'
import { atLeast, atMost, boolean, int, list, object, oneOf, parse, record, upTo } from '../shared/shapes.ts'
import { readVersion } from '../shared/surroundings.ts'
import { listenForPages, type AnswerMcp, type Assets, type Download } from './http/server.ts'
import {
  STRATEGIES,
  type ActionName,
  type ActionRequest,
  type ActionResponse,
  type Nothing,
  type Topic,
  type ViewName,
} from './protocol/protocol.ts'

/** Pages need no more updates than people can follow. */
const GATHER_MS = 100

const LONGEST_PATH = 1_000
const paths = v.pipe(
  record(oneOf(['open', 'folded'])),
  v.check((given) => Object.keys(given).every((path) => path.length <= LONGEST_PATH), ' has a path that is too long'),
)
const text = upTo(10_000)
const count = v.pipe(int, atLeast(0))
const range = object({ id: text, from: count, count: v.pipe(count, atMost(500)) })
const nothing = object({}) as v.GenericSchema<unknown, Nothing>

/** The page's requests are validated like all external input. */
const REQUESTS: { readonly [Name in ActionName]: v.GenericSchema<unknown, ActionRequest<Name>> } = {
  'prompt/render': object({
    visibility: paths,
    strategy: v.optional(oneOf(STRATEGIES)),
  }),
  'runs/list': nothing,
  'runs/get': object({ id: text }),
  'runs/steps': range,
  'runs/messages': range,
  'runs/why': object({ id: text, request: count, tool: text }),
  'runs/fork': object({ id: text, request: count }),
  'runs/record': object({ lines: list(v.unknown()) }),
  'compare/get': nothing,
  'advice/get': nothing,
  'catalog/get': nothing,
  'catalog/tool': object({ name: text }),
  'catalog/search': object({ query: text, limit: v.pipe(int, atLeast(1), atMost(100)) }),
  'catalog/explain': object({ query: text, name: text }),
  'catalog/exposures': nothing,
  'approvals/list': nothing,
  'approvals/answer': object({ id: text, seen: text, isApproved: boolean }),
  'catalog/call': object({ name: text, arguments: record(v.unknown()) }),
}

export type Handlers = {
  readonly [Name in ActionName]?: (request: ActionRequest<Name>) => ActionResponse<Name> | Promise<ActionResponse<Name>>
}

/** One kind of thing that the page can show. */
export interface InspectorSource {
  readonly view: ViewName
  /** The topic to report changes under. Default: the view. */
  readonly topic?: Topic
  readonly handlers: Handlers
  /** Calls a listener when there is something new. Returns a function that stops it. */
  subscribe?(listener: () => void): () => void
  /** A file that is made when it is asked for. */
  download?(path: string, assets: Assets): Promise<Download | undefined>
}

export interface InspectorOptions {
  /** What is inspected, for the page's title. */
  readonly title: string
  /** Default: any free port. */
  readonly port?: number | undefined
  /** Answers requests of MCP clients below the token, at `mcp`. */
  readonly mcp?: AnswerMcp | undefined
}

export interface Inspector {
  /** Open it in a browser. It has the token in it. */
  readonly url: string
  close(): Promise<void>
}

/** Serves the inspector's page on loopback, with the views of the sources; the first one is shown first. */
export async function createInspector(
  sources: readonly InspectorSource[],
  { title, port, mcp }: InspectorOptions,
): Promise<Inspector> {
  const handlers: Handlers = Object.assign({}, ...sources.map((source) => source.handlers)) as Handlers
  const views = [...new Set(sources.map(({ view }) => view))]
  const topics = sources.map(({ view, topic = view }) => topic)
  const server = await listenForPages({
    port,
    mcp,
    getHello: () => ({ type: 'hello', version: readVersion(), title, views, topics }),
    act: (name, body) => act(handlers, name, body),
    async download(path, assets) {
      for (const source of sources) {
        const found = await source.download?.(path, assets)
        if (found) return found
      }
      return undefined
    },
  })
  const stops = sources.map(({ view, topic = view, subscribe }) =>
    subscribe?.(gather(() => server.tell({ type: 'changed', topic }))),
  )
  return {
    url: server.url,
    async close() {
      for (const stop of stops) stop?.()
      await server.close()
    },
  }
}

/** Reports a burst of changes as one, soon after the first. */
function gather(tell: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      tell()
    }, GATHER_MS)
    timer.unref()
  }
}

async function act(handlers: Handlers, name: string, body: unknown): Promise<unknown> {
  if (!Object.hasOwn(REQUESTS, name)) throw new Error(`There is no action '${name}'.`)
  const action = name as ActionName
  const handler = handlers[action] as ((request: unknown) => unknown) | undefined
  if (!handler) throw new Error(`The action '${name}' is not available here.`)
  return handler(parse(REQUESTS[action], body))
}
