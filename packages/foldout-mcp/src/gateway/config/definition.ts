/**
 * A gateway as it is written down: in `foldout.config.ts`, in `foldout.config.json`, or in the `mcpServers` file of a client,
 * which is a definition too.
 *
 * @example
 * const definition: GatewayDefinition = { mcpServers: { files: { command: 'npx', args: ['-y', 'server-files', '.'] } } }
 */
export interface GatewayDefinition {
  /** The servers, by name. */
  readonly mcpServers?: Readonly<Record<string, ServerDefinition>>
  /** How clients see the tools. Default `auto`. */
  readonly expose?: ExposureName
  /** Named views of the servers, each with an address of its own. */
  readonly presets?: Readonly<Record<string, PresetDefinition>>
  /** What models should know about the gateway, before the explanation of how to find tools. */
  readonly instructions?: string
}

/**
 * How a catalog is put in front of clients.
 *
 * @example
 * const expose: ExposureName = 'hybrid'
 */
export type ExposureName = 'auto' | 'all' | 'hybrid' | 'meta-tool' | 'two-phase' | 'code'

/**
 * One server. Texts may contain `${NAME}`, `${NAME:-default}` and `${ROOT}`, the folder that the client works in. Fields that
 * other clients know and the gateway does not are ignored.
 *
 * @example
 * const server: ServerDefinition = { command: 'uvx', args: ['mcp-server-git', '--repository', '${ROOT}'], required: true }
 */
export interface ServerDefinition {
  /** Starts a server that is talked to over standard input and output. */
  readonly command?: string
  readonly args?: readonly (string | number | boolean)[]
  /** Variables in addition to the few that every server gets, such as PATH. */
  readonly env?: Readonly<Record<string, string | number | boolean>>
  /** A file with more of them, one `NAME=value` a line. Those in `env` win. */
  readonly envFile?: string
  /** Where the server is started, relative to the configuration file. */
  readonly cwd?: string
  /** The address of a server over HTTP. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string | number | boolean>>
  /** Only `sse` makes a difference: the transport that came before streamable HTTP. */
  readonly type?: string
  readonly disabled?: boolean
  /** Whether the gateway refuses to start if this server cannot be reached. */
  readonly required?: boolean
  /** `lazy` starts the server when it is first needed, `eager` with the gateway. Default `lazy`. */
  readonly start?: 'lazy' | 'eager'
  /** Whether each client gets a process or connection of its own, for servers that keep something for their client. */
  readonly isolate?: boolean
  /** How long a server may go without a call before it is stopped; 0 never stops it. Default 600 seconds. */
  readonly idleSeconds?: number
  /** How long a call may go without an answer or progress. Default 600 seconds. */
  readonly timeoutSeconds?: number
  /** How many calls run at a time. Default 16. */
  readonly maxConcurrent?: number
  /** What the server is for, in a few words that models read. */
  readonly description?: string
  /** Changes to its tools, by the name that the server gives them. */
  readonly tools?: Readonly<Record<string, ServerToolOverride>>
}

/**
 * What is changed about a tool before clients see it.
 *
 * @example
 * const override: ServerToolOverride = { name: 'create_issue', parameters: { owner: { fixed: 'acme' } }, core: true }
 */
export interface ServerToolOverride {
  readonly name?: string
  readonly description?: string
  /** Leaves the tool out: it is not listed, found or called. */
  readonly hide?: boolean
  readonly category?: string
  readonly tags?: readonly string[]
  /** Whether exposures that hide most tools list this one from the start. */
  readonly core?: boolean
  readonly parameters?: Readonly<Record<string, ParameterOverride>>
}

/**
 * What is changed about a parameter: a fixed one is always sent and never shown, one with a default may be left out.
 *
 * @example
 * const parameter: ParameterOverride = { default: 20, description: 'How many results to return' }
 */
export interface ParameterOverride {
  readonly fixed?: unknown
  readonly default?: unknown
  readonly description?: string
}

/**
 * A view of the gateway: some of its servers and tools, with an exposure of its own. `*` in a pattern stands for any text.
 *
 * @example
 * const preset: PresetDefinition = { servers: ['github', 'mail'], exclude: ['github/delete_*'], expose: 'hybrid' }
 */
export interface PresetDefinition {
  /** Names of servers, or patterns. Default: all of them. */
  readonly servers?: readonly string[]
  /** Patterns over `server/tool`. Default: all tools. */
  readonly include?: readonly string[]
  /** Patterns over `server/tool` that are left out, even if `include` has them. */
  readonly exclude?: readonly string[]
  readonly expose?: ExposureName
  readonly instructions?: string
}

/**
 * Gives a configuration in TypeScript its type.
 *
 * @example
 * export default defineGateway({ mcpServers: { files: { command: 'npx', args: ['-y', 'server-files', '.'] } } })
 */
export function defineGateway(definition: GatewayDefinition): GatewayDefinition {
  return definition
}
