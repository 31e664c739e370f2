import type { Catalog, Encoder } from 'foldout/catalog'
import type { HttpOptions, McpConnection, ServedHttp, StdioOptions } from 'foldout/mcp'
import type { GatewayConfig } from './config/config.ts'
import type { ExposureName, GatewayDefinition } from './config/definition.ts'
import type { GatewayEvent } from './events.ts'
import type { Traffic } from './traffic/traffic.ts'
import type { UpstreamState } from './upstreams/upstream.ts'

/**
 * Options of `createGateway`.
 *
 * @example
 * const options: GatewayOptions = { cache: '/var/cache/foldout', onEvent: (event) => console.error(event.type) }
 */
export interface GatewayOptions {
  /** Where the tools of servers are kept between starts. Default: the user's folder for caches. */
  readonly cache?: string
  /** Where approvals of the user are kept. Default: the user's folder for data. */
  readonly data?: string
  /** The database that gateways share, in place of what the configuration says: `postgres://…`. */
  readonly store?: string
  /** How clients see the tools, in place of what the configuration says. */
  readonly expose?: ExposureName
  /** How long a server may take to start and to list its tools. Default 30 seconds. */
  readonly timeoutMs?: number
  /** Variables that the configuration may refer to. Default: those of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** The folder that `${ROOT}` stands for. Default: that of the process. */
  readonly root?: string
  /** Whether every server is asked for its tools at once, whatever is cached. Default false. */
  readonly isFresh?: boolean
  /** Finds tools by meaning, beside the words. They are embedded in the background. Close it after the gateway. */
  readonly embed?: Encoder
  readonly onEvent?: (event: GatewayEvent) => void
  /** Called with what clients do. It must not throw, and must hide what is secret before it keeps anything. */
  readonly onTraffic?: (traffic: Traffic) => void
}

/**
 * What is known of one server.
 *
 * @example
 * const broken = gateway.servers.filter(({ state }) => state.type === 'failed')
 */
export interface ServerStatus {
  readonly name: string
  readonly state: UpstreamState
  /** How many tools it has, or had when it last ran; undefined if that is not known yet. */
  readonly tools: number | undefined
}

/**
 * A call that waits for the user's approval, because a rule asks for it and its client could not ask.
 *
 * @example
 * const [waiting]: readonly WaitingCall[] = await gateway.approvals.list()
 */
export interface WaitingCall {
  readonly id: string
  /** The name of the client, as the client says; undefined for calls that no client sent. */
  readonly client?: string | undefined
  /** Whose token the client has. */
  readonly user?: string | undefined
  readonly preset: string
  /** `server/tool`. */
  readonly tool: string
  /** As JSON, without secrets and with invisible characters written out. Long ones are cut. */
  readonly arguments: string
  /** What the rule says about it. */
  readonly reason?: string | undefined
  readonly askedAt: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * The calls that wait for the user: those of this gateway, and of others that share its folder for data.
 *
 * @example
 * for (const { id, tool } of await gateway.approvals.list()) if (tool === 'notes/delete_note') await gateway.approvals.deny(id)
 */
export interface WaitingCalls {
  /** The oldest first. */
  list(): Promise<readonly WaitingCall[]>
  /** Lets exactly this call run once, when its client sends it again within ten minutes. Throws if it does not wait any longer. */
  approve(id: string): Promise<WaitingCall>
  /** Refuses exactly this call for ten minutes. Throws if it does not wait any longer. */
  deny(id: string): Promise<WaitingCall>
}

/**
 * Which view of the gateway a client gets.
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
  /** The calls that wait for the user's approval. */
  readonly approvals: WaitingCalls
  /** The tools of all servers, or of those in a preset. */
  getCatalog(choice?: ViewChoice): Promise<Catalog>
  /** Serves the client that started this process. */
  stdio(options?: StdioOptions & ViewChoice): Promise<McpConnection>
  /** Listens for clients over streamable HTTP, at `/mcp` and `/mcp/<preset>`. */
  http(options?: Omit<HttpOptions, 'path'>): Promise<ServedHttp>
  /** Resolves when every server's tools are known, from the cache or from the server itself, or it has failed; or after a time. */
  ready(withinMs?: number): Promise<void>
  /** A text without the secrets of the configuration, for logs. */
  hideSecrets(text: string): string
  /** Applies another configuration while the gateway runs. If it cannot be applied, nothing changes. */
  update(definition: GatewayDefinition | GatewayConfig): Promise<void>
  /** Ends everything that was started. */
  close(): Promise<void>
}
