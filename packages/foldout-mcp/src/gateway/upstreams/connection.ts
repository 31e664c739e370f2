import { ignore, untilAborted } from 'foldout/promises'
import { isDeepStrictEqual } from 'node:util'
import type { RawTool } from 'foldout/catalog'
import { connectToMcp, toolsFromMcp, type McpLoss, type McpSession, type McpTransport } from 'foldout/mcp'
import type { FilledHttpServer, FilledServer, FilledStdioServer } from '../config/fill-server.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { Secrets } from '../policy/secrets/secrets.ts'
import { Complaint } from './failures/complaint.ts'
import { describeFailure, hasNoSuchAddress, isHttpAnswer, toSlowError } from './failures/failures.ts'
import type { ChildTransport } from './process/child-transport.ts'
import { connectByHttp, type Authorizations } from './http/transport.ts'
import { Announcements, NO_LISTS, readLists, type Lists } from './lists.ts'

import { answerServer, type Answering } from './asking/questions.ts'
import type { ProcessGuard } from './process/process-guard.ts'
import { toDefinition, type Snapshot } from '../model/snapshot.ts'
import { openSubscriptions, type Subscriptions } from './subscriptions.ts'
import { Load } from './uses.ts'
import { hideInTransport } from './asking/hide-secrets.ts'

/** A connected server. */
export interface Connection {
  readonly session: McpSession
  /** The current tools, by the server's own names. */
  readonly tools: ReadonlyMap<string, RawTool>
  readonly snapshot: Snapshot
  /** What the server reports changes of. */
  readonly subscriptions: Subscriptions
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>
  /** What the server wrote to standard error: what it says about a failure, and its end. */
  getComplaint(): string
  /** How the server has ended, as far as that is known. */
  getEnding(): string | undefined
  /** The work that is done with it now. */
  readonly load: Load
  close(): Promise<void>
}

export interface ConnectionOptions extends Answering {
  /** How long it may take to start and to list its tools. */
  readonly timeoutMs: number
  /** How long a call may go without an answer or progress. */
  readonly callTimeoutMs: number
  readonly signal: AbortSignal
  /** The version of this program, reported to servers. */
  readonly version: string
  /** The protocol that the server is known to speak. */
  readonly era: Snapshot['era'] | undefined
  readonly guard: ProcessGuard
  readonly signIns: Authorizations
  readonly secrets: Pick<Secrets, 'hide' | 'hideIn'>
  /** Called with the connection whenever its tools have changed. */
  readonly onChange: (connection: Connection) => void
  /** Called when the server over HTTP is gone, or has forgotten the connection. It may be called more than once. */
  readonly onLost: (connection: Connection, loss: McpLoss) => void
  readonly onError: (error: unknown) => void
  /** Called with the server's notifications, except for changed lists. */
  readonly onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void
}

/** Connects to a server and lists its tools. Nothing is left running if it fails. */
export async function openConnection(server: FilledServer, options: ConnectionOptions): Promise<Connection> {
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  const attempt = createAttempt(server, { ...options, signal })
  try {
    return await untilAborted(signal, () => attempt.open())
  } catch (error) {
    // Read before this side closes the connection.
    const ending = attempt.getEnding()
    await attempt.close()
    options.signal.throwIfAborted()
    const failure = timeout.aborted ? toSlowError(options.timeoutMs, attempt.hasGarbage()) : error
    throw describeFailure(failure, { ending, complaint: attempt.getComplaint() })
  }
}

interface Attempt {
  open(): Promise<Connection>
  getComplaint(): string
  getEnding(): string | undefined
  hasGarbage(): boolean
  close(): Promise<void>
}

function createAttempt(server: FilledServer, options: ConnectionOptions): Attempt {
  const { version, timeoutMs, signal, era } = options
  const ended = new AbortController()
  let transport: McpTransport | undefined
  let child: ChildTransport | undefined
  const complaint = new Complaint(options.secrets.hide)
  let isClosed = false
  let opened: Connection | undefined
  const close = async (): Promise<void> => {
    isClosed = true
    ended.abort()
    if (transport) await ignore(transport.close(), 'it is closed already')
  }
  const getComplaint = (): string => complaint.toText()
  const getEnding = (): string | undefined => child?.getEnding()
  const hasGarbage = (): boolean => child?.hasGarbage() === true

  async function connectAs(era: 'auto' | 'legacy', target = server): Promise<McpSession> {
    const { guard, signIns, secrets } = options
    const isOpen = (): boolean => opened !== undefined && !isClosed
    const onLost = (loss: McpLoss): void => opened && options.onLost(opened, loss)
    const onStderr = (text: string): void => complaint.hear(text)
    if (target.kind === 'stdio') child = await createChild(target, { guard, onStderr })
    const raw = target.kind === 'stdio' ? child : connectByHttp(target, { signIns, isOpen, onLost })
    if (isClosed || !raw) throw new Error('It was closed before it could connect.')
    transport = hideInTransport(raw, secrets)
    return connectToMcp(transport, {
      name: 'foldout',
      version,
      capabilities: CAPABILITIES,
      era,
      timeoutMs,
      signal,
      async onRequest(method, params, asking = ended.signal) {
        // Questions of a modern server are answered by the client behind the call, or not at all.
        if (opened?.snapshot.era === 'modern') throw new Error('The call has no client that can be asked.')
        return answerServer(options, method, params, asking)
      },
    })
  }
  async function connect(): Promise<McpSession> {
    if (server.kind !== 'stdio') return connectToEither(server, (target) => connectAs('auto', target))
    if (era === 'modern') return connectAs('auto')
    try {
      // Nearly all servers over stdio support the older handshake, and trying the newer one first would start them twice.
      return await connectAs('legacy')
    } catch (error) {
      if (!isRefusal(error)) throw error
      return connectAs('auto')
    }
  }
  async function open(): Promise<Connection> {
    const session = await connect()
    const closed = (async () => {
      await session.closed
      ended.abort()
    })()
    const parts = { ...options, closed, getComplaint, getEnding, close, ended: ended.signal }
    opened = await listAll(session, server.name, parts)
    return opened
  }
  return { open, getComplaint, getEnding, hasGarbage, close }
}

/** Many configurations have the address of a server of the older transport, and do not say so. */
async function connectToEither(
  server: FilledHttpServer,
  connect: (target: FilledHttpServer) => Promise<McpSession>,
): Promise<McpSession> {
  try {
    return await connect(server)
  } catch (error) {
    if (server.kind === 'sse' || !hasNoSuchAddress(error)) throw error
    return await connect({ ...server, kind: 'sse' }).catch((second: unknown) => {
      // The server does not have the older transport, and its first answer says more.
      if (isHttpAnswer(second)) throw error
      throw second
    })
  }
}

interface ListedParts
  extends
    Pick<ConnectionOptions, 'callTimeoutMs' | 'onChange' | 'onError' | 'onNotification'>,
    Pick<Connection, 'closed' | 'getComplaint' | 'getEnding' | 'close'> {
  /** Aborted when the connection has ended. */
  readonly ended: AbortSignal
}

/** Lists everything that a connected server has, and follows its changes. */
async function listAll(session: McpSession, server: string, parts: ListedParts): Promise<Connection> {
  const { closed, getComplaint, getEnding, close, ended, onError } = parts
  let tools: ReadonlyMap<string, RawTool> = new Map()
  /** Also those that cannot be called, because the catalog reports what is wrong with them. */
  let listed: readonly RawTool[] = []
  const take = (now: readonly RawTool[]): void => {
    listed = now
    tools = toMap(now)
  }
  let lists = NO_LISTS
  /** The announcements of lists that have not been read since. */
  const announced = new Set<string>()
  const announcements = new Announcements(
    (method) => parts.onNotification(method, {}),
    () => ended.aborted,
  )
  const refreshLists = createRefresh(async () => {
    const methods = [...announced]
    announced.clear()
    const before = lists
    lists = await readLists(session, ended, onError)
    parts.onChange(connection)
    // If the list has changed, each view tells its clients, unless they see the same.
    for (const method of methods) if (isSameList(method, before, lists)) announcements.add(method)
  })
  session.onNotification((method, params) => {
    if (LIST_CHANGES.has(method)) {
      announced.add(method)
      refreshLists()
    }
    // The handlers below list the tools again. Clients are notified if the list they see has changed.
    else if (method !== TOOLS_CHANGED) parts.onNotification(method, params)
  })
  // Before the lists are read, so that no change is missed.
  const subscriptions = await openSubscriptions(session, { signal: ended, onError, onGap: refreshLists })
  const connection: Connection = {
    session,
    subscriptions,
    closed,
    getComplaint,
    getEnding,
    close,
    load: new Load(),
    get tools() {
      return tools
    },
    get snapshot() {
      return takeSnapshot(session, listed, lists)
    },
  }
  const [first, others] = await Promise.all([
    toolsFromMcp(session, {
      server,
      timeoutMs: parts.callTimeoutMs,
      // Large results are folded, and errors are no exception.
      maxErrorCharacters: Number.MAX_SAFE_INTEGER,
      signal: ended,
      onError,
      onChange(now) {
        take(now)
        parts.onChange(connection)
      },
    }),
    readLists(session, ended, onError),
  ])
  take(first)
  lists = others
  return connection
}

/** The capabilities that every client is assumed to have. A client without one refuses when it is asked. */
const CAPABILITIES = {
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  // Some servers offer UI pages for their tools only if the client says that it can show them.
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
}

const TOOLS_CHANGED = 'notifications/tools/list_changed'

/** What the announcements of changed lists are about. */
const LIST_CHANGES = new Map<string, (lists: Lists) => unknown>([
  ['notifications/resources/list_changed', ({ resources, templates }) => [resources, templates]],
  ['notifications/prompts/list_changed', ({ prompts }) => prompts],
])

/** What is behind the names of a list may have changed all the same. */
function isSameList(method: string, before: Lists, after: Lists): boolean {
  const select = LIST_CHANGES.get(method)
  return select !== undefined && isDeepStrictEqual(select(before), select(after))
}

/** If a server lists two tools of one name, the first one counts, as in the catalog, which reports the other. */
function toMap(tools: readonly RawTool[]): ReadonlyMap<string, RawTool> {
  return new Map(tools.toReversed().map((tool) => [tool.name, tool]))
}

/** Merges simultaneous requests for the same work: it runs once now, and once more afterwards. */
function createRefresh(work: () => Promise<void>): () => void {
  let isRunning = false
  let isWanted = false
  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (isWanted) {
      isWanted = false
      // The error has been reported already.
      await ignore(work(), 'the error has been reported already')
    }
    isRunning = false
  }
  return () => {
    isWanted = true
    void run()
  }
}

function takeSnapshot({ server, era }: McpSession, tools: readonly RawTool[], lists: Lists): Snapshot {
  const [name, version, title] = ['name', 'version', 'title'].map((field) => {
    const value = server.info[field]
    if (typeof value === 'string') return value
    return undefined
  })
  return {
    server: dropUndefined({ name, version, title }),
    capabilities: { ...server.capabilities },
    instructions: server.instructions,
    era,
    tools: tools.map(toDefinition),
    ...lists,
  }
}

/** Whether the server answered and refused: it may support only the newer protocol. An aborted signal has a number, too. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ProtocolError' && 'code' in error && typeof error.code === 'number'
}

/** Loaded with the first server, because a gateway that answers from its cache needs none. */
async function createChild(
  server: FilledStdioServer,
  options: ConstructorParameters<typeof ChildTransport>[1],
): Promise<ChildTransport> {
  const { ChildTransport } = await import('./process/child-transport.ts')
  return new ChildTransport(server, options)
}
