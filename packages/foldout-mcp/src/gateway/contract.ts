import type { Catalog, Encoder, ListedTool } from 'foldout/catalog'
import type { HttpOptions, McpConnection, ServedHttp, StdioOptions } from 'foldout/mcp'
import type { TrustSkill } from 'foldout/skills'
import type { CallStage } from './calls/call/call.ts'
import type { GatewayConfig } from './config/config.ts'
import type { ExposureName, GatewayDefinition } from './config/definition.ts'
import type { GatewayEvent } from './model/events.ts'
import type { Traffic } from './traffic/traffic.ts'
import type { UpstreamState } from './model/server-state.ts'

/**
 * Options of `createGateway`.
 *
 * @example
 * const options: GatewayOptions = { cache: '/var/cache/foldout', onEvent: (event) => console.error(event.type) }
 */
export interface GatewayOptions {
  /** Where the servers' tools are kept between starts. Default: the user's cache folder. */
  readonly cache?: string
  /** Where the user's approvals are kept. Default: the user's data folder. */
  readonly data?: string
  /** The database that gateways share, `postgres://…`. Overrides the configuration. */
  readonly store?: string
  /** How clients see the tools. Overrides the configuration. */
  readonly expose?: ExposureName
  /** How long a server may take to start and to list its tools. Default 30 seconds. */
  readonly timeoutMs?: number
  /** Variables that the configuration may refer to. Default: the process's environment. */
  readonly env?: NodeJS.ProcessEnv
  /** The folder that `${ROOT}` stands for. Default: the process's working directory. */
  readonly root?: string
  /** Whether to ask every server for its tools at the start, ignoring the cache. Default false. */
  readonly isFresh?: boolean
  /** Finds tools by meaning as well as by words. Tools are embedded in the background. Close it after the gateway. */
  readonly embed?: Encoder
  /**
   * Stages of your own, in this order, for every call of a server's tool. They see a call before rules and users decide about it,
   * so what they change is what is decided on.
   */
  readonly stages?: readonly CallStage[]
  /**
   * Whether a skill of a folder in `skills` may be served, asked with the digest of all its files. Default: all may, because
   * who writes the configuration decides.
   */
  readonly trustSkill?: TrustSkill
  readonly onEvent?: (event: GatewayEvent) => void
  /** Called with what clients do. It must not throw, and must remove secrets before it stores anything. */
  readonly onTraffic?: (traffic: Traffic) => void
}

/**
 * What is known about one server.
 *
 * @example
 * const broken = gateway.servers.filter(({ state }) => state.type === 'failed')
 */
export interface ServerStatus {
  readonly name: string
  readonly state: UpstreamState
  /** How many tools it has, or had when it last ran; undefined if not known yet. */
  readonly tools: number | undefined
}

/**
 * A call that waits for the user's approval, because a rule requires it and the client could not ask.
 *
 * @example
 * const [waiting]: readonly WaitingCall[] = await gateway.approvals.list()
 */
export interface WaitingCall {
  readonly id: string
  /** The client's name, as it gave it; undefined for calls that no client sent. */
  readonly client?: string | undefined
  /** The user whose token the client sent. */
  readonly user?: string | undefined
  readonly preset: string
  /** `server/tool`. */
  readonly tool: string
  /** As JSON, without secrets, with invisible characters spelled out, and cut if long. */
  readonly arguments: string
  /** The reason given in the rule. */
  readonly reason?: string | undefined
  readonly askedAt: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * The calls that wait for the user, in this gateway and in others that share its data folder.
 *
 * @example
 * for (const { id, tool } of await gateway.approvals.list()) if (tool === 'notes/delete_note') await gateway.approvals.deny(id)
 */
export interface WaitingCalls {
  /** Oldest first. */
  list(): Promise<readonly WaitingCall[]>
  /** Lets exactly this call run once, when its client sends it again within ten minutes. Throws if it no longer waits. */
  approve(id: string): Promise<WaitingCall>
  /** Refuses exactly this call for ten minutes. Throws if it no longer waits. */
  deny(id: string): Promise<WaitingCall>
}

/**
 * Selects the view of the gateway that a client gets.
 *
 * @example
 * const choice: ViewChoice = { preset: 'work' }
 */
export interface ViewChoice {
  /** The name of a preset. Default: everything. */
  readonly preset?: string
}

/**
 * All servers of a configuration behind one MCP server.
 *
 * @example
 * const gateway: Gateway = await createGateway({ mcpServers: { files: { command: 'server-files' } } })
 * const { url } = await gateway.http({ port: 8080 })
 */
export interface Gateway {
  readonly servers: readonly ServerStatus[]
  /** The tools that the gateway itself adds to every list, such as `read_result`. */
  readonly ownTools: readonly ListedTool[]
  /** What the gateway adds to the instructions of every exposure: the names of its servers, and what these say. */
  readonly ownInstructions: string
  /** The calls that wait for the user's approval. */
  readonly approvals: WaitingCalls
  /** The tools of all servers, or of a preset. */
  getCatalog(choice?: ViewChoice): Promise<Catalog>
  /** Serves the client that started this process. */
  stdio(options?: StdioOptions & ViewChoice): Promise<McpConnection>
  /** Listens for clients over streamable HTTP, at `/mcp` and `/mcp/<preset>`. */
  http(options?: Omit<HttpOptions, 'path'>): Promise<ServedHttp>
  /** Resolves when each server has failed or its tools are known, from the cache or from the server itself; or after a timeout. */
  ready(withinMs?: number): Promise<void>
  /** Removes the configuration's secrets from a text, for logs. */
  hideSecrets(text: string): string
  /** Applies a new configuration while the gateway runs. If that fails, nothing changes. */
  update(definition: GatewayDefinition | GatewayConfig): Promise<void>
  /** Stops everything that was started. */
  close(): Promise<void>
}
