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
  /** Results with more tokens are folded: the model gets their shape, and reads parts of them. 0 folds none. Default 8,000. */
  readonly foldResults?: number
  /** What clients may do. The first rule that fits decides; if none does, it is allowed. */
  readonly rules?: readonly RuleDefinition[]
  /**
   * What happens when a server has other definitions of tools than those that were there when it was first seen. `flag` reports
   * new and changed tools, `hold` also keeps them from clients until `foldout approve`. Default `flag`.
   */
  readonly pin?: PinMode
  /** Who may use the gateway over HTTP, and from where. */
  readonly http?: HttpDefinition
  /**
   * The database that any number of gateways share, usually `${DATABASE_URL}`: tools, approvals, pinned definitions, quotas, sign-ins and
   * the audit log. Default: files of the user.
   */
  readonly store?: string | StoreDefinition
  /** How many calls clients may make. All that fit a call count it, and it runs if none is used up. */
  readonly quotas?: readonly QuotaDefinition[]
  /** A file that gets one line of JSON for each call, relative to the configuration file; `true` for a table of the `store`. */
  readonly audit?: boolean | string | AuditDefinition
}

/**
 * How many calls may be made in a time. It works like a bucket that holds so many tokens and fills up steadily: after a pause, all
 * of them can be used at once. What it names selects the calls that count, as in a {@link RuleDefinition}. Without a `store`, each
 * gateway counts for itself.
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
  /** Each of these has the whole number to itself. Without it, all calls that fit share it. Clients choose their names themselves. */
  readonly each?: QuotaSubject | readonly QuotaSubject[]
}

/**
 * What a quota may be counted for.
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
 * What is done about tools that are new or have changed since the user accepted them.
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
  /** The address to listen on. Other machines reach it only if there are tokens. Default `127.0.0.1`. */
  readonly host?: string
  /** The tokens that clients need, `Authorization: Bearer <token>`, usually `${NAME}`. Without any, this machine needs none. */
  readonly tokens?: readonly (string | TokenDefinition)[]
  /** The names, without port, under which clients may reach the gateway; `*` stands for any. Default: those of this machine, and the host. */
  readonly allowedHosts?: readonly string[]
  /** The host names of web pages that may use it. Default: those of this machine, the host, and `allowedHosts`. */
  readonly allowedOrigins?: readonly string[]
  /** Where clients reach the gateway, such as `https://tools.example`, if a proxy is in front of it. */
  readonly publicUrl?: string
}

/**
 * A token, and whose it is.
 *
 * @example
 * const token: TokenDefinition = { user: 'ada', token: '${ADA_TOKEN}' }
 */
export interface TokenDefinition {
  /** What rules and the audit log call those who have the token. */
  readonly user: string
  readonly token: string
}

/**
 * The audit log: who called which tool with which arguments, without secrets, and what became of it.
 *
 * @example
 * const audit: AuditDefinition = { file: 'audit.jsonl', maxBytes: 10_000_000, keep: 3 }
 */
export interface AuditDefinition {
  /** Without it, the log is in the `store`. */
  readonly file?: string
  /** A larger file is moved aside to `<file>.1`, and a new one begins. Default 64 MiB. */
  readonly maxBytes?: number
  /** How many files that were moved aside are kept. Default 5. */
  readonly keep?: number
  /** How many days the log in the `store` goes back. Default 90. */
  readonly keepDays?: number
}

/**
 * What may be done with tools. A rule fits if everything that it names fits, and a list fits if one of its entries does. `*` in a
 * pattern stands for any text.
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
  /** How clients call themselves, whatever the case. They may call themselves anything, so this is a convenience and not a boundary. */
  readonly client?: string | readonly string[]
  /** Whose token a client over HTTP has. See `http`. */
  readonly user?: string | readonly string[]
  /** Names of presets. Clients that chose none have the preset with the empty name, which only `*` fits. */
  readonly preset?: string | readonly string[]
  readonly server?: string | readonly string[]
  /** `server/tool`, by the name that the server gives the tool or by the one that clients see. */
  readonly tool?: string | readonly string[]
  /** What a server says of its tool. All that are listed must fit. A tool that says nothing counts as destructive and open to the world. */
  readonly annotation?: RuleAnnotation | readonly RuleAnnotation[]
  /** Why a call is refused, or what the user should know before approving it. */
  readonly reason?: string
}

/**
 * What a tool may be, as its server says.
 *
 * @example
 * const annotation: RuleAnnotation = 'destructive'
 */
export type RuleAnnotation = 'readOnly' | 'destructive' | 'openWorld'

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
  /** A file with more of them, one `NAME=value` a line. Those in `env` win. Other texts of the server may refer to them. */
  readonly envFile?: string
  /** Where the server is started, relative to the configuration file. */
  readonly cwd?: string
  /** The address of a server over HTTP. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string | number | boolean>>
  /** How to sign in to a server over HTTP. Without it, `foldout login` finds out from the server. */
  readonly auth?: ServerAuthDefinition
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
  /** How many processes run for single clients (`isolate`), or for single folders (`${ROOT}`). Default 64. */
  readonly maxProcesses?: number
  /** The same as for the gateway, for results of this server. */
  readonly foldResults?: number
  /** A result with more bytes of JSON becomes an error that says so. */
  readonly maxResultBytes?: number
  /**
   * Names of headers, such as `x-user-token`, that clients send over HTTP and that are passed on to a server with a `url`. Clients with
   * other values get connections of their own.
   */
  readonly forwardHeaders?: readonly string[]
  /** The same as `pin` of the gateway, for this server. */
  readonly pin?: PinMode
  /** What the server is for, in a few words that models read. */
  readonly description?: string
  /** Changes to its tools, by the name that the server gives them. */
  readonly tools?: Readonly<Record<string, ServerToolOverride>>
}

/**
 * How to sign in to a server over HTTP by OAuth 2.1. Texts may contain variables.
 *
 * @example
 * const auth: ServerAuthDefinition = { type: 'client-credentials', clientId: 'foldout', clientSecret: '${TICKETS_SECRET}' }
 */
export interface ServerAuthDefinition {
  /** `oauth` signs a person in with a browser; the others sign in a program without one. Default `oauth`. */
  readonly type?: 'oauth' | 'client-credentials' | 'private-key-jwt'
  /** The client as the authorization server knows it. Default for `oauth`: `clientMetadataUrl`, or a registration at the first login. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** The key that `private-key-jwt` signs with, in PEM (PKCS #8). */
  readonly privateKey?: string
  /** A file with that key, relative to the configuration file. */
  readonly privateKeyFile?: string
  /** What the key signs with. Default: `RS256` for RSA, `ES256`, `ES384` or `ES512` for elliptic curves. */
  readonly algorithm?: string
  /** What to ask for. Default: what the server says it needs. */
  readonly scopes?: string | readonly string[]
  /** The only authorization server that gets the client's secret, by its issuer. Default: the one that the server named first. */
  readonly issuer?: string
  /** The address of a client id metadata document, for authorization servers that accept one. */
  readonly clientMetadataUrl?: string
  /** The port of this machine that the browser comes back to, for clients that are registered with one. Default: any free one. */
  readonly redirectPort?: number
  /** Tells apart several sign-ins to the same address. */
  readonly account?: string
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
  /** How long a call of this tool may go without an answer or progress. */
  readonly timeoutSeconds?: number
  /** How many calls of this tool run at a time. */
  readonly maxConcurrent?: number
  /** A result of this tool with more bytes of JSON becomes an error that says so. */
  readonly maxResultBytes?: number
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
  /** Rules for the clients of this view. They come before those of the gateway. */
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
