import type { Skill } from 'foldout/skills'

/**
 * The configuration of a gateway, in `foldout.config.ts`, in `foldout.config.json`, or in the `mcpServers` file of a client,
 * which is also valid.
 *
 * @example
 * const definition: GatewayDefinition = { mcpServers: { files: { command: 'npx', args: ['-y', 'server-files', '.'] } } }
 */
export interface GatewayDefinition {
  /** The servers, by name. */
  readonly mcpServers?: Readonly<Record<string, ServerDefinition>>
  /** How clients see the tools. Default `auto`. */
  readonly expose?: ExposureName
  /** Named views of the servers, each with its own URL. */
  readonly presets?: Readonly<Record<string, PresetDefinition>>
  /** Instructions for models, placed before the explanation of how to find tools. */
  readonly instructions?: string
  /** Results with more tokens are folded: the model gets their shape, and reads parts of them. 0 folds none. Default 8,000. */
  readonly foldResults?: number
  /** What clients may do. The first matching rule decides; without one, a call is allowed. */
  readonly rules?: readonly RuleDefinition[]
  /**
   * What happens when a server's tool definitions differ from those it had when it was first seen. `flag` reports
   * new and changed tools, `hold` also hides them from clients until `foldout approve`. Default `flag`.
   */
  readonly pin?: PinMode
  /** Who may use the gateway over HTTP, and from where. */
  readonly http?: HttpDefinition
  /**
   * The database that any number of gateways share, usually `${DATABASE_URL}`: tools, approvals, pinned definitions, quotas, sign-ins and
   * the audit log. Default: the user's files.
   */
  readonly store?: string | StoreDefinition
  /** How many calls clients may make. Every matching quota counts a call, which runs only if none is used up. */
  readonly quotas?: readonly QuotaDefinition[]
  /**
   * Skills that the gateway itself serves, in addition to those of its servers: folders with `SKILL.md` files, relative to
   * the configuration file. In TypeScript also skills, such as those that `skillsFromSections` makes. They are read at the
   * start and with each new configuration.
   */
  readonly skills?: readonly (string | Skill)[]
  /** A file that gets one line of JSON per call, relative to the configuration file; `true` for a table in the `store`. */
  readonly audit?: boolean | string | AuditDefinition
}

/**
 * How many calls may be made in a period. It works like a bucket of tokens that refills steadily: after a pause, all
 * of them can be used at once. Its other fields select the calls that count, as in a {@link RuleDefinition}. Without a `store`, each
 * gateway counts separately.
 *
 * @example
 * const quotas: readonly QuotaDefinition[] = [
 *   { calls: 100, per: 'hour', each: 'user' },
 *   { calls: 5, per: 'minute', each: ['user', 'tool'], server: 'mail' },
 * ]
 */
export interface QuotaDefinition extends Omit<RuleDefinition, 'action' | 'reason'> {
  readonly calls: number
  readonly per: 'second' | 'minute' | 'hour' | 'day'
  /** Each of these gets the full number. Without it, all matching calls share the number. Clients choose their own names. */
  readonly each?: QuotaSubject | readonly QuotaSubject[]
}

/**
 * What a quota can be counted by.
 *
 * @example
 * const each: readonly QuotaSubject[] = ['user', 'tool']
 */
export type QuotaSubject = 'user' | 'client' | 'preset' | 'server' | 'tool'

/**
 * The database that gateways share. Texts may contain variables.
 *
 * @example
 * const store: StoreDefinition = { url: '${DATABASE_URL}', schema: 'tools', keyFile: '/run/secrets/foldout-key' }
 */
export interface StoreDefinition {
  /** `postgres://user:password@host:5432/database`. */
  readonly url: string
  /** The schema of the tables, which is created if it does not exist. Default `foldout`. */
  readonly schema?: string
  /** The key that sign-ins are encrypted with: 32 bytes in base64 or hexadecimal. Default: the variable FOLDOUT_STORE_KEY. */
  readonly key?: string
  /** A file with that key. Default: the variable FOLDOUT_STORE_KEY_FILE. */
  readonly keyFile?: string
}

/**
 * What to do about tools that are new or have changed since the user accepted them.
 *
 * @example
 * const pin: PinMode = 'hold'
 */
export type PinMode = 'off' | 'flag' | 'hold'

/**
 * How the gateway is reached over HTTP.
 *
 * @example
 * const http: HttpDefinition = { host: '0.0.0.0', tokens: [{ user: 'ada', token: '${ADA_TOKEN}' }], allowedHosts: ['tools.example'] }
 */
export interface HttpDefinition {
  /** The address to listen on. An address that other machines can reach requires tokens. Default `127.0.0.1`. */
  readonly host?: string
  /** The tokens that clients send as `Authorization: Bearer <token>`, usually `${NAME}`. Without any, local clients need none. */
  readonly tokens?: readonly (string | TokenDefinition)[]
  /** The host names, without port, that clients may use; `*` allows any. Default: this machine's names and the host. */
  readonly allowedHosts?: readonly string[]
  /** The host names of web pages that may use it. Default: this machine's names, the host, and `allowedHosts`. */
  readonly allowedOrigins?: readonly string[]
  /** The URL that clients use, such as `https://tools.example`, if the gateway is behind a proxy. */
  readonly publicUrl?: string
}

/**
 * A token and its user.
 *
 * @example
 * const token: TokenDefinition = { user: 'ada', token: '${ADA_TOKEN}' }
 */
export interface TokenDefinition {
  /** The name of the token's user in rules and the audit log. */
  readonly user: string
  readonly token: string
}

/**
 * The audit log: who called which tool with which arguments, without secrets, and how the call ended.
 *
 * @example
 * const audit: AuditDefinition = { file: 'audit.jsonl', maxBytes: 10_000_000, keep: 3 }
 */
export interface AuditDefinition {
  /** Without it, the log is in the `store`. */
  readonly file?: string
  /** A larger file is renamed to `<file>.1`, and a new one begins. Default 64 MiB. */
  readonly maxBytes?: number
  /** How many renamed files are kept. Default 5. */
  readonly keep?: number
  /** How many days of the log the `store` keeps. Default 90. */
  readonly keepDays?: number
}

/**
 * Allows, denies or asks about calls. A rule matches if all of its fields match, and a list matches if one of its entries does. `*` in a
 * pattern matches any text.
 *
 * @example
 * const rules: readonly RuleDefinition[] = [
 *   { action: 'allow', annotation: 'readOnly' },
 *   { action: 'deny', tool: '*\/delete_*', reason: 'Nothing is deleted from here.' },
 *   { action: 'ask', server: ['mail', 'calendar'] },
 * ]
 */
export interface RuleDefinition {
  /** `deny` hides a tool: it is not listed, found or called. `ask` makes the user approve each call. */
  readonly action: 'allow' | 'deny' | 'ask'
  /** The names that clients give, ignoring case. Clients can give any name, so this is a convenience, not a security boundary. */
  readonly client?: string | readonly string[]
  /** The user whose token an HTTP client sends. See `http`. */
  readonly user?: string | readonly string[]
  /** Names of presets. Clients without a preset have the empty name, which only `*` matches. */
  readonly preset?: string | readonly string[]
  readonly server?: string | readonly string[]
  /** `server/tool`, with either the server's name for the tool or the name that clients see. */
  readonly tool?: string | readonly string[]
  /** The server's annotations of the tool, all of which must match. A tool without annotations counts as destructive and open-world. */
  readonly annotation?: RuleAnnotation | readonly RuleAnnotation[]
  /** Why a call is refused, or what the user should know before approving it. */
  readonly reason?: string
}

/**
 * An annotation that a server gives a tool.
 *
 * @example
 * const annotation: RuleAnnotation = 'destructive'
 */
export type RuleAnnotation = 'readOnly' | 'destructive' | 'openWorld'

/**
 * How clients see a catalog.
 *
 * @example
 * const expose: ExposureName = 'hybrid'
 */
export type ExposureName = 'auto' | 'all' | 'hybrid' | 'meta-tool' | 'two-phase' | 'code'

/**
 * One server. Texts may contain `${NAME}`, `${NAME:-default}` and `${ROOT}`, the client's working folder. Fields that
 * only other clients understand are ignored.
 *
 * @example
 * const server: ServerDefinition = { command: 'uvx', args: ['mcp-server-git', '--repository', '${ROOT}'], required: true }
 */
export interface ServerDefinition {
  /** The command of a server that runs as a child process, over standard input and output. */
  readonly command?: string
  readonly args?: readonly (string | number | boolean)[]
  /** Variables in addition to the few that every server gets, such as PATH. */
  readonly env?: Readonly<Record<string, string | number | boolean>>
  /**
   * A file with more variables, one `NAME=value` per line. Those in `env` win. Other texts of the server may refer to
   * them.
   */
  readonly envFile?: string
  /** The server's working directory, relative to the configuration file. */
  readonly cwd?: string
  /** The URL of an HTTP server. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string | number | boolean>>
  /** How to sign in to an HTTP server. Without it, `foldout login` asks the server. */
  readonly auth?: ServerAuthDefinition
  /** Only `sse` has an effect: it selects the transport before streamable HTTP. */
  readonly type?: string
  readonly disabled?: boolean
  /** Whether the gateway refuses to start if this server cannot be reached. */
  readonly required?: boolean
  /** `lazy` starts the server when it is first needed, `eager` with the gateway. Default `lazy`. */
  readonly start?: 'lazy' | 'eager'
  /** Whether each client gets its own process or connection. A legacy server that asks its clients gets them anyway. */
  readonly isolate?: boolean
  /** How long a server may go without a call before it is stopped; 0 never stops it. Default 600 seconds. */
  readonly idleSeconds?: number
  /** How long a call may go without an answer or progress. Default 600 seconds. */
  readonly timeoutSeconds?: number
  /** How many calls run at a time. Default 16. */
  readonly maxConcurrent?: number
  /** The most processes that run for single clients or folders (`${ROOT}`). Default 64. */
  readonly maxProcesses?: number
  /** Overrides the gateway's `foldResults` for this server. */
  readonly foldResults?: number
  /** A result with more bytes of JSON becomes an error. */
  readonly maxResultBytes?: number
  /**
   * Names of headers, such as `x-user-token`, that clients send over HTTP and that are passed on to a server with a `url`. Clients with
   * other values get connections of their own.
   */
  readonly forwardHeaders?: readonly string[]
  /** Overrides the gateway's `pin` for this server. */
  readonly pin?: PinMode
  /** A few words for models about what the server is for. */
  readonly description?: string
  /** Changes to its tools, by the server's own tool names. */
  readonly tools?: Readonly<Record<string, ServerToolOverride>>
}

/**
 * How to sign in to an HTTP server with OAuth 2.1. Texts may contain variables.
 *
 * @example
 * const auth: ServerAuthDefinition = { type: 'client-credentials', clientId: 'foldout', clientSecret: '${TICKETS_SECRET}' }
 */
export interface ServerAuthDefinition {
  /** `oauth` signs a person in with a browser; the others sign in a program without one. Default `oauth`. */
  readonly type?: 'oauth' | 'client-credentials' | 'private-key-jwt'
  /** The OAuth client id. Default for `oauth`: `clientMetadataUrl`, or a client registered at the first login. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** The key that `private-key-jwt` signs with, in PEM (PKCS #8). */
  readonly privateKey?: string
  /** A file with that key, relative to the configuration file. */
  readonly privateKeyFile?: string
  /** The signature algorithm. Default: `RS256` for RSA, `ES256`, `ES384` or `ES512` for elliptic curves. */
  readonly algorithm?: string
  /** The scopes to request. Default: the scopes the server says it needs. */
  readonly scopes?: string | readonly string[]
  /** The issuer of the only authorization server that gets the client's secret. Default: the one the server named first. */
  readonly issuer?: string
  /** The URL of a client id metadata document, for authorization servers that accept one. */
  readonly clientMetadataUrl?: string
  /** The local port for the browser's redirect, for clients registered with a fixed one. Default: any free port. */
  readonly redirectPort?: number
  /** Distinguishes several sign-ins to the same URL. */
  readonly account?: string
}

/**
 * Changes to a tool before clients see it.
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
  /** Whether this is a core tool, which exposures always list. */
  readonly core?: boolean
  readonly parameters?: Readonly<Record<string, ParameterOverride>>
  /** How long a call of this tool may go without an answer or progress. */
  readonly timeoutSeconds?: number
  /** How many calls of this tool run at a time. */
  readonly maxConcurrent?: number
  /** A result of this tool with more bytes of JSON becomes an error. */
  readonly maxResultBytes?: number
}

/**
 * Changes to a parameter. A fixed one is always sent and never shown; one with a default may be left out.
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
 * A view of the gateway: some of its servers and tools, with its own exposure. `*` in a pattern matches any text.
 *
 * @example
 * const preset: PresetDefinition = { servers: ['github', 'mail'], exclude: ['github/delete_*'], expose: 'hybrid' }
 */
export interface PresetDefinition {
  /** Names of servers, or patterns. Default: all of them. */
  readonly servers?: readonly string[]
  /** Patterns for `server/tool`. Default: all tools. */
  readonly include?: readonly string[]
  /** Patterns for `server/tool` to leave out, even if `include` matches them. */
  readonly exclude?: readonly string[]
  readonly expose?: ExposureName
  readonly instructions?: string
  /** Rules for the clients of this view. They come before the gateway's rules. */
  readonly rules?: readonly RuleDefinition[]
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
