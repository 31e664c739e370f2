import { isDeepStrictEqual } from 'node:util'
import type { Client, Transport } from '@modelcontextprotocol/client'
import type { RawTool } from 'foldout/catalog'
import { toolsFromMcp } from 'foldout/mcp'
import type { SignIns } from '../auth/sign-in.ts'
import type { FilledHttpServer, FilledServer } from '../config/fill-server.ts'
import { dropUndefined } from '../fields.ts'
import { hideEnd } from '../policy/secrets/cut.ts'
import { CUT_MARGIN } from '../policy/limits.ts'
import type { Secrets } from '../policy/secrets/secrets.ts'
import { describeFailure, hasNoSuchAddress, toSlowError } from './failures/failures.ts'
import type { ChildTransport } from './process/child-transport.ts'
import { createHttpTransport, endSession, type HttpOptions, type Loss } from './http/transport.ts'
import { KEPT_STDERR_CHARACTERS, KEPT_STDERR_LINES } from './limits.ts'
import { Announcements, NO_LISTS, readLists, type Lists } from './lists.ts'
import { Abandoned } from './asking/abandoned.ts'
import { answerServer, type Answering } from './asking/questions.ts'
import type { ProcessGuard } from './process/process-guard.ts'
import { toDefinition, type Snapshot } from './snapshot.ts'
import { openSubscriptions, type Subscriptions } from './subscriptions.ts'
import { Load } from './uses.ts'
import { watchTransport } from './asking/watch-transport.ts'

/** A connected server. */
export interface Connection {
  readonly client: Client
  /** The current tools, by the server's own names. */
  readonly tools: ReadonlyMap<string, RawTool>
  readonly snapshot: Snapshot
  /** What the server reports changes of. */
  readonly subscriptions: Subscriptions
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>
  /** The end of what the server wrote to standard error. */
  getComplaint(): string
  /** How the server has ended, as far as that is known. */
  getEnding(): string | undefined
  /** The work that is done with it now. */
  readonly load: Load
  /** The calls that were cancelled and not answered. */
  readonly abandoned: Abandoned
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
  readonly signIns: SignIns
  readonly secrets: Pick<Secrets, 'hide' | 'hideIn'>
  /** Called with the connection whenever its tools have changed. */
  readonly onChange: (connection: Connection) => void
  /** Called when the server over HTTP is gone, or has forgotten the connection. It may be called more than once. */
  readonly onLost: (connection: Connection, loss: Loss) => void
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
    return await untilAborted(attempt.open(), signal)
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
  const abandoned = new Abandoned()
  let transport: Transport | undefined
  let complaint = ''
  let isClosed = false
  let opened: Connection | undefined
  const hear = (text: string): void => {
    complaint = `${complaint}${text}`.slice(-KEPT_STDERR_CHARACTERS - CUT_MARGIN)
  }
  const close = async (): Promise<void> => {
    isClosed = true
    ended.abort()
    if (transport) await endSession(transport)
    await transport?.close().catch(() => undefined)
  }
  // Redact before cutting, because half a secret would not be recognized.
  const getComplaint = (): string =>
    hideEnd(complaint, KEPT_STDERR_CHARACTERS, options.secrets.hide)
      .trim()
      .split('\n')
      .slice(-KEPT_STDERR_LINES)
      .join('\n')
  const getEnding = (): string | undefined => (isChild(transport) ? transport.getEnding() : undefined)
  const hasGarbage = (): boolean => isChild(transport) && transport.hasGarbage()

  async function connectAs(mode: 'auto' | 'legacy', target = server): Promise<Client> {
    const { Client } = await import('@modelcontextprotocol/client')
    const { guard, signIns, secrets } = options
    const isOpen = (): boolean => opened !== undefined && !isClosed
    const onLost = (loss: Loss): void => opened && options.onLost(opened, loss)
    const raw = await createTransport(target, { guard, signIns, isOpen, onLost }, hear)
    const created = watchTransport(raw, { secrets, abandoned })
    if (isClosed) throw new Error('It was closed before it could connect.')
    transport = created
    const client = new Client(
      { name: 'foldout', version },
      { versionNegotiation: { mode }, capabilities: CAPABILITIES, inputRequired: { autoFulfill: false } },
    )
    client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) =>
      answerServer(options, method, params ?? {}, mcpReq.signal)
    await client.connect(created, { timeout: timeoutMs, signal })
    return client
  }
  async function connect(): Promise<Client> {
    if (server.kind !== 'stdio')
      return connectByHttp(server, async (target) => {
        await transport?.close()
        return connectAs('auto', target)
      })
    if (era === 'modern') return connectAs('auto')
    try {
      // Nearly all servers over stdio support the older handshake, and trying the newer one first would start them twice.
      return await connectAs('legacy')
    } catch (error) {
      if (!(await isRefusal(error))) throw error
      await transport?.close()
      return connectAs('auto')
    }
  }
  async function open(): Promise<Connection> {
    const client = await connect()
    const forget = options.callers.watch(abandoned)
    const closed = new Promise<void>((resolve) => {
      Object.assign(client, {
        onclose() {
          forget()
          ended.abort()
          resolve()
        },
      } satisfies Partial<Client>)
    })
    const parts = { ...options, closed, getComplaint, getEnding, close, abandoned, ended: ended.signal }
    opened = await listAll(client, server.name, parts)
    return opened
  }
  return { open, getComplaint, getEnding, hasGarbage, close }
}

/** Many configurations have the address of a server of the older transport, and do not say so. */
async function connectByHttp(
  server: FilledHttpServer,
  connect: (target: FilledHttpServer) => Promise<Client>,
): Promise<Client> {
  try {
    return await connect(server)
  } catch (error) {
    if (server.kind === 'sse' || !hasNoSuchAddress(error)) throw error
    const { SseError } = await import('@modelcontextprotocol/client')
    return await connect({ ...server, kind: 'sse' }).catch((second: unknown) => {
      throw second instanceof SseError ? error : second
    })
  }
}

interface ListedParts
  extends
    Pick<ConnectionOptions, 'callTimeoutMs' | 'onChange' | 'onError' | 'onNotification'>,
    Pick<Connection, 'closed' | 'getComplaint' | 'getEnding' | 'close' | 'abandoned'> {
  /** Aborted when the connection has ended. */
  readonly ended: AbortSignal
}

/** Lists everything that a connected server has, and follows its changes. */
async function listAll(client: Client, server: string, parts: ListedParts): Promise<Connection> {
  const { closed, getComplaint, getEnding, close, abandoned, ended, onError } = parts
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
    lists = await readLists(client, ended, onError)
    parts.onChange(connection)
    // If the list has changed, each view tells its clients, unless they see the same.
    for (const method of methods) if (isSameList(method, before, lists)) announcements.add(method)
  })
  client.fallbackNotificationHandler = async ({ method, params = {} }) => {
    if (LIST_CHANGES.has(method)) {
      announced.add(method)
      refreshLists()
    }
    // The handlers below list the tools again. Clients are notified if the list they see has changed.
    else if (method !== TOOLS_CHANGED) parts.onNotification(method, params)
  }
  // Before the lists are read, so that no change is missed.
  const subscriptions = await openSubscriptions(client, { signal: ended, onError, onGap: refreshLists })
  const connection: Connection = {
    client,
    subscriptions,
    closed,
    getComplaint,
    getEnding,
    close,
    load: new Load(),
    abandoned,
    get tools() {
      return tools
    },
    get snapshot() {
      return takeSnapshot(client, listed, lists)
    },
  }
  const [first, others] = await Promise.all([
    toolsFromMcp(client, {
      server,
      timeoutMs: parts.callTimeoutMs,
      // Large results are folded, and errors are no exception.
      maxErrorCharacters: Infinity,
      signal: ended,
      onError,
      onChange(now) {
        take(now)
        parts.onChange(connection)
      },
    }),
    readLists(client, ended, onError),
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
      await work().catch(() => undefined)
    }
    isRunning = false
  }
  return () => {
    isWanted = true
    void run()
  }
}

function takeSnapshot(client: Client, tools: readonly RawTool[], lists: Lists): Snapshot {
  const { name, version, title } = client.getServerVersion() ?? {}
  return {
    server: dropUndefined({ name, version, title }),
    capabilities: { ...client.getServerCapabilities() },
    instructions: client.getInstructions(),
    era: client.getProtocolEra?.() === 'modern' ? 'modern' : 'legacy',
    tools: tools.map(toDefinition),
    ...lists,
  }
}

/** Whether the server answered and refused: it may support only the newer protocol. */
async function isRefusal(error: unknown): Promise<boolean> {
  const { ProtocolError, UnsupportedProtocolVersionError } = await import('@modelcontextprotocol/client')
  return error instanceof ProtocolError || error instanceof UnsupportedProtocolVersionError
}

function isChild(transport: Transport | undefined): transport is ChildTransport {
  return transport !== undefined && 'getEnding' in transport
}

async function createTransport(
  server: FilledServer,
  { guard, ...http }: Pick<ConnectionOptions, 'guard'> & HttpOptions,
  onStderr: (text: string) => void,
): Promise<Transport> {
  if (server.kind !== 'stdio') return createHttpTransport(server, http)
  // Loaded with the first server, because it is half of what a gateway that answers from its cache would load.
  const { getDefaultEnvironment } = await import('@modelcontextprotocol/client/stdio')
  const { ChildTransport } = await import('./process/child-transport.ts')
  return new ChildTransport(server, { guard, onStderr, inherited: getDefaultEnvironment() })
}

/** Stops waiting on abort, because some code waits without observing a signal. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
    // It may still reject after the wait is over.
    work.catch(() => {})
  }
}
